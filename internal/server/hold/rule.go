package hold

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// DefaultLimit is how long a request that is never released is held, and MaxLimit the maximum that a rule may set.
const (
	DefaultLimit = 30 * time.Second
	MaxLimit     = time.Hour
)

// Rule says which requests are held.
type Rule struct {
	// match has the predicates. Its kind is not used.
	match ddbfake.Fault
	limit time.Duration
	// goes lets a request that is never released take effect after the limit. If false, the request fails.
	goes bool
}

// String returns the rule's text form. Defaults are left out.
func (r Rule) String() string {
	kind := r.match.Kind.String()
	text := "hold" + strings.TrimPrefix(r.match.String(), kind)
	if r.limit != DefaultLimit {
		text += " for=" + r.limit.String()
	}
	if r.goes {
		text += " then=go"
	}
	return text
}

// IsRule reports whether the text form of a fault is a rule, that is, whether its kind is hold.
func IsRule(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && words[0] == "hold"
}

// ParseRule reads the text form of a rule: hold, then the predicates of a fault, for= and then=.
func ParseRule(text string) (Rule, error) {
	r, err := parseRule(text)
	if err != nil {
		return Rule{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return r, nil
}

func parseRule(text string) (Rule, error) {
	r := Rule{limit: DefaultLimit}
	if !IsRule(text) {
		return r, errors.New("want the kind hold")
	}
	_, rest, _ := strings.Cut(text, "hold")
	// The predicates are parsed like those of a fault, which needs a kind.
	fault := ddbfake.FaultThrottled.String()
	seen := map[string]bool{}
	for _, word := range split(rest) {
		name, value, _ := strings.Cut(word, "=")
		if name != "for" && name != "then" {
			fault += " " + word
			continue
		}
		if seen[name] {
			return r, fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		if name == "then" {
			if value != "go" && value != "fail" {
				return r, fmt.Errorf("found %s, want then=go or then=fail", word)
			}
			r.goes = value == "go"
			continue
		}
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > MaxLimit {
			return r, fmt.Errorf("found %s, want a duration above 0s and up to %v, such as for=10s", word, MaxLimit)
		}
		r.limit = d
	}
	match, err := ddbfake.ParseFault(fault)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), fmt.Sprintf("fault %q: ", fault))
		return r, errors.New(strings.ReplaceAll(reason, "nth, times", "nth, times, for, then"))
	}
	r.match = match
	r.match.Kind = 0
	return r, nil
}

// split splits at spaces outside quotes. A quote that is not closed stays in the last word, so that ddbfake refuses it.
func split(s string) []string {
	var words []string
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return words
		}
		end := 0
		for end < len(s) && !strings.ContainsRune(" \t\r\n", rune(s[end])) {
			if s[end] == '"' {
				quoted, err := strconv.QuotedPrefix(s[end:])
				if err != nil {
					return append(words, s)
				}
				end += len(quoted)
				continue
			}
			end++
		}
		words = append(words, s[:end])
		s = s[end:]
	}
}
