package ddbfake

import (
	"strings"
	"sync"

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
	if e, err = c.parsed(*source, parse); err != nil {
		err = invalid("%s", err.Error())
	}
	return e, err
}

func (c *cache[E]) parsed(source string, parse func(string) (E, error)) (e E, err error) {
	if e, ok := (*c)[source]; ok {
		return e, nil
	}
	if e, err = parse(source); err != nil {
		return e, err
	}
	if *c == nil || len(*c) >= maxCached {
		*c = make(cache[E])
	}
	(*c)[strings.Clone(source)] = e
	return e, nil
}

// Programs make many DBs, a test or a schedule each, and all of them send the
// same expressions, so what these functions parse is parsed once a process. A
// parsed expression is never written to, and the same source always gives the
// same one, so nobody can tell.
var (
	parseCondition    = once(expr.ParseCondition)
	parseFilter       = once(expr.ParseFilter)
	parseUpdate       = once(expr.ParseUpdate)
	parseProjection   = once(expr.ParseProjection)
	parseKeyCondition = once(expr.ParseKeyCondition)
)

// once makes a parser remember what it parsed, within the bounds of a cache. The
// result may be called by several goroutines at once.
func once[E any](parse func(string) (E, error)) func(string) (E, error) {
	var mu sync.Mutex
	known := cache[E]{}
	return func(source string) (E, error) {
		mu.Lock()
		defer mu.Unlock()
		return known.parsed(source, parse)
	}
}

// checkPlaceholders refuses names and values given without an expression that
// could use them: a projection uses names only.
func checkPlaceholders(expressions []expression, names map[string]string, values map[string]types.AttributeValue) error {
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
	return invalid("ExpressionAttributeValues can only be specified when using expressions: %s %s null",
		strings.Join(missing, " and "), verb)
}

const projectionExpression = "ProjectionExpression"

// argMaps are maps for the values of expressions, which are needed only while
// a call is served: the next one takes the same.
type argMaps struct {
	maps []map[string]attr.Value
	used int
}

// reset takes back the maps that were handed out.
func (m *argMaps) reset() { m.used = 0 }

// next returns an empty map. A map with many values is not kept: clearing it
// would cost every call after it.
func (m *argMaps) next(values int) map[string]attr.Value {
	const small = 8
	if values > small {
		return make(map[string]attr.Value, values)
	}
	if m.used == len(m.maps) {
		m.maps = append(m.maps, make(map[string]attr.Value, small))
	}
	next := m.maps[m.used]
	m.used++
	clear(next)
	return next
}

// expressionArgs checks and converts ExpressionAttributeNames and Values.
func expressionArgs(names map[string]string, values map[string]types.AttributeValue) (expr.Args, error) {
	if values == nil {
		return argsInto(nil, names, nil)
	}
	return argsInto(make(map[string]attr.Value, len(values)), names, values)
}

// callArgs is expressionArgs for args that end with the call.
func (db *DB) callArgs(names map[string]string, values map[string]types.AttributeValue) (expr.Args, error) {
	if values == nil {
		return argsInto(nil, names, nil)
	}
	return argsInto(db.args.next(len(values)), names, values)
}

// argsInto converts values into a map.
func argsInto(into map[string]attr.Value, names map[string]string, values map[string]types.AttributeValue) (expr.Args, error) {
	args := expr.Args{Names: names, Values: into}
	plain := plainNames(names) && (values == nil || len(values) > 0)
	var failed string
	var failure error
	//isrsim:unordered the failure reported is that of the first key
	for key, v := range values {
		value, err := attr.FromSDK(v)
		if err != nil && (failure == nil || key < failed) {
			failed, failure = key, err
		}
		into[key] = value
		plain = plain && plainPlaceholder(key, ':')
	}
	if !plain {
		if err := args.Validate(); err != nil {
			return args, invalid("%s", err.Error())
		}
	}
	if failure != nil {
		return args, invalid("ExpressionAttributeValues contains invalid value: %s for key %s", failure.Error(), failed)
	}
	return args, nil
}

// plainNames is the quick check that nearly every call passes: there is
// nothing that Args.Validate could refuse. The keys of values are checked
// where they are converted.
func plainNames(names map[string]string) bool {
	if names != nil && len(names) == 0 {
		return false
	}
	//isrsim:unordered all must be plain, whichever is looked at first
	for key, name := range names {
		if name == "" || !plainPlaceholder(key, '#') {
			return false
		}
	}
	return true
}

// plainPlaceholder allows what is short and has only letters, digits and
// underscores after the sigil.
func plainPlaceholder(key string, sigil byte) bool {
	const short = 64
	if len(key) < 2 || len(key) > short || key[0] != sigil {
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
