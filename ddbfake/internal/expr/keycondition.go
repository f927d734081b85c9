package expr

import (
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// KeyCondition is a parsed KeyConditionExpression.
type KeyCondition struct {
	root condition
	uses
	built []term // the terms of a Builder, which need no Args; otherwise nil
}

// ParseKeyCondition parses a KeyConditionExpression. It accepts the whole language of conditions, of which CheckForm
// allows only a small part. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func ParseKeyCondition(src string) (*KeyCondition, error) {
	c, err := parseCondition(keyConditionLanguage, src, parse)
	if err != nil {
		return nil, err
	}
	return &KeyCondition{root: c.root, uses: c.uses}, nil
}

// String prints the key condition.
func (k *KeyCondition) String() string { return printNode(k.root) }

// Check finds the mistakes that a condition of any kind can have. CheckForm must follow, after the check that all names
// and values are used.
//
// Source: https://github.com/getmoto/moto/pull/9005 (unused names come before the form; seen at the service)
func (k *KeyCondition) Check(args Args) error {
	return k.root.check(checker{lang: keyConditionLanguage, args: args})
}

// CheckForm allows conditions joined by AND, each on one attribute, and refuses everything else. DynamoDB does so
// before it looks at the table. Bind checks the number of conditions, which depends on the table.
func (k *KeyCondition) CheckForm(args Args) error {
	_, err := appendTerms(nil, k.root, args)
	return err
}

// term is a condition on one attribute.
type term struct {
	attribute string
	// op is = < <= > >= BETWEEN or begins_with; for a Builder also "", an operator that no key condition can have.
	op     string
	values []attr.Value
}

func (k *KeyCondition) terms(args Args) ([]term, error) {
	if k.built != nil {
		return k.built, nil
	}
	if err := k.Check(args); err != nil {
		return nil, err
	}
	return appendTerms(nil, k.root, args)
}

func appendTerms(terms []term, n condition, args Args) ([]term, error) {
	switch n := n.(type) {
	case *logic:
		if n.op != "AND" {
			return nil, invalidOperator(n.op)
		}
		terms, err := appendTerms(terms, n.left, args)
		if err != nil {
			return nil, err
		}
		return appendTerms(terms, n.right, args)
	case *not:
		return nil, invalidOperator("NOT")
	case *in:
		return nil, invalidOperator("IN")
	case *between:
		return appendTerm(terms, "BETWEEN", args, n.x, n.low, n.high)
	case *comparison:
		if n.op == "<>" {
			return nil, invalidOperator(n.op)
		}
		if _, ok := n.left.(*placeholder); ok {
			return appendTerm(terms, mirrored[n.op], args, n.right, n.left)
		}
		return appendTerm(terms, n.op, args, n.left, n.right)
	case *call:
		if n.name != "begins_with" {
			return nil, invalidOperator(n.name)
		}
		return appendTerm(terms, n.name, args, n.args...)
	}
	return nil, plainError("Query key condition not supported")
}

func invalidOperator(op string) error {
	return plainError("Invalid operator used in KeyConditionExpression: %s", op)
}

// mirrored has, for each operator, the one with the same meaning when its operands are swapped.
var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// appendTerm appends a condition whose operands must be one attribute and otherwise constants.
func appendTerm(terms []term, op string, args Args, operands ...operand) ([]term, error) {
	t := term{op: op}
	found := false
	for i, x := range operands {
		switch x := x.(type) {
		case *path:
			if found {
				return nil, plainError(
					"Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
				)
			}
			if len(x.steps) > 1 {
				// Source: https://github.com/ExtendDB/extenddb/pull/195 (captured at the service)
				return nil, plainError("Invalid KeyConditionExpression: KeyConditionExpressions cannot have " +
					"conditions on nested attributes")
			}
			t.attribute, found = x.steps[0].attribute(args)
		case *placeholder:
			if i == 0 && (op == "BETWEEN" || op == "begins_with") {
				return nil, plainError("Invalid condition in KeyConditionExpression: %s operator must have the key "+
					"attribute as its first operand", op)
			}
			v, _ := args.value(x.key)
			t.values = append(t.values, v)
		default:
			return nil, plainError("KeyConditionExpressions cannot contain nested operations")
		}
	}
	if !found {
		return nil, plainError("Invalid condition in KeyConditionExpression: No key attribute specified")
	}
	for _, other := range terms {
		if other.attribute == t.attribute {
			return nil, plainError(
				"Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
			)
		}
	}
	return append(terms, t), nil
}

