package ddbfake

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The methods in this file move over the text of a decoder. The text is valid
// JSON: they rely on it.

// kind skips white space and returns the first byte of the next value, '0'
// for any number.
func (d *decoder) kind() byte {
	d.space()
	if d.pos >= len(d.text) {
		return 0
	}
	switch c := d.text[d.pos]; {
	case c == '-', '0' <= c && c <= '9':
		return '0'
	default:
		return c
	}
}

func (d *decoder) space() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// next moves to the next member of an object or element of an array and says
// whether there is one. Called with the opening bracket itself ahead, it
// enters it; after the last member it has moved past the closing bracket.
func (d *decoder) next(open byte) bool {
	d.space()
	switch c := d.text[d.pos]; c {
	case open:
		// An element may begin with the same bracket, but then a comma or
		// this array's own bracket stood before it and was consumed here.
		d.pos++
		d.space()
		if c := d.text[d.pos]; c == '}' || c == ']' {
			d.pos++
			return false
		}
		return true
	case ',':
		d.pos++
		d.space()
		return true
	default: // the closing bracket
		d.pos++
		return false
	}
}

func (d *decoder) colon() {
	d.space()
	d.pos++
}

// key reads the name of a member and its colon.
func (d *decoder) key() string {
	s := d.unquoted()
	d.colon()
	return s
}

// string reads a string that outlives the decoder.
func (d *decoder) string() string {
	s := d.unquoted()
	if len(d.text) > shareText {
		s = strings.Clone(s)
	}
	return s
}

// shareText is the longest body that its strings share: one allocation for
// all of them is worth it, but a row that is kept must not keep megabytes.
const shareText = 4 << 10

// unquoted moves past a string and returns what it says.
func (d *decoder) unquoted() string {
	d.space()
	quoted, escaped := d.quoted()
	if !escaped {
		return quoted[1 : len(quoted)-1]
	}
	s, _ := jsontext.AppendUnquote(nil, quoted)
	return string(s)
}

// quoted moves past a string and returns it with its quotes, and whether it
// has escapes.
func (d *decoder) quoted() (quoted string, escaped bool) {
	start := d.pos
	for d.pos++; ; {
		i := strings.IndexByte(d.text[d.pos:], '"')
		part := d.text[d.pos : d.pos+i]
		d.pos += i + 1
		if strings.IndexByte(part, '\\') < 0 {
			return d.text[start:d.pos], escaped
		}
		escaped = true
		// The quote closes the string unless an odd number of backslashes
		// stands before it.
		backslashes := len(part) - len(strings.TrimRight(part, `\`))
		if backslashes%2 == 0 {
			return d.text[start:d.pos], true
		}
	}
}

// raw moves past a number or a word and returns its text.
func (d *decoder) raw() string {
	d.space()
	start := d.pos
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return d.text[start:d.pos]
		}
		d.pos++
	}
	return d.text[start:]
}

// skip moves past the next value, whatever it is.
func (d *decoder) skip() {
	depth := 0
	for {
		d.space()
		switch d.text[d.pos] {
		case '"':
			d.quoted()
		case '{', '[':
			depth++
			d.pos++
			continue
		case '}', ']':
			depth--
			d.pos++
		case ',', ':':
			d.pos++
			continue
		default:
			d.raw()
		}
		if depth == 0 {
			return
		}
	}
}
