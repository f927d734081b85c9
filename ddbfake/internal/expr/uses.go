package expr

import "slices"

// uses are the names and values that an expression mentions.
type uses struct{ names, values []string }

func usesOf(src string) (u uses) {
	l := lexer{src: src}
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		switch t.kind {
		case tokName:
			u.names = appendOnce(u.names, t.text)
		case tokValue:
			u.values = appendOnce(u.values, t.text)
		}
	}
	return u
}

func appendOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// names collects the top-level attributes that nodes refer to.
type names []string

func (out *names) path(p *path, args Args) {
	if name, ok := p.steps[0].attribute(args); ok {
		*out = appendOnce(*out, name)
	}
}

func (out *names) node(n node, args Args) {
	eachPath(n, func(p *path) { out.path(p, args) })
}

// nested collects the beginnings of those paths that lead into an attribute.
type nested []step

func (out *nested) node(n node) {
	eachPath(n, func(p *path) {
		if len(p.steps) > 1 {
			*out = append(*out, p.steps[0])
		}
	})
}

// attributes returns the names of what the paths lead into, each once.
func (out nested) attributes(args Args) (all []string) {
	for _, s := range out {
		if name, ok := s.attribute(args); ok {
			all = appendOnce(all, name)
		}
	}
	return all
}

// eachPath calls f with the paths below a node, as they occur.
func eachPath(n node, f func(*path)) {
	switch n := n.(type) {
	case *path:
		f(n)
	case *call:
		for _, x := range n.args {
			eachPath(x, f)
		}
	case *arithmetic:
		eachPath(n.left, f)
		eachPath(n.right, f)
	case *comparison:
		eachPath(n.left, f)
		eachPath(n.right, f)
	case *between:
		eachPath(n.x, f)
		eachPath(n.low, f)
		eachPath(n.high, f)
	case *in:
		eachPath(n.x, f)
		for _, x := range n.list {
			eachPath(x, f)
		}
	case *logic:
		eachPath(n.left, f)
		eachPath(n.right, f)
	case *not:
		eachPath(n.x, f)
	}
}
