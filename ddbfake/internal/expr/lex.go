package expr

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF   tokenKind = iota
	tokError           // a character with which no token begins
	tokIdent           // name
	tokName            // #name
	tokValue           // :value
	tokIndex           // 0 or a number without leading zeros
	tokPunct           // = <> < <= > >= + - ( ) [ ] . ,
	tokAnd
	tokOr
	tokNot
	tokBetween
	tokIn
	tokSet
	tokRemove
	tokAdd
	tokDelete
)

var keywords = map[string]tokenKind{
	"AND": tokAnd, "OR": tokOr, "NOT": tokNot, "BETWEEN": tokBetween, "IN": tokIn,
	"SET": tokSet, "REMOVE": tokRemove, "ADD": tokAdd, "DELETE": tokDelete,
}

// token is a piece of the source, with its place in it.
type token struct {
	kind       tokenKind
	text       string
	start, end int
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }

// lexer cuts the source into tokens. Text that cannot be cut into tokens is a token, too, so that the parser has one
// way to fail.
type lexer struct {
	src string
	pos int
}

func (l *lexer) next() token {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.pos]) >= 0 {
		l.pos++
	}
	if l.pos == len(l.src) {
		return token{kind: tokEOF, text: "<EOF>", start: l.pos, end: l.pos}
	}
	switch c := l.src[l.pos]; {
	case isLetter(c):
		t := l.take(tokIdent, l.word(1))
		if kind, ok := keywords[strings.ToUpper(t.text)]; ok {
			t.kind = kind
		}
		return t
	case c == '#' || c == ':':
		length := l.word(1)
		switch {
		case length == 1:
			return l.take(tokError, 1)
		case c == '#':
			return l.take(tokName, length)
		}
		return l.take(tokValue, length)
	case c == '0':
		return l.take(tokIndex, 1)
	case isDigit(c):
		length := 1
		for l.pos+length < len(l.src) && isDigit(l.src[l.pos+length]) {
			length++
		}
		return l.take(tokIndex, length)
	case c == '<' || c == '>':
		rest := l.src[l.pos+1:]
		if strings.HasPrefix(rest, "=") || c == '<' && strings.HasPrefix(rest, ">") {
			return l.take(tokPunct, 2)
		}
		return l.take(tokPunct, 1)
	case strings.IndexByte("=+-()[].,", c) >= 0:
		return l.take(tokPunct, 1)
	}
	_, width := utf8.DecodeRuneInString(l.src[l.pos:])
	return l.take(tokError, width)
}

func (l *lexer) take(kind tokenKind, length int) token {
	start := l.pos
	l.pos += length
	return token{kind: kind, text: l.src[start:l.pos], start: start, end: l.pos}
}

// word returns the length of the token: `from` bytes that belong to it in any case, and then letters, digits and
// underscores.
func (l *lexer) word(from int) int {
	for l.pos+from < len(l.src) {
		c := l.src[l.pos+from]
		if !isLetter(c) && !isDigit(c) && c != '_' {
			break
		}
		from++
	}
	return from
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
