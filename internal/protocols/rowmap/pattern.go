package rowmap

import (
	"fmt"
	"slices"
	"strings"
)

// The placeholders of forms.
const (
	forKey     = "key"
	forTenant  = "tenant"
	forVersion = "version"
	forRequest = "request"
	forAny     = "*"
)

var placeholders = []string{forKey, forTenant, forVersion, forRequest, forAny}

// form is the form of a key's text: literals and placeholders.
type form struct {
	text  string
	parts []part
}

// part is a literal, or a placeholder.
type part struct {
	literal string
	name    string // "" is a literal
}

func parseForm(text string) (form, error) {
	f := form{text: text}
	for rest := text; rest != ""; {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			f.parts = append(f.parts, part{literal: rest})
			break
		}
		if open > 0 {
			f.parts = append(f.parts, part{literal: rest[:open]})
		}
		end := strings.IndexByte(rest, '}')
		if end < open {
			return f, fmt.Errorf("found { without } in %q, expected a placeholder such as {key}", text)
		}
		name := rest[open+1 : end]
		if !slices.Contains(placeholders, name) {
			return f, fmt.Errorf("found {%s} in %q, expected one of {%s}", name, text,
				strings.Join(placeholders, "}, {"))
		}
		if n := len(f.parts); n > 0 && f.parts[n-1].name != "" {
			return f, fmt.Errorf("found two placeholders without anything between them in %q, expected a text that "+
				"tells where the first ends", text)
		}
		if name != forAny && f.has(name) {
			return f, fmt.Errorf("found {%s} twice in %q, expected it once", name, text)
		}
		f.parts = append(f.parts, part{name: name})
		rest = rest[end+1:]
	}
	if len(f.parts) == 0 {
		return f, fmt.Errorf("found no form of the key's value, expected one such as page#{key}")
	}
	return f, nil
}

func (f *form) has(name string) bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.name == name })
}

// fixed returns the text of a form without placeholders.
func (f *form) fixed() (string, bool) {
	if len(f.parts) == 1 && f.parts[0].name == "" {
		return f.parts[0].literal, true
	}
	return "", false
}

// captures are the texts that the placeholders stand for.
type captures struct{ key, tenant, version, request string }

func (c *captures) of(name string) *string {
	switch name {
	case forKey:
		return &c.key
	case forTenant:
		return &c.tenant
	case forVersion:
		return &c.version
	case forRequest:
		return &c.request
	default:
		return nil
	}
}

// match reads a text. A placeholder stands for at least one byte, and for as few as possible, but a tenant may be
// empty, as in worlds without tenants. A placeholder that stood for another text before does not match.
func (f *form) match(text string, c *captures) bool {
	var dead deadEnds
	return dead.match(f.parts, text, c)
}

// deadEnds are pairs, by their lengths, of the rest of a form and the rest of a text that do not match. No placeholder
// occurs twice in a form, so the text before does not matter. Without deadEnds, the time would grow with a power of the
// length.
type deadEnds map[[2]int]bool

func (d *deadEnds) match(parts []part, text string, c *captures) bool {
	rests := [2]int{len(parts), len(text)}
	if (*d)[rests] {
		return false
	}
	if d.matches(parts, text, c) {
		return true
	}
	if len(parts) > 2 { // otherwise there is nothing to retry
		if *d == nil {
			*d = deadEnds{}
		}
		(*d)[rests] = true
	}
	return false
}

func (d *deadEnds) matches(parts []part, text string, c *captures) bool {
	if len(parts) == 0 {
		return text == ""
	}
	p := parts[0]
	if p.name == "" {
		rest, ok := strings.CutPrefix(text, p.literal)
		return ok && d.match(parts[1:], rest, c)
	}
	if len(parts) == 1 {
		return (text != "" || p.name == forTenant) && c.capture(p.name, text)
	}
	next := parts[1].literal
	first := 1
	if p.name == forTenant {
		first = 0
	}
	for end := first; end <= len(text); end++ {
		at := strings.Index(text[end:], next)
		if at < 0 {
			return false
		}
		end += at
		before := *c
		if c.capture(p.name, text[:end]) && d.match(parts[1:], text[end:], c) {
			return true
		}
		*c = before
	}
	return false
}

func (c *captures) capture(name, text string) bool {
	to := c.of(name)
	if to == nil {
		return true
	}
	if *to != "" {
		return *to == text
	}
	*to = text
	return true
}