// Key is a key attribute of a table or index: its name and type. The zero Key stands for a missing sort key.
type Key struct {
	Name string
	Kind attr.Kind
}

// Bounds is the range that a Query reads: in the partition Hash, the sort keys from Low to High. A bound that is nil is
// open.
type Bounds struct {
	Hash                        attr.Value
	Low, High                   attr.Value
	LowExclusive, HighExclusive bool
}

// Contains reports whether a sort key lies within the bounds.
func (b Bounds) Contains(sort attr.Value) bool {
	if b.Low != nil {
		order, ok := attr.Compare(sort, b.Low)
		if !ok || order < 0 || order == 0 && b.LowExclusive {
			return false
		}
	}
	if b.High != nil {
		order, ok := attr.Compare(sort, b.High)
		if !ok || order > 0 || order == 0 && b.HighExclusive {
			return false
		}
	}
	return true
}

// Bind applies the condition to the keys of a table or index. With the service's texts it refuses a condition that
// lacks the partition key, tests it for anything but equality, tests an attribute outside the key, or has values of
// other types than the keys.
func (k *KeyCondition) Bind(args Args, hash, sort Key) (Bounds, error) {
	terms, err := k.terms(args)
	if err != nil {
		return Bounds{}, err
	}
	keys := 2
	if sort.Name == "" {
		keys = 1
	}
	if err := k.count(terms, keys); err != nil {
		return Bounds{}, err
	}
	t, err := find(terms, hash)
	if err != nil {
		return Bounds{}, err
	}
	if t.op != "=" {
		return Bounds{}, plainError("Query key condition not supported")
	}
	if err := t.refuseEmpty(); err != nil {
		return Bounds{}, err
	}
	b := Bounds{Hash: t.values[0]}
	if len(terms) == 1 {
		return b, nil
	}
	if sort.Name == "" {
		return Bounds{}, plainError("Query key condition not supported")
	}
	if t, err = find(terms, sort); err != nil {
		return Bounds{}, err
	}
	if err := t.refuseEmpty(); err != nil {
		return Bounds{}, err
	}
	b.sortBy(t)
	return b, nil
}

// count refuses more conditions than there are keys. Legacy conditions have another text.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/queryKeyConditionOperands.test.ts
func (k *KeyCondition) count(terms []term, keys int) error {
	switch {
	case len(terms) <= keys:
		return nil
	case k.built != nil && len(terms) > 2 && keys <= 2:
		return plainError("Conditions can be of length 1 or 2 only")
	case k.built != nil:
		return nil
	}
	return plainError("The number of query conditions (%d) exceeds the number of key attributes defined in the schema "+
		"(%d)", len(terms), keys)
}

func find(terms []term, key Key) (term, error) {
	i := slices.IndexFunc(terms, func(t term) bool { return t.attribute == key.Name })
	if i < 0 {
		return term{}, plainError("Query condition missed key schema element: %s", key.Name)
	}
	if terms[i].op == "" {
		// Source: https://github.com/architect/dynalite/blob/main/test/query.js
		return term{}, plainError("Attempted conditional constraint is not an indexable operation")
	}
	for _, v := range terms[i].values {
		if attr.KindOf(v) != key.Kind {
			return term{}, plainError(
				"One or more parameter values were invalid: Condition parameter type does not match schema type",
			)
		}
	}
	return terms[i], nil
}

// refuseEmpty refuses values that no key attribute can have.
func (t term) refuseEmpty() error {
	for _, v := range t.values {
		kind := ""
		switch v := v.(type) {
		case attr.S:
			if v == "" {
				kind = "string"
			}
		case attr.B:
			if len(v) == 0 {
				kind = "binary"
			}
		}
		if kind != "" {
			return plainError("One or more parameter values are not valid. The AttributeValue for a key attribute "+
				"cannot contain an empty %s value. Key: %s", kind, t.attribute)
		}
	}
	return nil
}

func (b *Bounds) sortBy(t term) {
	v := t.values[0]
	switch t.op {
	case "=":
		b.Low, b.High = v, v
	case "<":
		b.High, b.HighExclusive = v, true
	case "<=":
		b.High = v
	case ">":
		b.Low, b.LowExclusive = v, true
	case ">=":
		b.Low = v
	case "BETWEEN":
		b.Low, b.High = v, t.values[1]
	case "begins_with":
		b.Low, b.High, b.HighExclusive = v, afterPrefix(v), true
	}
}

