package partiql

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokName              // name
	tokQuoted            // "name"
	tokKeyword           // one of the keywords, in lower case
	tokText              // 'text'
	tokNumber            // 7, .5, 1e3
	tokPunct             // = <> < <= > >= + - * / % || ( ) [ ] { } << >> . , : ; ? @
)

// Pos is the position of a token: its line and column, counted in characters from 1, and its length.
type Pos struct{ Line, Column, Length int }

// String prints the position as the service does.
func (p Pos) String() string { return fmt.Sprintf("%d:%d:%d", p.Line, p.Column, p.Length) }

// token is a piece of the source. The text of a quoted name or string has no quotes.
type token struct {
	kind tokenKind
	text string
	pos  Pos
}

func (t token) is(punct string) bool       { return t.kind == tokPunct && t.text == punct }
func (t token) isWord(keyword string) bool { return t.kind == tokKeyword && t.text == keyword }
func (t token) isName() bool               { return t.kind == tokName || t.kind == tokQuoted }

// lexer cuts the source into tokens.
type lexer struct {
	src    string
	at     int
	line   int
	column int
	tokens []token
}

// lex returns the tokens. The last one is the end. The result is false if the whole source could not be cut into
// tokens. A statement with a character that begins no token is refused before parsing.
func lex(src string) ([]token, bool) {
	l := &lexer{src: src, line: 1, column: 1}
	for l.skip() {
		if l.at == len(src) {
			return append(l.tokens, token{kind: tokEOF, pos: Pos{l.line, l.column, 0}}), true
		}
		if !l.next() {
			break
		}
	}
	return nil, false
}

// skip skips spaces and comments. It returns false if a comment does not end.
func (l *lexer) skip() bool {
	for {
		rest := l.src[l.at:]
		switch {
		case strings.HasPrefix(rest, "--"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.advance(end)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return false
			}
			l.advance(end + 4)
		default:
			r, width := utf8.DecodeRuneInString(rest)
			if width == 0 || !unicode.IsSpace(r) {
				return true
			}
			l.advance(width)
		}
	}
}

// advance moves over the next length bytes.
func (l *lexer) advance(length int) {
	for _, r := range l.src[l.at : l.at+length] {
		if l.column++; r == '\n' {
			l.line, l.column = l.line+1, 1
		}
	}
	l.at += length
}

// punctuation lists longer marks first.
var punctuation = []string{
	"<<", ">>", "<=", ">=", "<>", "!=", "||",
	"=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", ".", ",", ":", ";", "?", "@",
}

