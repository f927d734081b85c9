package expr

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

var (
	errNoOperand    = &Error{Message: "The provided expression refers to an attribute that does not exist in the item"}
	errInvalidPath  = &Error{Message: "The document path provided in the update expression is invalid for update"}
	errOperandType  = &Error{Message: "An operand in the update expression has an incorrect data type"}
	errNestedTooFar = &Error{Message: "Nesting Levels have exceeded supported limits"}
)

// evaluate returns the target's new value; nil removes the target. before is its present value. old does not change.
func (a *action) evaluate(before attr.Value, old packed.Attributes, args Args) (attr.Value, error) {
	var operand attr.Value
	var err error
	if a.operand != nil {
		if operand, err = present(a.operand, old, args); err != nil {
			return nil, err
		}
	}
	after := operand
	switch a.op {
	case tokAdd:
		after, err = add(before, operand)
	case tokDelete:
		after, err = subtract(before, operand)
	}
	if err != nil {
		return nil, err
	}
	if len(a.target.steps)-1+depth(after) > attr.MaxDepth {
		return nil, errNestedTooFar
	}
	return after, nil
}

// before returns the target's old value, or nil. Its container must exist: a map, or a list for an index.
func (a *action) before(old packed.Attributes, args Args) (attr.Value, error) {
	steps := a.target.steps
	for i, s := range steps[1:] {
		parent := path{steps: steps[:i+1]}
		holder, err := parent.value(old, args)
		if err != nil {
			return nil, err
		}
		_, isMap := holder.(attr.M)
		_, isList := holder.(attr.L)
		if s.isIndex() && !isList || !s.isIndex() && !isMap {
			return nil, errInvalidPath
		}
	}
	return a.target.value(old, args)
}

// add is ADD: a sum, or a union of sets; for a missing attribute it acts like SET.
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
			return union(set, v, cmp.Compare), nil
		}
	case attr.NS:
		if set, ok := old.(attr.NS); ok {
			return union(set, v, attr.Number.Cmp), nil
		}
	case attr.BS:
		if set, ok := old.(attr.BS); ok {
			return union(set, v, bytes.Compare), nil
		}
	}
	return nil, errOperandType
}

// subtract is DELETE: a difference of sets. An empty result removes the attribute.
func subtract(old, v attr.Value) (attr.Value, error) {
	switch v := v.(type) {
	case attr.SS:
		if set, ok := old.(attr.SS); ok {
			if rest := difference(set, v, cmp.Compare); len(rest) > 0 {
				return rest, nil
			}
			return nil, nil
		}
	case attr.NS:
		if set, ok := old.(attr.NS); ok {
			if rest := difference(set, v, attr.Number.Cmp); len(rest) > 0 {
				return rest, nil
			}
			return nil, nil
		}
	case attr.BS:
		if set, ok := old.(attr.BS); ok {
			if rest := difference(set, v, bytes.Compare); len(rest) > 0 {
				return rest, nil
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
func present(x operand, item packed.Attributes, args Args) (attr.Value, error) {
	v, err := x.value(item, args)
	if err == nil && v == nil {
		err = errNoOperand
	}
	return v, err
}

func (n *arithmetic) value(item packed.Attributes, args Args) (attr.Value, error) {
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

func listAppend(args []operand, item packed.Attributes, given Args) (attr.Value, error) {
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

// depth counts the levels of a value: 1 for a scalar or set, and 1 more than the deepest element for a list or map.
func depth(v attr.Value) int {
	deepest := 0
	switch v := v.(type) {
	case attr.M:
		//isrsim:unordered a maximum has no order
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	case attr.L:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	}
	return deepest + 1
}
