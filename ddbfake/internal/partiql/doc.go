// Package partiql reads statements of DynamoDB's PartiQL, and translates them into the languages of package expr.
//
// # What
//
// [Parse] reads a statement. [Statement.Bind] gives it the values of its parameters, and the result is translated piece
// by piece: a WHERE becomes a condition, SET and REMOVE become an update, the list of a SELECT becomes columns. So all
// rules of operators and functions stay in package expr. [Bound.Branches] finds the key in a WHERE: the partitions, and
// the ranges in them, that a SELECT reads. [Bound.Equalities] finds the key of a statement on one item.
//
//	s, err := partiql.Parse(`SELECT v FROM "cache" WHERE pk = ? AND expires > 7`)
//	b, err := s.Bind([]attr.Value{attr.S("a")})
//	text, err := b.Condition()    // #0 = :0 AND #1 > :1
//	args := b.Args()              // #0: pk, #1: expires, :0: "a", :1: 7
//
// # Fidelity
//
// The grammar is that of PartiQL's first reference parser, whose texts the service repeats. A statement that cannot be
// parsed is refused with "Statement wasn't well formed, can't be processed: " and a detail, which is empty if the lexer
// fails. Every error is an [*Error] with the text of the service's ValidationException.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlGrammar.test.ts
// Source: https://github.com/partiql/partiql-lang-kotlin (the grammar)
//
// # Limits
//
// A statement has at most 8,192 characters. The caller checks this limit, which also bounds the recursion of the
// parser. Parts of PartiQL that DynamoDB does not have (joins, aggregates, CASE, subqueries) are parsed only to be
// refused.
package partiql
