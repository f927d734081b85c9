// Package terminal fits the text of commands into narrow terminals.
package terminal

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// Output returns w or, if w is a terminal, a writer that breaks lines that are too long for it. Close writes a last
// line that has no newline.
func Output(w io.Writer) io.WriteCloser {
	if !Is(w) {
		return whole{w}
	}
	if width := Width(w); width > 0 {
		return Fit(Plain(w), width)
	}
	return whole{Plain(w)}
}

// whole writes lines unchanged.
type whole struct{ io.Writer }

func (whole) Close() error { return nil }

// Fit returns a writer that breaks lines at width characters, between columns if possible, else between words. A broken
// line continues below its second column. Lines to copy, which are commands, stay whole.
func Fit(w io.Writer, width int) io.WriteCloser { return &fitter{w: w, width: width} }

type fitter struct {
	w     io.Writer
	width int
	line  []byte // a line without its newline
}

func (f *fitter) Write(p []byte) (int, error) {
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			f.line = append(f.line, rest...)
			return len(p), nil
		}
		f.line = append(f.line, rest[:i]...)
		rest = rest[i+1:]
		text := strings.Join(fit(string(f.line), f.width), "\n") + "\n"
		f.line = f.line[:0]
		if _, err := io.WriteString(f.w, text); err != nil {
			return 0, err
		}
	}
}

// Close writes a last line that has no newline.
func (f *fitter) Close() error {
	if len(f.line) == 0 {
		return nil
	}
	_, err := io.WriteString(f.w, strings.Join(fit(string(f.line), f.width), "\n"))
	f.line = nil
	return err
}

// commands are the beginnings of lines to copy.
var commands = []string{"replay: ", "shrink: ", "  isr-sim "}

func fit(line string, width int) []string {
	line = strings.TrimRight(line, " ")
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	for _, c := range commands {
		if strings.HasPrefix(line, c) {
			return []string{line}
		}
	}
	within := strings.Repeat(" ", hanging(line, width))
	var lines []string
	for utf8.RuneCountInString(line) > width {
		end := cut(line, width, len(line)-len(strings.TrimLeft(line, " ")))
		if end < 0 {
			break // a word that is longer
		}
		lines = append(lines, strings.TrimRight(line[:end], " "))
		line = within + strings.TrimLeft(line[end:], " ")
	}
	return append(lines, line)
}

// hanging is the position at which a broken line continues: below its second column if that leaves half of the width,
// or else a little further in than the line.
func hanging(line string, width int) int {
	begin := len(line) - len(strings.TrimLeft(line, " "))
	if i := strings.Index(line[begin:], "  "); i >= 0 {
		second := begin + i + len(line[begin+i:]) - len(strings.TrimLeft(line[begin+i:], " "))
		if at := utf8.RuneCountInString(line[:second]); at <= width/2 {
			return at
		}
	}
	return min(begin+2, width/4)
}

// cut is the last position after the indentation where a line may be broken: before a column in the line's second half,
// else before a word; -1 if there is none.
func cut(line string, width, begin int) int {
	column, word := -1, -1
	at, before := 0, ' '
	for i, r := range line {
		if at > width {
			break
		}
		if r == ' ' && before != ' ' && i > begin {
			word = i
			if strings.HasPrefix(line[i:], "  ") && at > width/2 {
				column = i
			}
		}
		at, before = at+1, r
	}
	if column >= 0 {
		return column
	}
	return word
}
