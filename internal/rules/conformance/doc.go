/*
Package conformance is DynamoDB's rules as a table of cases that run on any store with DynamoDB's API: the fake,
DynamoDB Local, the service itself.

# What

A [Case] has a name, the sentence of the rule, the source of it, the requests to make and the answers to expect. [Run]
runs all cases on a [Store]:

	func TestConformance(t *testing.T) {
		conformance.Run(t, conformance.Store{Name: "mine", Client: client})
	}

Answers are compared whole and as text: exception, message, item, cancellation reasons, page. A failure prints the
wanted answer word for word as the case has it.

# Files

The cases of a topic are in cases/TOPIC.txt, a paragraph each:

	case put if absent
	rule attribute_not_exists makes a put a creation.
	source docConditions
	table rows: pk S, sk S | gsi: g S, n N -> INCLUDE a b
	row {pk: "a", sk: "b", n: 1.5}
	PutItem {Item: {pk: "a", sk: "b"}, ConditionExpression: "attribute_not_exists(pk)"}
	=> ConditionalCheckFailedException: The conditional request failed
	local=> what DynamoDB Local 3.3.1 answers instead
	because it has words of its own

A line that begins with a tab continues the line before it. A source stands for the cases below it, too, until the
next one; names.txt has the short names of sources and reasons. A case has the table rows with the key "pk S, sk S"
unless it names other tables, or says "no tables". Its rows are put there first. "needs clock" and its like say what
the store must have: a clock that can be moved, a sweep of TTL, streams, backups, other regions; "needs alone" that no
other case runs meanwhile. A further line of an answer begins with =|. Answers are texts: answer.go says which. One that
begins or ends with a space is in quotation marks.

A step is an operation and its input, with the API's names, or "wait 10m", or "sweep". "PutItem in eu-west-1 {...}"
goes to another region. "ReadStream {...}" reads all records of a stream, and "RecoveryWindow {}" asks between which
times a table can be recovered. Four things are short:

  - TableName is rows unless it is given, and GetItem, Query and Scan are consistent; the word none leaves a member out.
    CreateTable may have a Schema, written like a table.
  - Where the API wants the name of a table, a word without quotation marks names one of the case's own.
  - Attribute values are written as in answers: "text", 1.5, 0x00ff, true, null, [list], {map: 1}, <"a", "b">. N"abc" is
    a number of that text, B"x" a binary, NULL"false" what DynamoDB refuses; an empty set is SS<>, NS<> or BS<>.
  - ${x*400} in a text repeats it. 3 times X in a list is X three times; 01 to 25 {sk: "${i}"} counts. What a case
    cannot know in advance has a name, as ${stream 1} or ${now-60s}: the comment on known in world.go lists them.

# Deviations

A store that is known to answer otherwise is not skipped: the case lists the answer that the store gives, with the
reason, and fails when the store gives another one, DynamoDB's included. So a new version of DynamoDB Local, or a
better fake, shows. [Case.Deviations] returns them for documentation.

# Fidelity

The expected answer is the service's: by its documentation, or by public test suites that are run against the
service, or, where neither says, by DynamoDB Local ([LocalOnly]). The service's own texts are not the same
everywhere: in 2026 most regions began to put "1 validation error detected: " before the texts of PutItem, UpdateItem
and DeleteItem that stood alone. The cases have the newer form, and a store named [AWS] may give either.

# Determinism

On a store that is deterministic, so is the result. Cases run in parallel but share nothing: each has tables of its
own. Those that move the store's clock run alone.

# Limits

The cases cover what the fake supports. Actions of other people on one item (conflicts) are not among them: no single
client can bring one about.
*/
package conformance
