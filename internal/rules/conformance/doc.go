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
