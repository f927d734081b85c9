// Package progress shows the progress of a campaign on a terminal.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/schollz/progressbar/v3"

	"github.com/isr-sim/isr-sim/internal/cli/terminal"
)

// Of returns functions that show a campaign's progress and remove it again, if w is a terminal: how many of the counted
// things, such as schedules, are done, how many per second, and the time left. If a campaign ends after a time, its bar
// shows that time. A Told gets the numbers instead. Otherwise, if w is no terminal or an agent reads it, show is nil.
func Of(w io.Writer, scenario, counts string, lasts time.Duration) (show func(done, of int), remove func()) {
	if told, is := terminal.Raw(w).(Told); is {
		return func(done, of int) { told.Progress(scenario+": "+counts, done, of) }, func() {}
	}
	if !watched(w) {
		return nil, func() {}
	}
	return newBar(terminal.Raw(w), scenario, counts, lasts)
}

// Told is a writer whose reader is a program. It gets the progress of a task in numbers: done, and the total of, which
// is 0 if it is not known.
type Told interface {
	Progress(what string, done, of int)
}

// watched reports whether a person sees w. An agent would read every frame of a bar.
func watched(w io.Writer) bool { return terminal.Is(w) && !terminal.Agent() }

func newBar(w io.Writer, scenario, counts string, lasts time.Duration) (show func(done, of int), remove func()) {
	var bar *progressbar.ProgressBar
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(scenario), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetWidth(20),
		progressbar.OptionUseANSICodes(os.Getenv("NO_COLOR") == ""),
	}
	clock := clockwork.NewRealClock()
	start := clock.Now()
	show = func(done, of int) {
		switch {
		case bar == nil && lasts > 0:
			bar = progressbar.NewOptions64(lasts.Milliseconds(),
				append(options, progressbar.OptionSetPredictTime(true))...)
		case bar == nil:
			bar = progressbar.NewOptions(of, append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(),
				progressbar.OptionSetItsString(counts), progressbar.OptionSetPredictTime(true))...)
		case of > 500 && done%16 != 0 && done < of: // reading the clock costs a good part of a short run
			return
		}
		if lasts > 0 {
			elapsed := clock.Now().Sub(start)
			bar.Describe(fmt.Sprintf("%s: %d %s, %.0f a second", scenario, done, counts,
				float64(done)/max(elapsed.Seconds(), 0.001)))
			_ = bar.Set64(min(elapsed, lasts).Milliseconds()) // a terminal that is gone is no reason to stop
			return
		}
		_ = bar.Set(done)
	}
	return show, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}

// Wait shows, if w is a terminal, how long a task of unknown length has taken so far. remove removes the line. It may
// be called several times.
func Wait(w io.Writer, what string) (remove func()) {
	return Search(w, func() string { return what })
}

// Search is Wait for a task whose text changes as it goes on. Another goroutine calls what.
func Search(w io.Writer, what func() string) (remove func()) {
	if told, is := terminal.Raw(w).(Told); is {
		return wait(&lines{to: told}, what, clockwork.NewRealClock())
	}
	if !watched(w) {
		return func() {}
	}
	return wait(terminal.Raw(w), what, clockwork.NewRealClock())
}

// lines passes each line that people would see to a program.
type lines struct {
	to   Told
	said int
}

// Write implements io.Writer.
func (l *lines) Write(line []byte) (int, error) {
	if text := strings.TrimSpace(string(line)); text != "" {
		l.said++
		l.to.Progress(text, l.said, 0)
	}
	return len(line), nil
}

// patience is the time before the first line: by then most tasks are done.
const patience = time.Second

func wait(w io.Writer, what func() string, clock clockwork.Clock) (remove func()) {
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
				line := fmt.Sprintf("%s: %v", what(), clock.Now().Sub(start).Round(time.Second))
				said = max(said, len(line))
				_, _ = fmt.Fprintf(w, "\r%-*s", said, line) // a terminal that is gone is no reason to stop
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
