package partiql

import (
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// maxReads is the maximum number of partitions and ranges that a SELECT may read.
//
// Source:
// https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLEdgeCaseIntegrationTest.java
const maxReads = 50

// maxBranches bounds the work on a WHERE. With more branches, it is refused for too many reads.
const maxBranches = 4096

var errTooManyReads = &Error{"Too many decomposed read operations for a given query."}

// Equal is a part of a WHERE: an attribute must have a certain value.
type Equal struct {
	Attribute string
	Value     attr.Value
}

// Equalities returns the conditions of a WHERE that fix attributes, and the number of all its conditions. It counts
// only conditions joined by AND, all of which must hold.
func (b *Bound) Equalities() (equal []Equal, conditions int) {
	for _, n := range conjuncts(nil, b.where) {
		conditions++
		if t := b.test1(n); t != nil && t.Operator == "EQ" {
			equal = append(equal, Equal{t.Attribute, t.Values[0]})
		}
	}
	return equal, conditions
}

// conjuncts appends the conditions that AND joins.
func conjuncts(to []Node, n Node) []Node {
	switch and, ok := n.(*binary); {
	case n == nil:
		return to
	case ok && and.op == "and":
		return conjuncts(conjuncts(to, and.left), and.right)
	}
	return append(to, n)
}

// Branch is one way to make a WHERE true.
type Branch struct {
	// Hash is the value that the branch gives the partition key; nil if it gives none.
	Hash attr.Value
	// Sort is the branch's condition on the sort key; nil if it has none that a Query can have.
	Sort *expr.Test
	// Others are the attributes in all other conditions of the branch, without repetitions, in the order of the source.
	Others []string
	// Only is true if there are no other conditions.
	Only bool

	never   bool // it gives the partition key two values
	negates bool // it has a condition on the sort key that a Query cannot have
	tests   []*expr.Test
}

// Branches splits a WHERE by its conditions on a key. If keyed is true, each branch gives the partition key a value,
// and the statement reads these partitions; otherwise it reads the whole table. Branches that can never be true are
// omitted.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.select.html
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier2/partiql/whereOverlap.test.ts
func (b *Bound) Branches(hash, sort expr.Key) (branches []Branch, keyed bool, err error) {
	if b.where == nil {
		return nil, false, nil
	}
	k := keyFinder{b, hash.Name, sort.Name}
	all, ok := k.branches(b.where)
	if !ok {
		return nil, false, errTooManyReads
	}
	for i := range all {
		if all[i].Hash == nil || all[i].negates && len(all) > 1 {
			return nil, false, nil
		}
	}
	if len(all) > maxReads {
		return nil, true, errTooManyReads
	}
	return slices.DeleteFunc(all, func(b Branch) bool { return b.never }), true, nil
}

// KeyKinds refuses values of other types than the key attributes.
func (b *Bound) KeyKinds(branches []Branch, hash, sort expr.Key) error {
	for i := range branches {
		for _, t := range branches[i].tests {
			key := hash
			if t.Attribute == sort.Name {
				key = sort
			}
			for _, v := range t.Values {
				if attr.KindOf(v) != key.Kind {
					return refuse("Key attribute's data type should match its data type in table's schema: Key %s",
						key.Name)
				}
			}
		}
	}
	return nil
}

// OneSort reports whether the branch fixes the sort key to one value.
func (b Branch) OneSort() bool { return b.Sort != nil && b.Sort.Operator == "EQ" }

// SameSort reports whether two branches have the same condition on the sort key.
func (b Branch) SameSort(c Branch) bool {
	return b.Sort == nil && c.Sort == nil || b.Sort != nil && c.Sort != nil && sameTest(b.Sort, c.Sort)
}

// keyFinder looks for conditions on a key.
type keyFinder struct {
	*Bound
	hash, sort string // sort is "" if there is none
}

// branches returns the branches of a condition; false if there are too many.
func (k *keyFinder) branches(n Node) ([]Branch, bool) {
	logic, ok := n.(*binary)
	switch {
	case ok && logic.op == "and":
		left, ok := k.branches(logic.left)
		right, also := k.branches(logic.right)
		if !ok || !also || len(left)*len(right) > maxBranches {
			return nil, false
		}
		var all []Branch
		for _, l := range left {
			for _, r := range right {
				all = append(all, both(l, r))
			}
		}
		return all, true
	case ok && logic.op == "or" && k.about(n):
		left, ok := k.branches(logic.left)
		right, also := k.branches(logic.right)
		return append(left, right...), ok && also && len(left)+len(right) <= maxBranches
	}
	if tests := k.tests(n); tests != nil {
		all := make([]Branch, len(tests))
		for i := range tests {
			t := &tests[i]
			all[i] = Branch{Only: true, tests: []*expr.Test{t}}
			if t.Attribute == k.hash {
				all[i].Hash = t.Values[0]
			} else {
				all[i].Sort = t
			}
		}
		return all, true
	}
	others := namesIn(nil, n)
	return []Branch{{Others: others, negates: k.sort != "" && slices.Contains(others, k.sort)}}, true
}

// both returns the branch in which the conditions of two branches hold.
func both(l, r Branch) Branch {
	b := Branch{
		Hash: l.Hash, Sort: l.Sort, Others: slices.Clone(l.Others), Only: l.Only && r.Only,
		never: l.never || r.never, negates: l.negates || r.negates, tests: slices.Concat(l.tests, r.tests),
	}
	switch {
	case b.Hash == nil:
		b.Hash = r.Hash
	case r.Hash != nil && !attr.Equal(b.Hash, r.Hash):
		b.never, b.Only = true, false
	}
	switch {
	case b.Sort == nil:
		b.Sort = r.Sort
	case r.Sort != nil && !sameTest(b.Sort, r.Sort):
		b.Only = false
	}
	for _, name := range r.Others {
		if !slices.Contains(b.Others, name) {
			b.Others = append(b.Others, name)
		}
	}
	return b
}

func sameTest(a, b *expr.Test) bool {
	return a.Operator == b.Operator && slices.EqualFunc(a.Values, b.Values, attr.Equal)
}

// about reports whether a condition has a part on the key that a Query can have.
func (k *keyFinder) about(n Node) bool {
	if logic, ok := n.(*binary); ok && (logic.op == "and" || logic.op == "or") {
		return k.about(logic.left) || k.about(logic.right)
	}
	return k.tests(n) != nil
}

// tests returns the tests of the key in a condition: one test, or one for each element of IN; nil if a Query cannot
// have them.
func (k *keyFinder) tests(n Node) []expr.Test {
	var tests []expr.Test
	if in, ok := n.(*binary); ok && in.op == "in" && !in.not {
		name, named := attribute(in.left)
		list, ok := in.right.(*collection)
		if !named || !ok {
			return nil
		}
		for _, e := range list.elements {
			v, err := k.constant(e)
			if err != nil || v == nil {
				return nil
			}
			tests = append(tests, expr.Test{Attribute: name, Operator: "EQ", Values: []attr.Value{v}})
		}
	} else if t := k.test1(n); t != nil {
		tests = []expr.Test{*t}
	}
	switch {
	case tests == nil:
		return nil
	case tests[0].Attribute == k.hash && tests[0].Operator == "EQ":
		return tests
	case k.sort != "" && tests[0].Attribute == k.sort:
		return tests
	}
	return nil
}

// comparisons translates the operators of conditions on keys: the first for an attribute on the left, the second for
// one on the right.
var comparisons = map[string][2]string{
	"=": {"EQ", "EQ"}, "<": {"LT", "GT"}, "<=": {"LE", "GE"}, ">": {"GT", "LT"}, ">=": {"GE", "LE"},
}

// test1 returns a condition on one attribute in the form of a Query; nil if a Query cannot have it.
func (b *Bound) test1(n Node) *expr.Test {
	t := &expr.Test{}
	var x Node
	var values []Node
	switch n := n.(type) {
	case *binary:
		operators, ok := comparisons[n.op]
		if !ok {
			return nil
		}
		x, values, t.Operator = n.left, []Node{n.right}, operators[0]
		if _, ok := attribute(x); !ok {
			x, values, t.Operator = n.right, []Node{n.left}, operators[1]
		}
	case *between:
		if n.not {
			return nil
		}
		x, values, t.Operator = n.x, []Node{n.low, n.high}, "BETWEEN"
	case *call:
		if n.function != "begins_with" || len(n.args) != 2 {
			return nil
		}
		x, values, t.Operator = n.args[0], n.args[1:], "BEGINS_WITH"
	default:
		return nil
	}
	name, ok := attribute(x)
	if !ok {
		return nil
	}
	t.Attribute = name
	for _, n := range values {
		v, err := b.constant(n)
		if err != nil || v == nil {
			return nil
		}
		t.Values = append(t.Values, v)
	}
	return t
}

// namesIn appends the attributes that a condition names, without repetitions.
func namesIn(names []string, n Node) []string {
	switch n := n.(type) {
	case *path:
		if name := n.steps[0].name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	case *unary:
		return namesIn(names, n.x)
	case *binary:
		return namesIn(namesIn(names, n.left), n.right)
	case *between:
		return namesIn(namesIn(namesIn(names, n.x), n.low), n.high)
	case *isType:
		return namesIn(names, n.x)
	case *call:
		for _, x := range n.args {
			names = namesIn(names, x)
		}
	case *collection:
		for _, x := range n.elements {
			names = namesIn(names, x)
		}
	}
	return names
}

// Order is one key of ORDER BY.
type Order struct {
	Attribute  string
	Descending bool
}

// Order returns the keys of ORDER BY. It refuses keys that are not attributes.
func (b *Bound) Order() ([]Order, error) {
	var all []Order
	for _, o := range b.order {
		name, ok := attribute(o.by)
		if !ok {
			return nil, refuse("Unexpected path component at %s", o.by.place())
		}
		all = append(all, Order{name, o.descending})
	}
	return all, nil
}

// Filters reports whether there is a WHERE.
func (b *Bound) Filters() bool { return b.where != nil }
