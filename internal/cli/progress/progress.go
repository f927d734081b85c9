// Package progress shows the progress of a campaign on a terminal.
package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Of returns functions that show a campaign's progress and remove it again, if w is a terminal: how many are done of
// what it counts, such as schedules, how many a second, and the time left. A campaign that ends after a time has a bar of
// that time. If w is no terminal, show is nil.
func Of(w io.Writer, scenario, counts string, lasts time.Duration) (show func(done, of int), remove func()) {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}
	}
	return newBar(w, scenario, counts, lasts)
}

func newBar(w io.Writer, scenario, counts string, lasts time.Duration) (show func(done, of int), remove func()) {
	var bar *progressbar.ProgressBar
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(scenario), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetWidth(20), progressbar.OptionUseANSICodes(os.Getenv("NO_COLOR") == ""),
	}
	clock := clockwork.NewRealClock()
	start := clock.Now()
	show = func(done, of int) {
		switch {
		case bar == nil && lasts > 0:
			bar = progressbar.NewOptions64(lasts.Milliseconds(), append(options, progressbar.OptionSetPredictTime(true))...)
		case bar == nil:
			bar = progressbar.NewOptions(of, append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(),
				progressbar.OptionSetItsString(counts), progressbar.OptionSetPredictTime(true))...)
		case done%16 != 0 && done < of: // a look at the clock costs a good part of a short run
			return
		}
		if lasts > 0 {
			elapsed := clock.Now().Sub(start)
			bar.Describe(fmt.Sprintf("%s: %d %s, %.0f a second", scenario, done, counts, float64(done)/max(elapsed.Seconds(), 0.001)))
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
