package ddbfake

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// The methods in this file move over the text of a decoder. The text is valid
// JSON: they rely on it.

// kind skips white space and returns the first byte of the next value, '0'
// for any number.
func (d *decoder) kind() byte {
	d.space()
	if d.pos >= len(d.body) {
		return 0
	}
	switch c := d.body[d.pos]; {
	case c == '-', '0' <= c && c <= '9':
		return '0'
	default:
		return c
	}
}

func (d *decoder) space() {
	for d.pos < len(d.body) {
		switch d.body[d.pos] {
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
	switch c := d.body[d.pos]; c {
	case open:
		// An element may begin with the same bracket, but then a comma or
		// this array's own bracket stood before it and was consumed here.
		d.pos++
		d.space()
		if c := d.body[d.pos]; c == '}' || c == ']' {
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

// key reads the name of a member and its colon. The result is only valid
// until the body is reused.
func (d *decoder) key() []byte {
	d.space()
	quoted, escaped := d.quoted()
	d.colon()
	if !escaped {
		return quoted[1 : len(quoted)-1]
	}
	name, _ := jsontext.AppendUnquote(nil, quoted)
	return name
}

// string reads a string.
func (d *decoder) string() string {
	d.space()
	quoted, escaped := d.quoted()
	if !escaped {
		return string(quoted[1 : len(quoted)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, quoted)
	return string(s)
}

// quoted moves past a string and returns it with its quotes, and whether it
// has escapes.
func (d *decoder) quoted() (quoted []byte, escaped bool) {
	start := d.pos
	for d.pos++; ; {
		i := bytes.IndexByte(d.body[d.pos:], '"')
		part := d.body[d.pos : d.pos+i]
		if bytes.IndexByte(part, '\\') < 0 {
			d.pos += i + 1
			return d.body[start:d.pos], escaped
		}
		escaped = true
		// The quote closes the string unless an odd number of backslashes
		// stands before it.
		d.pos += i + 1
		backslashes := len(part) - len(bytes.TrimRight(part, `\`))
		if backslashes%2 == 0 {
			return d.body[start:d.pos], true
		}
	}
}

// raw moves past a number or a word and returns its text.
func (d *decoder) raw() []byte {
	d.space()
	start := d.pos
	for d.pos < len(d.body) {
		switch d.body[d.pos] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return d.body[start:d.pos]
		}
		d.pos++
	}
	return d.body[start:]
}

// skip moves past the next value, whatever it is.
func (d *decoder) skip() {
	depth := 0
	for {
		d.space()
		switch d.body[d.pos] {
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
