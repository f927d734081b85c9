package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// node is a value as written in a file.
type node struct {
	// kind is its first character: a brace, a bracket, an angle bracket, a quotation mark, or w for a word.
	kind   byte
	prefix string // the type before a text or a set
	text   string
	keys   []node // of an object
	list   []node // of an object, a list or a set
}

// parser reads the notation of values.
type parser struct {
	text string
	at   int
	i    string // stands for ${i} in the elements of a run
}

var (
	token = regexp.MustCompile("^(?:\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|" + // texts
		`[:#]?(?:[\w.+-]|\$\{[^}]*\})+|[{}\[\]<>,:])`)
	setTypes = map[string]bool{"SS": true, "NS": true, "BS": true}
)

// peek returns the next token, "" at the end.
func (p *parser) peek() string {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	return token.FindString(p.text[p.at:])
}

func (p *parser) take() string {
	t := p.peek()
	p.at += len(t)
	if p.i == "" {
		return t
	}
	return strings.ReplaceAll(t, "${i}", p.i)
}

func (p *parser) wrong(want string) error {
	p.peek()
	found := "the end"
	if p.at < len(p.text) {
		found = fmt.Sprintf("%.30q", p.text[p.at:])
	}
	return fmt.Errorf("found %s, expected %s", found, want)
}

// parse reads one value, to the end of the text.
func parse(text string) (node, error) {
	p := &parser{text: text}
	n, err := p.value()
	if err == nil {
		err = p.end()
	}
	return n, err
}

func (p *parser) end() error {
	if p.peek() != "" || p.at < len(p.text) {
		return p.wrong("the end of the value")
	}
	return nil
}

func (p *parser) value() (node, error) {
	t := p.peek()
	switch {
	case t == "{":
		return p.object()
	case t == "[":
		return p.elements("]")
	case t == "<":
		return p.elements(">")
	case slices.Contains([]string{"", "}", "]", ">", ",", ":"}, t):
		return node{}, p.wrong("a value")
	}
	t = p.take()
	if t[0] == '"' || t[0] == '`' {
		text, err := strconv.Unquote(t)
		return node{kind: '"', text: text}, err
	}
	next := byte(0)
	if p.at < len(p.text) {
		next = p.text[p.at]
	}
	if t == "N" && next == '"' || t == "B" && next == '"' || t == "NULL" && next == '"' || setTypes[t] && next == '<' {
		n, err := p.value()
		n.prefix = t
		return n, err
	}
	return node{kind: 'w', text: t}, nil
}

// separated reads elements up to the closing token.
func (p *parser) separated(closing string, element func() error) error {
	p.take()
	for first := true; p.peek() != closing; first = false {
		if !first && p.take() != "," {
			return p.wrong("a comma or " + closing)
		}
		if err := element(); err != nil {
			return err
		}
	}
	p.take()
	return nil
}

func (p *parser) object() (node, error) {
	n := node{kind: '{'}
	err := p.separated("}", func() error {
		key, err := p.value()
		if err != nil || key.kind != 'w' && key.kind != '"' {
			return errors.Join(err, p.wrong("a name before it"))
		}
		if p.peek() != ":" {
			return p.wrong("a colon after " + key.text)
		}
		p.take()
		v, err := p.value()
		n.keys, n.list = append(n.keys, key), append(n.list, v)
		return err
	})
	return n, err
}

// elements reads a list or a set. A run of elements is written "3 times X", or "1 to 3 X" with ${i} in X.
func (p *parser) elements(closing string) (node, error) {
	n := node{kind: p.text[p.at]}
	err := p.separated(closing, func() error {
		copies, err := p.run()
		n.list = append(n.list, copies...)
		return err
	})
	return n, err
}

func (p *parser) run() ([]node, error) {
	first, err := p.value()
	if err != nil || first.kind != 'w' {
		return []node{first}, err
	}
	from, to := 1, 0
	switch p.peek() {
	case "times":
		p.take()
		to, err = strconv.Atoi(first.text)
	case "to":
		p.take()
		var last node
		if last, err = p.value(); err == nil {
			from, err = strconv.Atoi(first.text)
		}
		if err == nil {
			to, err = strconv.Atoi(last.text)
		}
	default:
		return []node{first}, nil
	}
	if err != nil || to < from {
		return nil, p.wrong("how many elements there are")
	}
	width := 0
	if first.text[0] == '0' {
		width = len(first.text)
	}
	var all []node
	defer func(outer string) { p.i = outer }(p.i)
	for start, i := p.at, from; i <= to; i++ {
		p.at, p.i = start, fmt.Sprintf("%0*d", width, i)
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
