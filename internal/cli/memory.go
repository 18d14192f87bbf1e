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
	// takes not much more memory than one of few.
	memoryLimit = 48 << 20
	// room is the least there must be for garbage above what is in use, and
	// overhead what the runtime itself takes.
	room     = 16 << 20
	overhead = 8 << 20
)

// tuneMemory sets how the heap is swept. A limit close to what is really in use
// would have the program do nothing but sweep, so it rises with that.
func tuneMemory() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	afterSweep(memoryLimit)
}

// afterSweep looks at what is in use each time the heap has been swept, by way
// of a value that nothing refers to.
func afterSweep(limit int64) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		used := int64(live[0].Value.Uint64())
		if need := used + max(room, used/4) + overhead; need > limit {
			limit = need
			debug.SetMemoryLimit(limit)
		}
		afterSweep(limit)
	})
}
