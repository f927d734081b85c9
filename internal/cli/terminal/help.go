package terminal

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Is reports whether w is a terminal, even one of unknown width.
func Is(w io.Writer) bool {
	f, ok := Raw(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Agent reports whether an agent runs the command, by the variables that agents set.
func Agent() bool { return os.Getenv("AGENT") != "" || os.Getenv("AI_AGENT") != "" }

// Width is the width of a terminal. It is 0 if w is not one, or if an agent reads it: then no line is broken.
func Width(w io.Writer) int {
	if Agent() {
		return 0
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Help breaks the help of a command: paragraphs are refilled, tables break as in Fit, and commands to copy continue
// after a backslash. Only a word that is longer than a line stays whole.
func Help(text string, width int) string {
	fits := func(line string) bool { return utf8.RuneCountInString(line) <= width }
	lines := strings.Split(text, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		prose := line != "" && line[0] != ' '
		if begin := i; prose {
			for i+1 < len(lines) && lines[i+1] != "" && lines[i+1][0] != ' ' {
				i++
			}
			out = append(out, fill(lines[begin:i+1], fits)...)
			continue
		}
		switch {
		case fits(line):
			out = append(out, line)
		case strings.HasPrefix(line, "  isr-sim "):
			out = append(out, continued(line, width)...)
		default:
			out = append(out, fit(line, width)...)
		}
	}
	return strings.Join(out, "\n")
}

// fill refills a paragraph if one of its lines does not fit.
func fill(paragraph []string, fits func(string) bool) []string {
	whole := true
	for _, line := range paragraph {
		whole = whole && fits(line)
	}
	if whole {
		return paragraph
	}
	var out []string
	line := ""
	for _, word := range strings.Fields(strings.Join(paragraph, " ")) {
		switch {
		case line == "":
			line = word
		case fits(line + " " + word):
			line += " " + word
		default:
			out, line = append(out, line), word
		}
	}
	return append(out, line)
}

// continued breaks a command between its arguments, so that a shell reads it as one.
func continued(line string, width int) []string {
	const end, within = ` \`, "      "
	var out []string
	for utf8.RuneCountInString(line) > width {
		begin, at, quoted := len(line)-len(strings.TrimLeft(line, " ")), -1, false
		for i, r := range line {
			if r == '\'' || r == '"' {
				quoted = !quoted
			}
			if r == ' ' && i > begin && !quoted && utf8.RuneCountInString(line[:i]) <= width-len(end) {
				at = i
			}
		}
		if at < 0 {
			break // an argument that is longer
		}
		out, line = append(out, line[:at]+end), within+line[at+1:]
	}
	return append(out, line)
}
