package report

import (
	"math"
	"strings"
	"unicode/utf8"
)

// These are the sizes of letters, in pixels: of heads, which are bold; of the steps' numbers and times, which may be
// bold; and of notes.
const (
	headSize = 12 * 1.06
	stepSize = 11 * 1.06
	noteSize = 10.5
)

// widthOf is the approximate width of a text in a wide font. The reader's font is not known here.
func widthOf(text string, size float64) float64 {
	em := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("iIjl.,:;|!'", r):
			em += 0.38
		case strings.ContainsRune("frt-/()[] ", r):
			em += 0.5
		case strings.ContainsRune("mwMW@%+…", r) || r >= 0x1100:
			em += 1.05
		case r >= 'A' && r <= 'Z' || r == '#' || r == '_' || r == '&':
			em += 0.82
		default:
			em += 0.68
		}
	}
	return em * size
}

// wrapped breaks a text into at most four lines of about the given width. Lines of a very long text are wider.
func wrapped(text string, pixels, size float64) []string {
	const most = 4
	return wrappedTo(text, min(most, int(widthOf(text, size)/pixels)+1), size)
}

// wrappedTo breaks a text into at most the given number of lines. A line ends at the end of a word, if one is near.
func wrappedTo(text string, most int, size float64) []string {
	var lines []string
	for ; text != ""; most-- {
		end := len(text)
		if most > 1 {
			end = lineEnd(text, widthOf(text, size)/float64(most), size)
		}
		lines = append(lines, strings.TrimSpace(text[:end]))
		text = text[end:]
	}
	return lines
}

// lineEnd is the end of a line of about the given width. If a part of a name ends near that width, the line ends there.
func lineEnd(text string, pixels, size float64) int {
	const least, most = 0.5, 1.3
	hard, soft, off := 0, 0, most*pixels
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		w := widthOf(text[:end], size)
		if hard == 0 || w <= pixels {
			hard = end
		}
		if r == '-' && strings.HasSuffix(text[:i], " ") { // the hyphen belongs to a number
			continue
		}
		if d := math.Abs(w - pixels); w >= least*pixels && w <= most*pixels && d < off &&
			strings.ContainsRune("/-_# ", r) {
			soft, off = end, d
		}
	}
	if soft > 0 {
		return soft
	}
	return hard
}
