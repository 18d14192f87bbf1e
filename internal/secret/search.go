package secret

// window is how many bytes of a value are looked up at once.
const window = 4

// search finds out in one pass whether a text holds any of many values: every
// run of [window] bytes is looked up in a table of how values begin.
type search struct {
	begins [1 << 10]uint64 // a bit for each hash of 16 bits
	values []string
	short  []string // too short for the table
}

func newSearch(values []string) *search {
	s := new(search)
	for _, v := range values {
		if len(v) < window {
			s.short = append(s.short, v)
			continue
		}
		s.values = append(s.values, v)
		h := hash(v[0], v[1], v[2], v[3])
		s.begins[h>>6] |= 1 << (h & 63)
	}
	return s
}

func hash(a, b, c, d byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24) * 0x9e3779b1 >> 16
}

// finds tells whether a text holds a value.
func finds[T string | []byte](s *search, text T) bool {
	if s == nil {
		return false
	}
	for i := 0; i+window <= len(text); i++ {
		h := hash(text[i], text[i+1], text[i+2], text[i+3])
		if s.begins[h>>6]&(1<<(h&63)) != 0 && begins(text[i:], s.values) {
			return true
		}
	}
	if len(s.short) > 0 {
		for i := range len(text) {
			if begins(text[i:], s.short) {
				return true
			}
		}
	}
	return false
}

func begins[T string | []byte](text T, values []string) bool {
	for _, v := range values {
		if len(v) <= len(text) && string(text[:len(v)]) == v {
			return true
		}
	}
	return false
}
