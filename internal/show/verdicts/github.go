package verdicts

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// writeGitHub writes an annotation for each result that did not pass, on the scenario's line.
//
// Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func writeGitHub(w io.Writer, d *Document) error {
	for i := range d.Results {
		r := &d.Results[i]
		if r.Passed {
			continue
		}
		var at []string
		if r.File != "" {
			at = append(at, "file="+property(filepath.ToSlash(filepath.Clean(r.File))))
		}
		if r.Line > 0 {
			at = append(at, fmt.Sprintf("line=%d", r.Line))
		}
		if r.Column > 0 {
			at = append(at, fmt.Sprintf("col=%d", r.Column))
		}
		at = append(at, "title="+property("isr-sim: "+r.title()))
		text := firstOf(r.Message, r.title())
		if r.Statement != "" {
			text = r.Statement + "\n" + text
		}
		if r.Replay != "" {
			text += "\nreplay: " + r.Replay
		}
		if _, err := fmt.Fprintf(w, "::error %s::%s\n", strings.Join(at, ","), data(text)); err != nil {
			return err
		}
	}
	return nil
}

// data returns the message of a workflow command with its special characters escaped.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes the value of a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
