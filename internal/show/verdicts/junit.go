package verdicts

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// writeJUnit writes a suite for the command, and a case for each scenario and protocol. A violation is a failure; a
// result without a verdict is an error. Times are zero: they are not part of a result.
func writeJUnit(w io.Writer, d *Document) error {
	suite := junit.Testsuite{Name: "isr-sim " + d.Command, Time: "0"}
	suite.AddProperty("isr-sim", d.Version)
	for i := range d.Results {
		r := &d.Results[i]
		c := junit.Testcase{Name: r.Scenario, Classname: "isr-sim." + d.Command, Time: "0"}
		if r.Protocol != "" {
			c.Name = r.subject()
			c.Classname += "." + strings.ReplaceAll(r.Protocol, " ", "-")
		}
		failed := &junit.Result{
			Message: firstOf(r.Message, r.title()), Type: r.reason(), Data: firstOf(r.Details, r.Message, r.title()),
		}
		switch {
		case r.Verdict == Skipped:
			c.Skipped = &junit.Result{Message: r.Message}
		case r.Passed:
		case r.Verdict == Unknown, r.Verdict == Mistake:
			c.Error = failed
		default:
			c.Failure = failed
		}
		if r.Schedules > 0 {
			c.SystemOut = &junit.Output{Data: fmt.Sprintf("seed %s, %d schedules, %d steps: %s", r.Seed, r.Schedules,
				r.Steps, strings.Join(r.Reached, " "))}
			if unjudged := Unjudged(r.NotSimulated); unjudged != "" {
				c.SystemOut.Data += "\n" + unjudged
			}
			for _, line := range r.NotProved {
				c.SystemOut.Data += "\n" + line
			}
			if r.part() {
				c.SystemOut.Data += "\n" + r.Message
			}
		}
		suite.AddTestcase(c)
	}
	var all junit.Testsuites
	all.AddSuite(suite)
	if _, err := io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
