package terminal

import (
	"fmt"
	"io"
	"regexp"
)

// Plain returns a writer that shows control characters as \x1b instead of sending them: text from others, such as a
// program's output and the keys of a file, could move the cursor, change earlier lines or the title. Colours are left
// out.
func Plain(w io.Writer) io.Writer { return plain{w} }

// Raw returns the writer under Plain, for progress, which moves the cursor.
func Raw(w io.Writer) io.Writer {
	if p, is := w.(plain); is {
		return p.w
	}
	return w
}

type plain struct{ w io.Writer }

var (
	colours  = regexp.MustCompile("\x1b\\[[0-9;:]*m")
	controls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f]")
)

// Write implements io.Writer.
func (p plain) Write(text []byte) (int, error) {
	shown := controls.ReplaceAllFunc(colours.ReplaceAll(text, nil), func(c []byte) []byte {
		return fmt.Appendf(nil, `\x%02x`, []rune(string(c))[0])
	})
	if _, err := p.w.Write(shown); err != nil {
		return 0, err
	}
	return len(text), nil
}
