package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// Choices is a schedule: for each moment at which several steps were possible, the position of the one that was taken.
type Choices []int

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

// String prints the choices in one word: a character for each of them, 0 to 9 and a to z, and a larger one in
// parentheses. No choices print as "-".
func (c Choices) String() string {
	if len(c) == 0 {
		return "-"
	}
	var b strings.Builder
	for _, n := range c {
		if n < len(digits) {
			b.WriteByte(digits[n])
		} else {
			fmt.Fprintf(&b, "(%d)", n)
		}
	}
	return b.String()
}

// ParseChoices parses the output of String.
func ParseChoices(s string) (Choices, error) {
	if s == "-" {
		return nil, nil
	}
	if s == "" {
		return nil, fmt.Errorf("choices: found nothing, expected a word such as 0120 (or - for none)")
	}
	var c Choices
	for i := 0; i < len(s); i++ {
		if n := strings.IndexByte(digits, s[i]); n >= 0 {
			c = append(c, n)
			continue
		}
		if s[i] != '(' {
			return nil, fmt.Errorf("choices: found %q at character %d, expected 0 to 9, a to z, or a number in parentheses", s[i], i+1)
		}
		end := strings.IndexByte(s[i:], ')')
		if end < 0 {
			return nil, fmt.Errorf("choices: the parenthesis at character %d is never closed", i+1)
		}
		n, err := strconv.Atoi(s[i+1 : i+end])
		if err != nil || n < len(digits) {
			return nil, fmt.Errorf("choices: found %q at character %d, expected a number of at least %d", s[i:i+end+1], i+1, len(digits))
		}
		c = append(c, n)
		i += end
	}
	return c, nil
}
