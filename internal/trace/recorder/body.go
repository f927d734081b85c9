package recorder

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Body is one write or deletion of a body in the body store. Its Change is like that of a history.Event.
type Body struct {
	Time   time.Time // true time at which it took effect
	Actor  string    // the node
	Name   string    // the name under which the body is stored
	Body   string    // the rendering; "" if Gone
	Gone   bool      // the body was deleted
	Change int
}

// Lagged is the history of the same schedule under another lag of TTL.
type Lagged struct {
	Lag     string
	History []history.Event
	// Diverged names the step from which the schedule could not be followed, because the nodes had made other
	// decisions. It is "" if the run came to its end.
	Diverged string
}

// SameBytes is the name of a rendering whose bytes equal those of every rendering of the same data.
const SameBytes = "same"

// RenderingOf begins the number of a rendering. It follows the name of its node.
const RenderingOf = "-render"

// Rendering returns the body of a rendering: of a version of a page's data, under the name of the rendering.
func Rendering(page string, version int, name string) string {
	return fmt.Sprintf("%s@%d#%s", page, version, name)
}

// IsRendering reports whether a body is a rendering of the page, perhaps in another run.
func IsRendering(page, body string) bool {
	after, is := strings.CutPrefix(body, page)
	return is && rendering.MatchString(after)
}

var rendering = regexp.MustCompile(`^@\d+#(` + SameBytes + `|.+` + RenderingOf + `-\d+)$`)
