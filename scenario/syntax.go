package scenario

import (
	"fmt"
	"strings"
	"unicode"
)

// SyntaxError is a mistake in a scenario file, with its place.
type SyntaxError struct {
	File         string
	Line, Column int    // from 1; columns count characters
	Problem      string // the text that was found and the expected one
	Hint         string // how to mend it; may be empty
	Source       string // the line
}

// excerptWidth is how much of a line an error shows around its column.
const excerptWidth = 100

// Error prints the position and the problem, the line with a caret below the column, and the hint.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
	excerpt, caret := e.excerpt()
	number := fmt.Sprint(e.Line)
	fmt.Fprintf(&b, "\n  %s | %s\n  %*s | %*s^", number, excerpt, len(number), "", caret, "")
	if e.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s", e.Hint)
	}
	return b.String()
}

// excerpt returns the part of the line around the column, and where in it the caret belongs.
func (e *SyntaxError) excerpt() (text string, caret int) {
	// Far more than the excerpt is never looked at: the line may be megabytes long.
	const enough = 1 << 17
	source := e.Source[:min(len(e.Source), enough)]
	line := []rune(strings.ToValidUTF8(source, "\uFFFD"))
	for i, r := range line {
		if !unicode.IsPrint(r) {
			line[i] = ' ' // a tab or a control character would shift the caret
		}
	}
	at := min(max(e.Column-1, 0), len(line))
	start := max(at-excerptWidth/2, 0)
	if len(line) <= excerptWidth {
		start = 0
	}
	end := min(start+excerptWidth, len(line))
	text, caret = string(line[start:end]), at-start
	if start > 0 {
		text, caret = "..."+text, caret+3
	}
	if end < len(line) || len(source) < len(e.Source) {
		text += "..."
	}
	return text, caret
}
