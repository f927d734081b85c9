package property

// beside runs work outside of a bubble of testing/synctest. In the bubble, code under test waits until all goroutines
// of the bubble wait (see inStore), so no goroutine of a search may compute there meanwhile.
type beside struct {
	works, calls chan func()
	over         chan struct{}
}

// newBeside must be called outside of the bubble.
func newBeside() *beside {
	b := &beside{works: make(chan func()), calls: make(chan func()), over: make(chan struct{})}
	go func() {
		for work := range b.works {
			work()
			b.over <- struct{}{}
		}
	}()
	return b
}

func (b *beside) end() { close(b.works) }

// run is kernel.Setup.Beside.
func (b *beside) run(work func(in func(call func()))) {
	b.works <- func() { work(b.in) }
	for {
		select {
		case call := <-b.calls:
			call()
		case <-b.over:
			return
		}
	}
}

// in calls call in the goroutine that waits in run.
func (b *beside) in(call func()) {
	done := make(chan struct{})
	b.calls <- func() {
		defer close(done)
		call()
	}
	<-done
}
