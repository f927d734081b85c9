package expr

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

var (
	errNoOperand    = &Error{Message: "The provided expression refers to an attribute that does not exist in the item"}
	errOperandType  = &Error{Message: "An operand in the update expression has an incorrect data type"}
	errNestedTooFar = &Error{Message: "Nesting Levels have exceeded supported limits"}
)

// write is an action whose operand is evaluated.
type write struct {
	op    tokenKind
	value attr.Value
}

func (a *action) evaluate(old attr.Item, args Args) (write, error) {
	w := write{op: a.op}
	if a.operand == nil {
		return w, nil
	}
	v, err := present(a.operand, old, args)
	if err != nil {
		return w, err
	}
	if depth := len(a.target.steps) - 1; depth+attr.Depth(v) > attr.MaxDepth {
		return w, errNestedTooFar
	}
	w.value = v
	return w, nil
}

// apply returns the value after the write; nil is no value, before and after.
func (w *write) apply(old attr.Value) (attr.Value, error) {
	switch w.op {
	case tokSet:
		return w.value, nil
	case tokRemove:
		return nil, nil
	case tokAdd:
		return add(old, w.value)
	}
	return subtract(old, w.value)
}

// add is ADD: a sum, or a union of sets; to a missing attribute it is SET.
func add(old, v attr.Value) (attr.Value, error) {
	if old == nil {
		return v, nil
	}
	switch v := v.(type) {
	case attr.N:
		if n, ok := old.(attr.N); ok {
			return sum(n, v)
		}
	case attr.SS:
		if set, ok := old.(attr.SS); ok {
			return attr.SS(union(set, v, cmp.Compare)), nil
		}
	case attr.NS:
		if set, ok := old.(attr.NS); ok {
			return attr.NS(union(set, v, attr.Number.Cmp)), nil
		}
	case attr.BS:
		if set, ok := old.(attr.BS); ok {
			return attr.BS(union(set, v, bytes.Compare)), nil
		}
	}
	return nil, errOperandType
}

// subtract is DELETE: a difference of sets. A set that becomes empty goes.
func subtract(old, v attr.Value) (attr.Value, error) {
	switch v := v.(type) {
	case attr.SS:
		if set, ok := old.(attr.SS); ok {
			if rest := difference(set, v, cmp.Compare); len(rest) > 0 {
				return attr.SS(rest), nil
			}
			return nil, nil
		}
	case attr.NS:
		if set, ok := old.(attr.NS); ok {
			if rest := difference(set, v, attr.Number.Cmp); len(rest) > 0 {
				return attr.NS(rest), nil
			}
			return nil, nil
		}
	case attr.BS:
		if set, ok := old.(attr.BS); ok {
			if rest := difference(set, v, bytes.Compare); len(rest) > 0 {
				return attr.BS(rest), nil
			}
			return nil, nil
		}
	}
	if old == nil {
		return nil, nil
	}
	return nil, errOperandType
}

func union[S ~[]E, E any](a, b S, order func(E, E) int) S {
	out := slices.Concat(a, b)
	slices.SortFunc(out, order)
	return slices.CompactFunc(out, func(x, y E) bool { return order(x, y) == 0 })
}

func difference[S ~[]E, E any](a, b S, order func(E, E) int) S {
	var out S
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y E) bool { return order(x, y) == 0 }) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, order)
	return out
}

// present evaluates an operand that must exist.
func present(x operand, item attr.Item, args Args) (attr.Value, error) {
	v, err := x.value(item, args)
	if err == nil && v == nil {
		err = errNoOperand
	}
	return v, err
}

func (n *arithmetic) value(item attr.Item, args Args) (attr.Value, error) {
	left, err := present(n.left, item, args)
	if err != nil {
		return nil, err
	}
	right, err := present(n.right, item, args)
	if err != nil {
		return nil, err
	}
	a, ok := left.(attr.N)
	b, also := right.(attr.N)
	if !ok || !also {
		return nil, errOperandType
	}
	if n.op == "-" {
		b = attr.N{Number: b.Neg()}
	}
	return sum(a, b)
}

func sum(a, b attr.N) (attr.Value, error) {
	n, err := a.Add(b.Number)
	if err != nil {
		return nil, err
	}
	return attr.N{Number: n}, nil
}

func listAppend(args []operand, item attr.Item, given Args) (attr.Value, error) {
	var out attr.L
	for _, x := range args {
		v, err := present(x, item, given)
		if err != nil {
			return nil, err
		}
		list, ok := v.(attr.L)
		if !ok {
			return nil, errOperandType
		}
		out = append(out, list...)
	}
	if out == nil {
		out = attr.L{}
	}
	return out, nil
}
