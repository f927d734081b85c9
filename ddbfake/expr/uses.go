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
	switch n := n.(type) {
	case *path:
		out.path(n, args)
	case *call:
		for _, x := range n.args {
			out.node(x, args)
		}
	case *comparison:
		out.node(n.left, args)
		out.node(n.right, args)
	case *between:
		out.node(n.x, args)
		out.node(n.low, args)
		out.node(n.high, args)
	case *in:
		out.node(n.x, args)
		for _, x := range n.list {
			out.node(x, args)
		}
	case *logic:
		out.node(n.left, args)
		out.node(n.right, args)
	case *not:
		out.node(n.x, args)
	}
}
