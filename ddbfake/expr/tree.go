package expr

import (
	"cmp"
	"maps"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// tree merges the paths of an expression. They passed clash, so a node is
// either the end of one path, or has only names, or only indexes below it.
type tree struct {
	write    *write // at the end of a path of an update
	end      bool
	children []branch // indexes ascending
}

type branch struct {
	element
	tree *tree
}

func (t *tree) insert(p []element, w *write) {
	for _, e := range p {
		t = t.child(e)
	}
	t.end, t.write = true, w
}

func (t *tree) child(e element) *tree {
	i := slices.IndexFunc(t.children, func(b branch) bool { return b.element == e })
	if i >= 0 {
		return t.children[i].tree
	}
	next := &tree{}
	t.children = append(t.children, branch{e, next})
	slices.SortStableFunc(t.children, func(a, b branch) int { return cmp.Compare(a.index, b.index) })
	return next
}

// project cuts a value down to the paths. Lists keep the order of the elements
// and close the gaps. A value of which nothing is left is nil.
func (t *tree) project(v attr.Value) attr.Value {
	if t.end {
		return v
	}
	if len(t.children) > 0 && t.children[0].isIndex {
		var out attr.L
		list, _ := v.(attr.L)
		for _, b := range t.children {
			if b.index >= len(list) {
				break
			}
			if e := b.tree.project(list[b.index]); e != nil {
				out = append(out, e)
			}
		}
		if out == nil {
			return nil
		}
		return out
	}
	m, _ := v.(attr.M)
	if out := t.projectMap(m); len(out) > 0 {
		return attr.M(out)
	}
	return nil
}

func (t *tree) projectMap(m map[string]attr.Value) map[string]attr.Value {
	out := make(map[string]attr.Value, len(t.children))
	for _, b := range t.children {
		v, ok := m[b.name]
		if !ok || b.isIndex {
			continue
		}
		if e := b.tree.project(v); e != nil {
			out[b.name] = e
		}
	}
	return out
}

var errInvalidPath = &Error{Message: "The document path provided in the update expression is invalid for update"}

// apply builds the value after the writes; nil removes it. Values that no
// path leads to are shared with the old one.
func (t *tree) apply(old attr.Value) (attr.Value, error) {
	if t.end {
		return t.write.apply(old)
	}
	if t.children[0].isIndex {
		list, ok := old.(attr.L)
		if !ok {
			return nil, errInvalidPath
		}
		return t.applyList(list)
	}
	m, ok := old.(attr.M)
	if !ok {
		return nil, errInvalidPath
	}
	out, err := t.applyMap(m)
	return attr.M(out), err
}

func (t *tree) applyMap(old map[string]attr.Value) (map[string]attr.Value, error) {
	out := make(map[string]attr.Value, len(old)+len(t.children))
	maps.Copy(out, old)
	for _, b := range t.children {
		v, err := b.tree.apply(old[b.name])
		if err != nil {
			return nil, err
		}
		if v == nil {
			delete(out, b.name)
		} else {
			out[b.name] = v
		}
	}
	return out, nil
}

// applyList takes every index as one of the old list: an element set past the
// end is appended, in the order of the indexes, and removals close their gaps
// last.
func (t *tree) applyList(old attr.L) (attr.L, error) {
	out := slices.Clone(old)
	for _, b := range t.children {
		if b.index < len(old) {
			v, err := b.tree.apply(old[b.index])
			if err != nil {
				return nil, err
			}
			out[b.index] = v
			continue
		}
		v, err := b.tree.apply(nil)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return slices.DeleteFunc(out, func(v attr.Value) bool { return v == nil }), nil
}
