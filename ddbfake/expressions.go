package ddbfake

import (
	"errors"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// expression is one of the expression parameters that an operation takes.
type expression struct {
	name string
	text *string
}

// parsed caches parsed expressions by source text: programs send the same few texts again and again. Parsed expressions
// hold no names or values.
type parsed struct {
	conditions    cache[*expr.Condition]
	filters       cache[*expr.Condition]
	updates       cache[*expr.Update]
	projections   cache[*expr.Projection]
	keyConditions cache[*expr.KeyCondition]
}

// cache holds parsed expressions of one language.
type cache[E any] struct {
	bySource map[string]cached[E]
	// last is the latest expression asked for. It is likely to be asked for next.
	last cached[E]
}

type cached[E any] struct {
	source     string
	expression E
}

// maxCached bounds a cache. A full cache is emptied: a program with more expressions than that has built them from
// values, and does not repeat them.
const maxCached = 1024

func (c *cache[E]) get(source *string, parse func(string) (E, error)) (e E, err error) {
	if source == nil {
		return e, nil
	}
	if e, err = c.parsed(*source, parse); err != nil {
		err = invalid("%s", err.Error())
	}
	return e, err
}

func (c *cache[E]) parsed(source string, parse func(string) (E, error)) (e E, err error) {
	if source == c.last.source && source != "" {
		return c.last.expression, nil
	}
	known, ok := c.bySource[source]
	if !ok {
		if known.expression, err = parse(source); err != nil {
			return e, err
		}
		if c.bySource == nil || len(c.bySource) >= maxCached {
			c.bySource = make(map[string]cached[E])
		}
		known.source = strings.Clone(source)
		c.bySource[known.source] = known
	}
	c.last = known
	return known.expression, nil
}

// Programs make many DBs, one per test or schedule, and send the same expressions to all of them. So these functions
// parse each expression once per process. That affects no result: a parsed expression is never written to, and the same
// source always gives the same expression.
var (
	parseCondition    = once(expr.ParseCondition)
	parseFilter       = once(expr.ParseFilter)
	parseUpdate       = once(expr.ParseUpdate)
	parseProjection   = once(expr.ParseProjection)
	parseKeyCondition = once(expr.ParseKeyCondition)
)

// once makes a parser remember its results, within the bounds of a cache. Several goroutines may call the result at
// once.
func once[E any](parse func(string) (E, error)) func(string) (E, error) {
	var mu sync.Mutex
	var known cache[E]
	return func(source string) (E, error) {
		mu.Lock()
		defer mu.Unlock()
		return known.parsed(source, parse)
	}
}

// checkPlaceholders refuses names and values given without an expression that could use them: a projection uses names
// only. The service does not make this check for the parts of a transaction.
//
// Source: https://github.com/ExtendDB/extenddb/pull/169 (answers captured at the service)
func checkPlaceholders(
	expressions []expression, names map[string]string, values map[string]types.AttributeValue,
) error {
	if names == nil && values == nil {
		return nil
	}
	present, valued := false, false
	for _, e := range expressions {
		if e.text != nil {
			present = true
			valued = valued || e.name != projectionExpression
		}
	}
	if names != nil && !present {
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
	return invalid("%s: %s %s null", valuesAlone, strings.Join(missing, " and "), verb)
}

const valuesAlone = "ExpressionAttributeValues can only be specified when using expressions"

const projectionExpression = "ProjectionExpression"

// bindings hold the names and values with which the expressions of a call are evaluated, one per action. The next call
// reuses them.
type bindings struct {
	kept [4]expr.Bindings // nearly every call needs at most this many
	used int
}

// reset makes all bindings free again.
func (b *bindings) reset() { b.used = 0 }

func (b *bindings) next() *expr.Bindings {
	if b.used == len(b.kept) {
		return new(expr.Bindings)
	}
	b.used++
	return &b.kept[b.used-1]
}

// callArgs is expressionArgs for args that are unused after the call.
func (db *DB) callArgs(names map[string]string, values map[string]types.AttributeValue) (expr.Args, error) {
	if names == nil && values == nil {
		return expr.Args{}, nil
	}
	args := expr.Args{Bound: db.bindings.next()}
	if !args.Bound.Bind(names, values) {
		var err error
		if args, err = expressionArgs(names, values); err != nil {
			return args, err
		}
	}
	if err := args.CheckSize(); err != nil {
		return args, invalid("%s", err.Error())
	}
	return args, nil
}

// expressionArgs checks and converts ExpressionAttributeNames and Values.
func expressionArgs(names map[string]string, values map[string]types.AttributeValue) (expr.Args, error) {
	args := expr.Args{Names: names}
	if values != nil {
		args.Values = make(map[string]attr.Value, len(values))
	}
	var failed string
	var failure error
	//isrsim:unordered the failure reported is that of the first key
	for key, v := range values {
		value, err := attr.FromSDK(v)
		if err != nil && (failure == nil || key < failed) {
			failed, failure = key, err
		}
		args.Values[key] = value
	}
	if err := args.Validate(); err != nil {
		return args, invalid("%s", err.Error())
	}
	if failure != nil {
		inValues := func(text string) error {
			return invalid("ExpressionAttributeValues contains invalid value: %s for key %s", text, failed)
		}
		// The newer layer is not known to say in which value the mistake is.
		if two, ok := errors.AsType[*worded](refused(failure)); ok {
			return args, &worded{two.error, messageOf(inValues(two.older))}
		}
		return args, inValues(failure.Error())
	}
	return args, nil
}

// checkExpressions is expr.Check, with the service's error.
func checkExpressions(args expr.Args, used ...expr.Expression) error {
	if err := expr.Check(args, used...); err != nil {
		return invalid("%s", err.Error())
	}
	return nil
}
