package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcPercent lets the heap grow to three times what is in use before it is
	// swept: a run makes much short-lived garbage and holds little.
	gcPercent = 200
	// memoryLimit is where sweeping gets eager, so that a run of many cases
	// takes no more memory than one of few.
	memoryLimit = 48 << 20
	// room is what there must be above what is in use.
	room = 16 << 20
)

// tuneMemory sets how the heap is swept. A limit below what is really in use
// would have the program do nothing but sweep, so it rises with that.
func tuneMemory() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	afterSweep(memoryLimit)
}

// afterSweep looks at what is in use each time the heap has been swept, by way
// of a value that nobody holds.
func afterSweep(limit int64) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if used := int64(live[0].Value.Uint64()); used > limit-room {
			limit = used + max(room, used/2)
			debug.SetMemoryLimit(limit)
		}
		afterSweep(limit)
	})
}
