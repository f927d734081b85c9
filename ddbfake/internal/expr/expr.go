package expr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Args are the names and values that a request gives to its expressions.
type Args struct {
	Names  map[string]string     // ExpressionAttributeNames: "#a" to an attribute's name
	Values map[string]attr.Value // ExpressionAttributeValues: ":v" to a value

	// Bound, if it is not nil, replaces Names and Values, which are then nil.
	Bound *Bindings
}

// Expression has the methods that the four languages share.
type Expression interface {
	// String prints the expression as a source that parses to the same expression.
	String() string
	// Check finds the mistakes that DynamoDB refuses before it looks at any item: undefined names and values, operands
	// of the wrong type, paths that overlap. The error is an [*Error].
	Check(Args) error
	// Names returns the "#a" in the expression, without repetitions, as they occur.
	Names() []string
	// Values returns the ":v" in the expression, without repetitions, as they occur.
	Values() []string
	// judgesTypes reports whether Check looks at nothing of a value but its type.
	judgesTypes() bool
}

// Error is an expression that DynamoDB refuses.
type Error struct {
	// Parameter is the request's parameter, such as "ConditionExpression", or "" if the service's text does not begin
	// with it.
	Parameter string
	Message   string
}

// Error returns the message of the service's ValidationException.
func (e *Error) Error() string {
	if e.Parameter == "" {
		return e.Message
	}
	return "Invalid " + e.Parameter + ": " + e.Message
}

func plainError(format string, a ...any) error { return &Error{Message: fmt.Sprintf(format, a...)} }

// language is the request parameter that an expression came in.
type language string

const (
	conditionLanguage    language = "ConditionExpression"
	filterLanguage       language = "FilterExpression"
	updateLanguage       language = "UpdateExpression"
	projectionLanguage   language = "ProjectionExpression"
	keyConditionLanguage language = "KeyConditionExpression"
)

func (l language) errorf(format string, a ...any) error {
	return &Error{Parameter: string(l), Message: fmt.Sprintf(format, a...)}
}

// Check makes the checks that DynamoDB makes before it looks at any item. It checks each expression by itself, and then
// that all names and values are used.
func Check(args Args, used ...Expression) error {
	if args.Bound != nil && len(used) > 0 && slices.Equal(args.Bound.passed, used) {
		return nil
	}
	for _, e := range used {
		if err := e.Check(args); err != nil {
			return err
		}
	}
	if err := unused(args, used...); err != nil {
		return err
	}
	if args.Bound != nil {
		args.Bound.passed = args.Bound.passed[:0]
		if !slices.ContainsFunc(used, func(e Expression) bool { return !e.judgesTypes() }) {
			args.Bound.passed = append(args.Bound.passed, used...)
		}
	}
	return nil
}

// unused returns the service's error if some names, or else some values, are not used by any expression. It lists the
// unused keys sorted; the service lists them in any order. The expressions have passed Check with these Args.
func unused(args Args, used ...Expression) error {
	names, values := args.Len()
	// Used names and values are defined, because Check has refused all others. So if the numbers agree, all are used,
	// and no Args need to be compared.
	if distinct(used, Expression.Names) == names && distinct(used, Expression.Values) == values {
		return nil
	}
	args = args.unbound()
	if left := missing(args.Names, used, Expression.Names); left != "" {
		return plainError("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", left)
	}
	if left := missing(args.Values, used, Expression.Values); left != "" {
		return plainError("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", left)
	}
	return nil
}

func missing[V any](given map[string]V, used []Expression, keys func(Expression) []string) string {
	var left []string
	//isrsim:unordered sorted below
	for key := range given {
		found := false
		for _, e := range used {
			found = found || slices.Contains(keys(e), key)
		}
		if !found {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	return strings.Join(left, ", ")
}

// distinct counts the different keys that expressions use.
func distinct(used []Expression, keys func(Expression) []string) int {
	n := 0
	for i, e := range used {
		for _, key := range keys(e) {
			again := slices.ContainsFunc(used[:i],
				func(before Expression) bool { return slices.Contains(keys(before), key) })
			if !again {
				n++
			}
		}
	}
	return n
}

// MaxNameBytes bounds the name of an attribute.
const MaxNameBytes = 1<<16 - 1

const (
	maxKeyBytes  = 255
	maxArgsBytes = 2 << 20
)

var (
	nameKey  = regexp.MustCompile(`^#[A-Za-z0-9_]+$`)
	valueKey = regexp.MustCompile(`^:[A-Za-z0-9_]+$`)
)

// Validate finds the mistakes that DynamoDB refuses in the maps themselves, for any expressions: empty maps, and
// malformed keys. If several keys are wrong, it reports the first in sorted order.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ExpressionAttributeNames.html
func (a Args) Validate() error {
	if a.Names != nil && len(a.Names) == 0 {
		return plainError("ExpressionAttributeNames must not be empty")
	}
	if a.Values != nil && len(a.Values) == 0 {
		return plainError("ExpressionAttributeValues must not be empty")
	}
	if err := validateKeys("ExpressionAttributeNames", a.Names, nameKey); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(a.Names)) {
		if a.Names[key] == "" {
			return plainError("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", key)
		}
		if len(a.Names[key]) > MaxNameBytes {
			return plainError("ExpressionAttributeNames contains invalid value: Attribute name is too large, must "+
				"be less than %d bytes for key %s", MaxNameBytes+1, key)
		}
	}
	return validateKeys("ExpressionAttributeValues", a.Values, valueKey)
}

// CheckSize refuses names and values that are too large together. Each counts with its key.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters-lengths
// (the limit), and DynamoDB Local 3.3.1 (the texts, and that keys count)
func (a Args) CheckSize() error {
	names, values := 0, a.Size()
	//isrsim:unordered a sum has no order
	for key, name := range a.Names {
		names += len(key) + len(name)
	}
	//isrsim:unordered a sum has no order
	for key := range a.Values {
		values += len(key)
	}
	if a.Bound != nil {
		for _, n := range a.Bound.names {
			names += len(n.key) + len(n.name)
		}
		for _, v := range a.Bound.values {
			values += len(v.key)
		}
	}
	switch {
	case names > maxArgsBytes:
		return plainError("ExpressionAttributeNames exceeds max size")
	case values > maxArgsBytes:
		return plainError("ExpressionAttributeValues exceeds max size")
	case names+values > maxArgsBytes:
		return plainError("Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds max size")
	}
	return nil
}

func validateKeys[V any](parameter string, m map[string]V, pattern *regexp.Regexp) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if len(key) > maxKeyBytes {
			return plainError("%s contains invalid key: The expression attribute map contains a key that is too "+
				"long; size of key: %d", parameter, len(key))
		}
		if !pattern.MatchString(key) {
			return plainError("%s contains invalid key: Syntax error; key: %q", parameter, key)
		}
	}
	return nil
}
