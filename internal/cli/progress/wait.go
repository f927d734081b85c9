package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/term"
)

// Wait says, if w is a terminal, how long something has taken that does not know how long it will take. What it says is
// removed by the function that it returns, which may be called again.
func Wait(w io.Writer, what string) (remove func()) {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	return wait(w, what, clockwork.NewRealClock())
}

// patience is for how long nothing is said: most of what a user asks for is done by then.
const patience = time.Second

func wait(w io.Writer, what string, clock clockwork.Clock) (remove func()) {
	start := clock.Now()
	ticker := clock.NewTicker(patience)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer ticker.Stop()
		said := 0
		for {
			select {
			case <-ticker.Chan():
				line := fmt.Sprintf("%s: %v", what, clock.Now().Sub(start).Round(time.Second))
				said = max(said, len(line))
				_, _ = fmt.Fprintf(w, "\r%s", line) // a terminal that is gone is no reason to stop
			case <-done:
				if said > 0 {
					_, _ = fmt.Fprintf(w, "\r%s\r", strings.Repeat(" ", said))
				}
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
	})
}
