// Package words splits the text forms of faults and lags into words, some of which are quoted.
package words

import (
	"fmt"
	"strconv"
	"strings"
)

// Split splits at spaces outside quotes. Quotes stay in the words.
func Split(s string) ([]string, error) {
	var words []string
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return words, nil
		}
		end := strings.IndexAny(s, " \t\r\n\"")
		if end >= 0 && s[end] == '"' {
			quoted, err := strconv.QuotedPrefix(s[end:])
			if err != nil {
				return nil, fmt.Errorf("found %s, want a closing quote", s[end:])
			}
			end += len(quoted)
			if end < len(s) && !strings.ContainsRune(" \t\r\n", rune(s[end])) {
				return nil, fmt.Errorf("found %s after a quoted value, want a space", s[end:])
			}
		} else if end < 0 {
			end = len(s)
		}
		words = append(words, s[:end])
		s = s[end:]
	}
}

// Quote quotes a value that is not a valid bare word.
func Quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r > '~' }) {
		return strconv.Quote(s)
	}
	return s
}

// Unquote reads what Quote writes.
func Unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	return strconv.Unquote(s)
}
