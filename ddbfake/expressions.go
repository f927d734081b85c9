package ddbfake

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/expr"
)

// expression is one of the expression parameters that an operation takes.
type expression struct {
	name string
	text *string
}

// parsed keeps parsed expressions by source text: programs send the same few
// over and over. Parsed expressions do not hold names or values.
type parsed struct {
	conditions    cache[*expr.Condition]
	filters       cache[*expr.Condition]
	updates       cache[*expr.Update]
	projections   cache[*expr.Projection]
	keyConditions cache[*expr.KeyCondition]
}

// cache holds parsed expressions of one language.
type cache[E any] map[string]E

// maxCached bounds a cache. One that is full is emptied: a program that sends
// so many different expressions builds them from values, and keeps none.
const maxCached = 1024

func (c *cache[E]) get(source *string, parse func(string) (E, error)) (e E, err error) {
	if source == nil {
		return e, nil
	}
	if e, ok := (*c)[*source]; ok {
		return e, nil
	}
	e, err = parse(*source)
	if err != nil {
		return e, invalid("%s", err.Error())
	}
	if *c == nil || len(*c) >= maxCached {
		*c = make(cache[E])
	}
	(*c)[strings.Clone(*source)] = e
	return e, nil
}

// checkPlaceholders refuses names and values given without an expression that
// could use them. takesValues names the operation's expressions that can use
// values: all of them but projections.
func checkPlaceholders(expressions []expression, names map[string]string, values map[string]types.AttributeValue) error {
	if names == nil && values == nil {
		return nil
	}
	any, valued := false, false
	for _, e := range expressions {
		if e.text != nil {
			any = true
			valued = valued || e.name != projectionExpression
		}
	}
	if names != nil && !any {
		return invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if values == nil || valued {
		return nil
	}
	var missing []string
	for _, e := range expressions {
		if e.name != projectionExpression {
			missing = append(missing, e.name)
		}
	}
	verb := "is"
	if len(missing) > 1 {
		verb = "are"
	}
	return invalid("ExpressionAttributeValues can only be specified when using expressions: %s %s null",
		strings.Join(missing, " and "), verb)
}

const projectionExpression = "ProjectionExpression"

// expressionArgs checks and converts ExpressionAttributeNames and Values.
func expressionArgs(names map[string]string, values map[string]types.AttributeValue) (expr.Args, error) {
	args := expr.Args{Names: names}
	if names != nil {
		if len(names) == 0 {
			return args, invalid("ExpressionAttributeNames must not be empty")
		}
		if bad, ok := firstBadPlaceholder(names, '#'); ok {
			return args, invalid(`ExpressionAttributeNames contains invalid key: Syntax error; key: "%s"`, bad)
		}
	}
	if values == nil {
		return args, nil
	}
	if len(values) == 0 {
		return args, invalid("ExpressionAttributeValues must not be empty")
	}
	if bad, ok := firstBadPlaceholder(values, ':'); ok {
		return args, invalid(`ExpressionAttributeValues contains invalid key: Syntax error; key: "%s"`, bad)
	}
	args.Values = make(map[string]attr.Value, len(values))
	var failed string
	var failure error
	for key, v := range values {
		value, err := attr.FromSDK(v)
		if err != nil && (failure == nil || key < failed) {
			failed, failure = key, err
		}
		args.Values[key] = value
	}
	if failure != nil {
		return args, invalid("ExpressionAttributeValues contains invalid value: %s for key %s", failure.Error(), failed)
	}
	return args, nil
}

// firstBadPlaceholder returns the first key, in order, that is not the sigil
// followed by letters, digits and underscores.
func firstBadPlaceholder[V any](m map[string]V, sigil byte) (string, bool) {
	var bad []string
	for key := range m {
		if !isPlaceholder(key, sigil) {
			bad = append(bad, key)
		}
	}
	if bad == nil {
		return "", false
	}
	return slices.Min(bad), true
}

func isPlaceholder(key string, sigil byte) bool {
	if len(key) < 2 || key[0] != sigil {
		return false
	}
	for i := 1; i < len(key); i++ {
		if c := key[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return true
}

// checkExpressions applies what DynamoDB checks before it looks at any item:
// each expression by itself, then that none of the names and values is
// unused.
func checkExpressions(args expr.Args, used ...expr.Expression) error {
	for _, e := range used {
		if err := e.Check(args); err != nil {
			return invalid("%s", err.Error())
		}
	}
	if len(args.Names) == 0 && len(args.Values) == 0 {
		return nil
	}
	if err := expr.Unused(args, used...); err != nil {
		return invalid("%s", err.Error())
	}
	return nil
}
