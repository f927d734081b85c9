package schedules

import (
	"context"
	"sync"
	"sync/atomic"
)

// InOrder calls do for each number from 0 to n-1, on several goroutines. On the caller's goroutine it calls take with
// each result, one at a time and in the order of the numbers, so the number of goroutines changes nothing for take.
//
// It ends early when take returns false, and drops the results after that one. It also ends when ctx is done: what a
// goroutine has begun by then is still done and taken, so that no finding is lost. It returns once all goroutines have
// ended, with the number of results taken. The parameter most bounds how many numbers a goroutine is given at a time.
func InOrder[T any](ctx context.Context, workers, most, n int, do func(i int) T, take func(i int, v T) bool) int {
	if workers <= 1 {
		for i := range n {
			if ctx.Err() != nil {
				return i
			}
			if !take(i, do(i)) {
				return i + 1
			}
		}
		return n
	}
	// Numbers are handed out in batches, because one hand-over takes as long as a good part of a short run.
	type batch struct {
		from, to int
		results  []T
		ready    chan struct{}
	}
	var over atomic.Bool
	stop := make(chan struct{})
	work := make(chan *batch)
	queue := make(chan *batch, 2*workers) // bounds the lead of the fastest worker over the slowest
	var running sync.WaitGroup
	running.Go(func() {
		defer close(work)
		defer close(queue)
		for from := 0; from < n && ctx.Err() == nil; {
			b := &batch{from: from, to: min(from+min(batchSize(from), most), n), ready: make(chan struct{})}
			select {
			case queue <- b:
			case <-stop:
				return
			case <-ctx.Done():
				return
			}
			select {
			case work <- b:
				from = b.to
			case <-ctx.Done(): // all goroutines are busy
				close(b.ready)
				return
			}
		}
	})
	for range workers {
		running.Go(func() {
			for b := range work {
				for i := b.from; i < b.to && !over.Load(); i++ {
					b.results = append(b.results, do(i))
				}
				close(b.ready)
			}
		})
	}
	defer running.Wait()
	taken := 0
	for b := range queue {
		<-b.ready
		for _, v := range b.results {
			taken++
			if !take(taken-1, v) {
				over.Store(true)
				close(stop)
				return taken
			}
		}
	}
	return taken
}

// batchSize is small at first, where most campaigns that find something end.
func batchSize(from int) int { return 1 + from/64 }