// next adds the next token; false if there is no valid one.
func (l *lexer) next() bool {
	rest := l.src[l.at:]
	switch c := rest[0]; {
	case isLetter(c):
		n := length(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
		kind, text := tokName, rest[:n]
		if lower := strings.ToLower(text); keywords[lower] {
			kind, text = tokKeyword, lower
		}
		l.add(kind, text, n)
		return true
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		n := numberLength(rest)
		if n < len(rest) && isLetter(rest[n]) || !fits(rest[:n]) {
			return false
		}
		l.add(tokNumber, rest[:n], n)
		return true
	case c == '\'':
		return l.quoted(tokText)
	case c == '"':
		return l.quoted(tokQuoted)
	}
	for _, p := range punctuation {
		if strings.HasPrefix(rest, p) {
			l.add(tokPunct, p, len(p))
			if p == "!=" {
				l.tokens[len(l.tokens)-1].text = "<>"
			}
			return true
		}
	}
	return false
}

func (l *lexer) add(kind tokenKind, text string, length int) {
	pos := Pos{l.line, l.column, utf8.RuneCountInString(l.src[l.at : l.at+length])}
	l.tokens = append(l.tokens, token{kind, text, pos})
	l.advance(length)
}

// quoted reads a text in quotes, in which two quotes stand for one. It returns false if the text does not end.
func (l *lexer) quoted(kind tokenKind) bool {
	quote := l.src[l.at : l.at+1]
	for end := l.at + 1; ; {
		i := strings.Index(l.src[end:], quote)
		if i < 0 {
			return false
		}
		end += i + 1
		if strings.HasPrefix(l.src[end:], quote) {
			end++
			continue
		}
		l.add(kind, strings.ReplaceAll(l.src[l.at+1:end-1], quote+quote, quote), end-l.at)
		return true
	}
}

// numberLength returns the length of a number: digits, a point with digits, and an exponent.
func numberLength(s string) int {
	n := length(s, isDigit)
	if n < len(s) && s[n] == '.' {
		n++
		n += length(s[n:], isDigit)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if digits := length(s[e:], isDigit); digits > 0 {
			return e + digits
		}
	}
	return n
}

// fits reports whether the service can read a number. Its exponent must fit into an int32, and so must its scale, which
// is the number of digits after the point minus the exponent.
func fits(number string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	exponent, negative := strings.CutPrefix(exponent, "-")
	exponent = strings.TrimLeft(exponent, "+0")
	if len(exponent) > len("2147483648") {
		return false
	}
	var e int64
	for _, digit := range exponent {
		e = e*10 + int64(digit-'0')
	}
	if negative {
		e = -e
	}
	scale := int64(len(fraction)) - e
	return int64(int32(e)) == e && int64(int32(scale)) == scale //nolint:gosec // this checks whether they fit
}

func length(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// keywords are words that can be a name only in double quotes.
//
// Source: https://github.com/partiql/partiql-lang-kotlin (SQL-92's keywords, and PartiQL's)
var keywords = wordsOf(`
	absolute action add all allocate alter and any are as asc assertion at authorization avg begin between bit
	bit_length by cascade cascaded case cast catalog char character character_length char_length check close coalesce
	collate collation column commit connect connection constraint constraints continue convert corresponding count
	create cross current current_date current_time current_timestamp current_user cursor date date_add date_diff
	deallocate dec decimal declare default deferrable deferred delete desc describe descriptor diagnostics disconnect
	distinct domain double drop else end escape except exception exec execute exists external extract false fetch first
	float for foreign found from full get global go goto grant group having identity immediate in indicator initially
	inner input insensitive insert int integer intersect interval into is isolation join key language last left level
	like local lower match max min module names national natural nchar next no not null nullif numeric octet_length of
	on only open option or order outer output overlaps pad partial position precision prepare preserve primary prior
	privileges procedure public read real references relative restrict revoke right rollback rows schema scroll section
	select session session_user set size smallint some space sql sqlcode sqlerror sqlstate substring sum system_user
	table temporary then time timestamp to transaction translate translation trim true union unique unknown update upper
	usage user using value values varchar varying view when whenever where with work write zone

	bag bigint blob bool boolean clob conflict do index int2 int4 int8 integer2 integer4 integer8 let limit list missing
	modified new nothing old pivot remove returning sexp string struct symbol tuple unpivot`)

// functionKeywords are the keywords that can be the name of a function before a parenthesis.
var functionKeywords = wordsOf(`
	avg bag bit_length char_length character_length count exists list lower max min octet_length sexp size sum upper`)

// types are the names after IS, each with the type of DynamoDB that it stands for; "" for a type that PartiQL has and
// DynamoDB refuses. (MISSING is no type of DynamoDB either, but has a meaning.)
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier2/partiql/whereFunctions.test.ts
var types = map[string]string{
	"missing": "", "null": "NULL", "bool": "BOOL", "boolean": "BOOL", "string": "S", "numeric": "N", "blob": "B",
	"struct": "M", "tuple": "M", "list": "L",
	"any": "", "bag": "", "bigint": "", "char": "", "character": "", "character varying": "", "clob": "", "date": "",
	"dec": "", "decimal": "", "double precision": "", "float": "", "int": "", "int2": "", "int4": "", "int8": "",
	"integer": "", "integer2": "", "integer4": "", "integer8": "", "real": "", "sexp": "", "smallint": "", "symbol": "",
	"time": "", "timestamp": "", "varchar": "",
}

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text) {
		words[word] = true
	}
	return words
}
