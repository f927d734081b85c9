package bench

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processTime returns the processor time that all threads of a process have used, to the nanosecond. /proc/<pid>/stat
// gives it in hundredths of a second.
func processTime(pid int) (time.Duration, error) {
	// The id of another process's clock: see clock_getcpuclockid(3), and CPUCLOCK_SCHED in Linux.
	const sched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// stopwatch measures the processor time of some processes during a benchmark.
type stopwatch struct {
	b     *testing.B
	pids  []int
	began time.Duration
	total time.Duration
}

func startStopwatch(b *testing.B, pids ...int) *stopwatch {
	w := &stopwatch{b: b, pids: pids}
	w.began = w.now()
	return w
}

func (w *stopwatch) now() (total time.Duration) {
	for _, pid := range w.pids {
		t, err := processTime(pid)
		if err != nil {
			w.b.Fatal(err)
		}
		total += t
	}
	return total
}

// pause stops both clocks.
func (w *stopwatch) pause() {
	w.b.StopTimer()
	w.total += w.now() - w.began
}

// resume restarts both clocks.
func (w *stopwatch) resume() {
	w.began = w.now()
	w.b.StartTimer()
}

// stop returns the measured time.
func (w *stopwatch) stop() time.Duration { return w.total + w.now() - w.began }
