package expr

import (
	"errors"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Update is a parsed UpdateExpression.
type Update struct {
	actions []*action
	targets []*path // the paths of the actions
	uses
	nested nested

	// mismatch, if set, is the error for an operand of the wrong type.
	mismatch *Error
}

// action is one element of a section.
type action struct {
	op      tokenKind // tokSet, tokRemove, tokAdd or tokDelete
	target  *path
	operand operand // nil for REMOVE
	opens   bool    // the first of its section
}

// ParseUpdate parses an UpdateExpression. The error is an [*Error].
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
func ParseUpdate(src string) (*Update, error) { return parseUpdate(src, parse) }

func parseUpdate(src string, read reading) (*Update, error) {
	u := &Update{}
	err := read(updateLanguage, src, func(p *parser) []reviewed {
		u.actions = p.update()
		nodes := make([]reviewed, len(u.actions))
		for i, a := range u.actions {
			nodes[i] = a
			u.targets = append(u.targets, a.target)
		}
		return nodes
	})
	if err != nil {
		return nil, err
	}
	u.uses = usesOf(src)
	for _, a := range u.actions {
		u.nested.node(a.target)
		if a.operand != nil {
			u.nested.node(a.operand)
		}
	}
	return u, nil
}

func (a *action) section() string {
	switch a.op {
	case tokSet:
		return "SET"
	case tokRemove:
		return "REMOVE"
	case tokAdd:
		return "ADD"
	}
	return "DELETE"
}

func (a *action) print(b *strings.Builder) {
	a.target.print(b)
	if a.op == tokSet {
		b.WriteString(" =")
	}
	if a.operand != nil {
		b.WriteByte(' ')
		a.operand.print(b)
	}
}

// String prints the update.
func (u *Update) String() string {
	var b strings.Builder
	for i, a := range u.actions {
		switch {
		case a.opens && i > 0:
			b.WriteString(" " + a.section() + " ")
		case a.opens:
			b.WriteString(a.section() + " ")
		default:
			b.WriteString(", ")
		}
		a.print(&b)
	}
	return b.String()
}

// Attributes returns the top-level names that the update writes, without repetitions, in the order of the source.
func (u *Update) Attributes(args Args) []string {
	var out names
	for _, a := range u.actions {
		out.path(a.target, args)
	}
	return out
}

// Writing returns the first top-level name that the update writes and for which the parameter is returns true, or "".
// (No key attribute may be among them.)
func (u *Update) Writing(args Args, is func(name string) bool) string {
	for _, a := range u.actions {
		if name, ok := a.target.steps[0].attribute(args); ok && is(name) {
			return name
		}
	}
	return ""
}

// Written is the new type of a top-level attribute, if the update alone shows it.
type Written struct {
	Name string
	Kind attr.Kind
}

// Writes returns the top-level attributes whose new type the update shows, in the order of the source: attributes that
// SET sets to a constant or a sum, and targets of ADD.
func (u *Update) Writes(args Args) []Written {
	c := checker{lang: updateLanguage, args: args}
	var all []Written
	for _, a := range u.actions {
		if len(a.target.steps) > 1 || a.op != tokSet && a.op != tokAdd {
			continue
		}
		kind := c.kind(a.operand)
		if _, ok := a.operand.(*arithmetic); ok {
			kind = "N"
		}
		if name, ok := a.target.steps[0].attribute(args); ok && kind != "" {
			all = append(all, Written{name, kind})
		}
	}
	return all
}

// Nested returns the top-level names of the attributes whose inner values the update names, without repetitions, in the
// order of the source. (No key attribute may be among them.)
func (u *Update) Nested(args Args) []string { return u.nested.attributes(args) }

// CreatesNothing reports whether the update creates no item where it is missing: it has only REMOVE and DELETE
// sections.
func (u *Update) CreatesNothing() bool {
	for _, a := range u.actions {
		if a.op == tokSet || a.op == tokAdd {
			return false
		}
	}
	return true
}

// OnlyREMOVE reports whether there is only a REMOVE section.
func (u *Update) OnlyREMOVE() bool {
	return !slices.ContainsFunc(u.actions, func(a *action) bool { return a.op != tokRemove })
}

// Check finds the mistakes that DynamoDB refuses before it looks at any item. The service goes through an update from
// its end: first the targets, then the operands. This order decides which of several errors it reports, so Check does
// the same.
func (u *Update) Check(args Args) error {
	c := checker{lang: updateLanguage, args: args}
	if err := checkAll(c, u.targets); err != nil {
		return err
	}
	for _, a := range slices.Backward(u.actions) {
		if a.operand == nil {
			continue
		}
		if err := a.operand.check(c); err != nil {
			return err
		}
		if err := a.checkOperand(c); err != nil {
			return err
		}
	}
	return nil
}

// checkOperand refuses types that ADD and DELETE cannot take.
func (a *action) checkOperand(c checker) error {
	if a.op != tokAdd && a.op != tokDelete {
		return nil
	}
	k := attr.KindOf(c.constant(a.operand))
	if IsSet(k) || a.op == tokAdd && k == "N" {
		return nil
	}
	return c.lang.errorf("Incorrect operand type for operator or function; operator: %[1]s, operand type: %[2]s, "+
		"typeSet: ALLOWED_FOR_%[1]s_OPERAND", a.section(), longKind[k])
}

// IsSet reports whether values of the type are sets.
func IsSet(k attr.Kind) bool { return k == "SS" || k == "NS" || k == "BS" }

// longKind has the names of types for messages about ADD and DELETE.
var longKind = map[attr.Kind]string{
	"S": "STRING", "N": "NUMBER", "B": "BINARY",
	"BOOL": "BOOLEAN", "NULL": "NULL", "M": "MAP", "L": "LIST",
}

// Apply returns the item after the update. Old, which may be nil for a missing item, does not change; the result shares
// the values that the update does not touch, and is never nil. Apply does not know the key: for a missing item, pass
// the key's attributes as old.
//
// All operands are read from the old item: "SET a = b, b = a" swaps. Errors have the service's texts: missing operands
// or operands of the wrong type, paths that lead nowhere, numbers out of range, documents nested too deep.
func (u *Update) Apply(old attr.Item, args Args) (attr.Item, error) {
	record := packed.Of(old)
	after, err := u.ApplyRecord(&record, args)
	if err != nil {
		return nil, err
	}
	return after.Item(), nil
}

// ApplyRecord is [Update.Apply] to a record.
func (u *Update) ApplyRecord(old *packed.Record, args Args) (packed.Record, error) {
	var few [fewActions]attr.Value
	results, flat, err := u.evaluate(few[:0], old, args)
	if err != nil {
		return packed.Record{}, err
	}
	if flat {
		return u.applyFlat(old, args, results), nil
	}
	t, err := treeOf(updateLanguage, u.targets, args, func(i int) attr.Value { return results[i] })
	if err != nil {
		return packed.Record{}, err
	}
	return packed.Of(t.applyMap(old.Item())), nil
}

// fewActions: nearly every update has at most this many actions. Memory for that many is on the stack while an update
// is applied.
const fewActions = 8

// evaluate appends each action's new value for its target. The update is flat if it writes only top-level attributes.
func (u *Update) evaluate(
	results []attr.Value, old packed.Attributes, args Args,
) (_ []attr.Value, flat bool, err error) {
	// All targets are read before any operand, as in DynamoDB Local 3.3.1. This order decides which of two errors is
	// reported.
	results = append(results, make([]attr.Value, len(u.actions))...)
	flat = true
	for i, a := range slices.Backward(u.actions) {
		if results[i], err = a.before(old, args); err != nil {
			return nil, false, err
		}
		flat = flat && len(a.target.steps) == 1
	}
	for i, a := range slices.Backward(u.actions) {
		if results[i], err = a.evaluate(results[i], old, args); err != nil {
			return nil, false, u.worded(err)
		}
	}
	return results, flat, nil
}

// worded returns the error with the text for this kind of update: mismatch, if it is a type error.
func (u *Update) worded(err error) error {
	if u.mismatch != nil && errors.Is(err, errOperandType) {
		return u.mismatch
	}
	return err
}

// applyFlat applies an update that writes only top-level attributes, which is the usual case.
func (u *Update) applyFlat(old *packed.Record, args Args, results []attr.Value) packed.Record {
	var few [fewActions]string
	names := few[:0]
	for _, p := range u.targets {
		name, _ := p.steps[0].attribute(args)
		names = append(names, name)
	}
	return old.With(names, results)
}

// Touched cuts an item down to those paths that the update writes and the item has: the old item for UPDATED_OLD, the
// new one for UPDATED_NEW. It returns nil if nothing is left.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html#DDB-UpdateItem-request-ReturnValues
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_returnvalues.py (nested paths, run on
// AWS)
func (u *Update) Touched(item attr.Item, args Args) attr.Item {
	t, err := treeOf(updateLanguage, u.targets, args, noResult)
	if err != nil {
		return nil // Check has refused it
	}
	if out := t.projectMap(item); len(out) > 0 {
		return out
	}
	return nil
}
