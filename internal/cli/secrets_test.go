package cli

import "testing"

// What stands in for a secret must not stand in for an ordinary word: the
// answer would be another one, and be judged as such.
func TestSecretsAreTakenOutAndWordsAreNot(t *testing.T) {
	w := &World{Environ: []string{
		"DOCS_TOKEN=tok-3f9d2c77e1", "DB_PASSWORD=correcthorsebatterystaple", "SECRET_BACKEND=postgres", "API_KEY_MODE=production",
		"KEY_SHORT=a1b2c3", "OTHER_TOKEN=tok-3f9d2c77e1-and-more", "EDITOR=tok-of-nobody-1",
	}}
	hide := w.redactor()
	for text, want := range map[string]string{
		"with tok-3f9d2c77e1.":            "with [DOCS_TOKEN].",
		"tok-3f9d2c77e1-and-more":         "[OTHER_TOKEN]",
		"correcthorsebatterystaple":       "[DB_PASSWORD]",
		"use postgres in production":      "use postgres in production",
		"a1b2c3 and tok-of-nobody-1 stay": "a1b2c3 and tok-of-nobody-1 stay",
	} {
		if got := hide(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
