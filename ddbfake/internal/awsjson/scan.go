package awsjson

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The methods in this file move through the text of a decoder and check it on the way. At the first text that is not
// JSON, the decoder sets malformed and moves to the end, where every method finds nothing. So the methods return no
// errors.

// fail sets malformed. It returns false, so that its callers can return the result.
func (d *decoder) fail() bool {
	d.malformed = true
	d.pos = len(d.text)
	return false
}

// peek skips white space and returns the byte ahead, 0 at the end of the text.
func (d *decoder) peek() byte {
	if d.pos < len(d.text) && d.text[d.pos] > ' ' {
		return d.text[d.pos] // nearly always: programs write no white space
	}
	return d.peekOver()
}

// peekOver is the part of peek that skips white space.
func (d *decoder) peekOver() byte {
	for ; d.pos < len(d.text); d.pos++ {
		switch c := d.text[d.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// kind skips white space and returns the first byte of the next value, '0' for any number.
func (d *decoder) kind() byte {
	c := d.peek()
	if c == '-' || '0' <= c && c <= '9' {
		return '0'
	}
	return c
}

// maxDepth is the maximum number of objects and arrays that may be open at a time. It is the limit of package jsontext.
const maxDepth = 10000

// enter moves into the object or array whose opening bracket is ahead, and reports whether it has a member or element.
// If not, the decoder has moved past the closing bracket.
//
//	for more := d.enter(']'); more; more = d.next(']') {
func (d *decoder) enter(closing byte) bool {
	d.pos++
	d.depth++
	if d.depth > maxDepth {
		return d.fail()
	}
	if d.peek() == closing {
		d.leave()
		return false
	}
	return true // if the text ends here, reading the element finds out
}

// next moves to the next member or element and reports whether there is one. After the last one, the decoder has moved
// past the closing bracket.
func (d *decoder) next(closing byte) bool {
	switch d.peek() {
	case ',':
		d.pos++
		return true
	case closing:
		d.leave()
		return false
	}
	return d.fail()
}

func (d *decoder) leave() {
	d.pos++
	d.depth--
}

// end reports whether the text was JSON and has been read to its end.
func (d *decoder) end() bool { return d.peek() == 0 && d.pos == len(d.text) && !d.malformed }

// key reads the name of a member and its colon.
func (d *decoder) key() string {
	s := d.unquoted()
	d.colon()
	return s
}

func (d *decoder) colon() {
	if d.peek() != ':' {
		d.fail()
		return
	}
	d.pos++
}

// string reads a string that outlives the decoder.
func (d *decoder) string() string { return d.kept(d.unquoted()) }

// kept returns a string of the text so that it outlives the decoder.
func (d *decoder) kept(s string) string {
	if len(d.text) > shareText {
		s = strings.Clone(s)
	}
	return s
}

// shareText: the strings of a body share its memory if the body is at most this long. Sharing saves allocations, but a
// stored row must not keep megabytes alive.
const shareText = 4 << 10

// unquoted moves past a string and returns its text.
func (d *decoder) unquoted() string {
	if d.peek() != '"' {
		d.fail()
		return ""
	}
	start := d.pos + 1
	end := start + plainPrefix(d.text[start:])
	if end < len(d.text) && d.text[end] == '"' {
		d.pos = end + 1
		return d.text[start:end]
	}
	return d.irregular(end)
}

// irregular is unquoted for a string with escapes, or with bytes that may not be UTF-8. The bytes before index from
// have neither.
func (d *decoder) irregular(from int) string {
	end := from
	for end < len(d.text) && d.text[end] != '"' {
		if d.text[end] == '\\' {
			end++ // an escaped byte does not close the string
		}
		end++
	}
	if end >= len(d.text) {
		d.fail()
		return ""
	}
	quoted := d.text[d.pos : end+1]
	var err error
	if d.scratch, err = jsontext.AppendUnquote(d.scratch[:0], quoted); err != nil {
		d.fail()
		return ""
	}
	d.pos = end + 1
	if inside := quoted[1 : len(quoted)-1]; string(d.scratch) == inside {
		return inside // without escapes
	}
	return string(d.scratch)
}

// raw moves past a number and returns its text.
func (d *decoder) raw() string {
	d.peek()
	number := d.text[d.pos:]
	if end := strings.IndexAny(number, ",}] \t\r\n"); end >= 0 {
		number = number[:end]
	}
	d.pos += len(number)
	if !jsontext.Value(number).IsValid() {
		d.fail()
	}
	return number
}

// word moves past true, false or null.
func (d *decoder) word(w string) {
	d.peek()
	if !strings.HasPrefix(d.text[d.pos:], w) {
		d.fail()
		return
	}
	d.pos += len(w)
}

// skip moves past the next value, of any type.
func (d *decoder) skip() {
	switch d.kind() {
	case '"':
		d.unquoted()
	case '0':
		d.raw()
	case 't':
		d.word("true")
	case 'f':
		d.word("false")
	case 'n':
		d.word("null")
	case '{':
		for more := d.enter('}'); more; more = d.next('}') {
			d.key()
			d.skip()
		}
	case '[':
		for more := d.enter(']'); more; more = d.next(']') {
			d.skip()
		}
	default:
		d.fail()
	}
}