// afterPrefix returns the first value after all values with this prefix; nil if there is none. (The bytes of an S may
// then not be UTF-8, which does not matter: the value is only compared.)
func afterPrefix(v attr.Value) attr.Value {
	switch v := v.(type) {
	case attr.S:
		if next := successor([]byte(v)); next != nil {
			return attr.S(next)
		}
	case attr.B:
		if next := successor(slices.Clone(v)); next != nil {
			return attr.B(next)
		}
	}
	return nil
}

func successor(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xFF {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// IndexCondition is a key condition on a secondary index. It differs from the key condition on a table, because the key
// of a global index may have up to four attributes for its partition and up to four for its order, each with its own
// condition.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
type IndexCondition struct{ *KeyCondition }

// IndexBounds is the range that a Query on an index reads: in the partition Hash, the rows whose sort attributes begin
// with Prefix, and whose next sort attribute lies within the bounds. Bounds.Hash is not used.
type IndexBounds struct {
	Hash   []attr.Value
	Prefix []attr.Value
	Bounds
}

// Bind applies the condition to the key of an index. The condition must test all partition attributes by equality. It
// may test any number of the sort attributes, from the left, all except the last by equality. A condition that does not
// fit is refused with the service's texts.
func (k IndexCondition) Bind(args Args, hash, sort []Key) (IndexBounds, error) {
	terms, err := k.terms(args)
	if err != nil {
		return IndexBounds{}, err
	}
	if err := k.count(terms, len(hash)+len(sort)); err != nil {
		return IndexBounds{}, err
	}
	if len(hash) == 1 && len(sort) <= 1 {
		err = checkPlain(terms, hash[0], sort)
	} else {
		err = checkMany(terms, hash, sort)
	}
	if err != nil {
		return IndexBounds{}, err
	}
	var b IndexBounds
	for _, key := range hash {
		t, err := find(terms, key)
		if err != nil {
			return IndexBounds{}, err
		}
		if err := t.refuseEmpty(); err != nil {
			return IndexBounds{}, err
		}
		b.Hash = append(b.Hash, t.values[0])
	}
	conditioned := len(terms) - len(hash)
	for i, key := range sort[:min(conditioned, len(sort))] {
		t, err := find(terms, key)
		if err != nil {
			return IndexBounds{}, err
		}
		if err := t.refuseEmpty(); err != nil {
			return IndexBounds{}, err
		}
		if i < conditioned-1 {
			b.Prefix = append(b.Prefix, t.values[0])
		} else {
			b.sortBy(t)
		}
	}
	return b, nil
}

// checkPlain checks the conditions on a key of the same form as a table's, as for a table.
func checkPlain(terms []term, hash Key, sort []Key) error {
	t, err := find(terms, hash)
	switch {
	case err != nil:
		return err
	case t.op != "=", len(terms) > 1 && len(sort) == 0:
		return plainError("Query key condition not supported")
	case len(terms) > 1:
		_, err = find(terms, sort[0])
	}
	return err
}

// checkMany checks the conditions on a key of several attributes. AWS does not document what happens to a condition on
// an attribute outside the key: here it is refused, as on a table.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier1/query/multiAttributeGsiKey.test.ts
func checkMany(terms []term, hash, sort []Key) error {
	equal := func(key Key) bool {
		return slices.ContainsFunc(terms, func(t term) bool { return t.attribute == key.Name && t.op == "=" })
	}
	present := func(key Key) bool {
		return slices.ContainsFunc(terms, func(t term) bool { return t.attribute == key.Name })
	}
	if names := namesOf(hash, equal); names != "" {
		return plainError("HASH key attributes %s must have equality conditions specified in the query", names)
	}
	last := -1
	found := len(hash)
	for i, key := range sort {
		if present(key) {
			last = i
			found++
		}
	}
	if last > 0 {
		if names := namesOf(sort[:last], equal); names != "" {
			return plainError("RANGE key attributes %s must have equality conditions specified in the query "+
				"because a condition is present on key attribute %s", names, sort[last].Name)
		}
	}
	switch {
	case len(terms) == found:
		return nil
	case last+1 < len(sort):
		return plainError("Query condition missed key schema element: %s", sort[last+1].Name)
	}
	return plainError("Query key condition not supported")
}

// namesOf lists the names of the keys for which are returns false.
func namesOf(keys []Key, are func(Key) bool) string {
	var names []string
	for _, key := range keys {
		if !are(key) {
			names = append(names, key.Name)
		}
	}
	return strings.Join(names, ", ")
}
