// Package livelock decides whether a run that goes round a cycle (sim.Cycle) can do so for ever.
package livelock

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// enough is more than the retries after which code gives up.
const enough = 100

// Round follows a run that goes round. Rows and Within must be set before its first step.
type Round struct {
	Rows    func() (text string, now time.Time) // what the cycle must come back to
	Within  time.Duration                       // code that goes round for longer breaks its promise
	Rounds  int                                 // that were gone; at least one, if the code repeats
	Lasted  time.Duration                       // their true time
	ForEver bool
	Steps   []string // of the first round, as a trace has them

	rows  string // at the beginning of the cycle
	began time.Time
}

// Write implements io.Writer, for the trace of the run. The line of a step begins with its number.
func (r *Round) Write(line []byte) (int, error) {
	if r.Rounds == 0 && line[3] != ' ' {
		r.Steps = append(r.Steps, strings.TrimSpace(string(line)))
	}
	return len(line), nil
}

// Again reports whether to go round once more. It is called at the beginning of the cycle, and after each round.
func (r *Round) Again() bool {
	text, now := r.Rows()
	rows := shifted(text, now)
	if r.began.IsZero() {
		r.rows, r.began, r.Steps = rows, now, nil
		return true
	}
	r.Rounds, r.Lasted = r.Rounds+1, now.Sub(r.began)
	r.ForEver = rows == r.rows && r.Rounds >= enough && r.Lasted > r.Within
	return rows == r.rows && !r.ForEver
}

// withDigits finds the words of a text that may be times, or names that were given out.
var withDigits = regexp.MustCompile(`[\w.~-]*\d[\w.~-]*`)

// shifted is a text in which a time says how long it is until then, or only that it is over. Other words with digits,
// such as tokens and versions, are numbered in the order in which they come, after what stands before the digits' part.
func shifted(text string, now time.Time) string {
	numbers := map[string]int{}
	return withDigits.ReplaceAllStringFunc(text, func(word string) string {
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			const decade = 10 * 365 * 24 * 3600
			for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
				switch left := n - now.UnixNano()/(1e9/unit); {
				case left <= -decade*unit || left >= decade*unit:
				case left > 0:
					return fmt.Sprintf("in %d", left)
				default:
					return "over"
				}
			}
		}
		if numbers[word] == 0 {
			numbers[word] = len(numbers) + 1
		}
		before := word[:strings.IndexAny(word, "0123456789")]
		return fmt.Sprint(before[:strings.LastIndexAny(before, ".~-")+1], "#", numbers[word])
	})
}
