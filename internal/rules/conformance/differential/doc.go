/*
Package differential sends random requests to two DynamoDBs and compares every answer.

# What

[Sequences] draws sequences of requests over a few tables with few keys, so that they meet: puts, updates, deletes,
gets, queries and scans of tables and indexes, transactions and batches, with every function and operator of expressions
and boundary values, statements of PartiQL, and legacy parameters. A quarter of the requests are broken in one place;
requests that are wrong by themselves, and limits, are cases of package conformance. Now and then a sequence has the
life of a table: it is created, its indexes, billing, stream and TTL are changed, rows are written, the stream is read,
and it is deleted. Names, times and numbers that a store makes up are taken out of such answers before they are
compared. A [Pair] runs a sequence on the fake and on a real store and compares status, exception and JSON, and in the
end the rows that are left, as they are on the wire. The words of errors are compared with DynamoDB itself alone. Lists
without an order by AWS's documentation are compared without one.

	go test ./internal/rules/conformance -run Differential
	go test ./internal/rules/conformance -run Differential -differential.ops=200000
	go test ./internal/rules/conformance -run Differential -differential.seed=7 -differential.ops=1

The last one replays a sequence. One that fails is reduced by rapid and printed as a list of requests. With
-differential.survey one example of each kind of difference is printed instead.

# Differences

[Local] lists the known differences of DynamoDB Local, each as narrowly as possible and with its reason and source.
Anything else fails. In a run of 200,000 requests each of them must be met, so that none outlives its cause; and
[Tally.Vacuous] names what a run should have reached and has not: every operation, function, operator, clause of
statements, legacy parameter and fault, many texts of errors, and requests that succeed.

# DynamoDB itself

With ISRSIM_AWS=1 the same command compares with DynamoDB in the account that AWS_REGION, AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY name, and so does

	ISRSIM_AWS=1 go test ./internal/rules/conformance -run TestAWS

for the conformance table. It creates tables on demand whose names begin with differential- and conformance-, refuses
to begin where such a differential table exists, and deletes its tables in the end; after an interrupt they have to
be deleted by hand. 200,000 requests cost less than a dollar, and take hours: there is one connection. Use an account
for tests. It has not been run yet: the first run may show differences that are none of the fake's.

# Determinism

A sequence is a value of its seed. The fake's answers are always the same.

# Limits

A made table is read by Scan alone, and no row of it expires. Changes of AttributeUpdates without an Action are not
drawn. No two requests run at the same time on one store.
*/
package differential
