// Package expr implements DynamoDB's expression languages: conditions and filters, updates, projections and key
// conditions.
//
// # What
//
// Parse once, evaluate often. A parsed expression holds no [Args], so it can be cached by its source, and it is safe
// for concurrent use.
//
//	cond, err := expr.ParseCondition("attribute_not_exists(pk) OR lease_expires_at <= :now")
//	args := expr.Args{Values: map[string]attr.Value{":now": attr.Int(2208988800)}}
//	err = expr.Check(args, cond)     // what DynamoDB refuses before it looks at any item
//	ok, err := cond.Eval(row, args)  // row == nil: the item does not exist
//
//	update, err := expr.ParseUpdate("SET lease_token = :t REMOVE waiting")
//	row, err = update.Apply(row, args) // a new row; the old one is untouched
//
// A store that evaluates the same expressions for many requests stores its rows as [packed.Record], which
// [Condition.Eval] and [Update.ApplyRecord] accept, and the requests' names and values as [Bindings].
//
// A caller goes through four steps, in the order in which the service reports errors: Parse, Check, Unused, and then
// Eval, Apply or Bind for each item.
//
// # Determinism
//
// Nothing here depends on map order or time. Sets that an update builds are sorted. [Expression.String] prints a source
// that parses to the same expression.
//
// # Fidelity
//
// Every error is an [*Error] or one of package attr, whose text is the message of the service's ValidationException,
// including "Invalid ConditionExpression: " where the service has it. The choice among several errors follows the
// service as far as it is known from public test suites and from DynamoDB Local 3.3.1, which shares the service's
// expression parser. Keywords ignore case, function names do not.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
//
// # Limits
//
// Expressions have at most 4,096 bytes, 300 operators, 100 operands of IN and 32 levels in a path. The limit on bytes
// also bounds the parser's recursion.
package expr
