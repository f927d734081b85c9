package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Case is one rule of DynamoDB, with a test of a store for it.
type Case struct {
	// Topic is the noun that the case belongs to, which is also the name of the file that it stands in.
	Topic string
	// Name is short and unique within the topic.
	Name string
	// Rule is the rule in a sentence.
	Rule string
	// Source says how we know: the address of AWS's documentation, that of a public test suite that is run against the
	// service where the documentation is silent, or LocalOnly.
	Source string

	tables map[string]schema // in addition to the usual one, or in its place
	rows   []attrs           // the rows of the usual table, put there first
	steps  []step
	clock  bool // the case moves the store's clock
	sweep  bool // the case needs deletions by TTL
	alone  bool // the case must not run at the same time as others

	streams bool // the case is about streams
	backups bool // the case is about backups: it ends where a store has no such operation
	regions bool // the case is about global tables: it ends where a store has none
}

// LocalOnly is the source of a rule that is known from DynamoDB Local only, and neither from AWS's documentation nor
// from a suite that runs against the service.
const LocalOnly = "DynamoDB Local 3.3.1"

// step is a request and its answer.
type step struct {
	do   request
	want string
}

// Deviation is an answer that a store is known to give instead of DynamoDB's.
type Deviation struct {
	// Store is the store's name.
	Store string
	// Step counts the requests of the case, from 1.
	Step int
	// Want is DynamoDB's answer, Got the store's.
	Want, Got string
	// Reason says why we take Want for the service's answer, or why the store gives another one.
	Reason string
}

// part is one part of a case: its tables, its rows, a demand on the store, or a step.
type part interface{ addTo(c *Case) }

func (s step) addTo(c *Case) { c.steps = append(c.steps, s) }

// setup is a part that is not a step.
type setup func(c *Case)

func (set setup) addTo(c *Case) { set(c) }

// newCase returns a case without a topic, which [Cases] gives it.
func newCase(name, rule, source string, parts ...part) Case {
	return Case{Name: name, Rule: rule, Source: source}.and(parts...)
}

// and adds parts to a case.
func (c Case) and(parts ...part) Case {
	for _, p := range parts {
		p.addTo(&c)
	}
	return c
}

// expect is a step: a request and DynamoDB's answer. The known deviations of stores are in files of their own: see
// local.go.
func expect(do request, want string) part { return step{do: do, want: want} }

// then is a step without an answer: time passes, or TTL comes.
func then(do request) part { return step{do: do} }

// inTable gives the usual table another schema.
func inTable(s schema) part { return inTables(map[string]schema{usualTable: s}) }

// inTables gives the case tables of its own, in place of the usual one.
func inTables(tables map[string]schema) part { return setup(func(c *Case) { c.tables = tables }) }

// holding puts rows into the usual table before the first step of a case.
func holding(rows ...attrs) part { return setup(func(c *Case) { c.rows = rows }) }

var (
	noTables     setup = func(c *Case) { c.tables = map[string]schema{} }
	movesClock   setup = func(c *Case) { c.clock = true }
	needsSweep   setup = func(c *Case) { c.sweep = true }
	runsAlone    setup = func(c *Case) { c.alone = true }
	readsStreams setup = func(c *Case) { c.streams = true }
	needsBackups setup = func(c *Case) { c.backups = true }
	needsRegions setup = func(c *Case) { c.regions = true }
)

// Cases returns all cases, by topic, in the order in which they stand in their files.
func Cases() []Case {
	var all []Case
	for _, t := range []struct {
		topic string
		cases []Case
	}{
		{"table", tableCases()},
		{"item", itemCases()},
		{"key", keyCases()},
		{"key_path", keyPathCases()},
		{"number", numberCases()},
		{"set", setCases()},
		{"expression", expressionCases()},
		{"condition", conditionCases()},
		{"function", functionCases()},
		{"update", updateCases()},
		{"returnvalues", returnValuesCases()},
		{"projection", projectionCases()},
		{"table_update", tableUpdateCases()},
		{"table_settings", tableSettingsCases()},
		{"index_create", indexCreateCases()},
		{"index_write", indexWriteCases()},
		{"index_query", indexQueryCases()},
		{"index_scan", indexScanCases()},
		{"index_key", indexKeyCases()},
		{"collection", collectionCases()},
		{"query", queryCases()},
		{"page", pageCases()},
		{"scan", scanCases()},
		{"batch_get", batchGetCases()},
		{"batch_write", batchWriteCases()},
		{"transact_write", transactWriteCases()},
		{"transact_get", transactGetCases()},
		{"idempotency", idempotencyCases()},
		{"statement_read", statementReadCases()},
		{"statement_index", statementIndexCases()},
		{"statement_write", statementWriteCases()},
		{"statement_refused", statementRefusedCases()},
		{"statement_batch", statementBatchCases()},
		{"statement_transact", statementTransactCases()},
		{"legacy_condition", legacyConditionCases()},
		{"legacy_expected", legacyExpectedCases()},
		{"legacy_update", legacyUpdateCases()},
		{"legacy_query", legacyQueryCases()},
		{"legacy_scan", legacyScanCases()},
		{"legacy_projection", legacyProjectionCases()},
		{"legacy_precedence", legacyPrecedenceCases()},
		{"ttl", ttlCases()},
		{"stream_table", streamTableCases()},
		{"stream_record", streamRecordCases()},
		{"stream_read", streamReadCases()},
		{"tag", tagCases()},
		{"backup", backupCases()},
		{"restore", restoreCases()},
		{"recovery", recoveryCases()},
		{"global", globalCases()},
		{"replication", replicationCases()},
		{"global_strong", globalStrongCases()},
		{"account", accountCases()},
		{"limit", limitCases()},
		{"boundary", boundaryCases()},
		{"precedence", precedenceCases()},
	} {
		for _, c := range t.cases {
			c.Topic = t.topic
			all = append(all, c)
		}
	}
	return all
}

// Deviations returns the answers of this case that stores are known to give instead of DynamoDB's.
func (c Case) Deviations() []Deviation {
	var all []Deviation
	for i := range c.steps {
		want := c.steps[i].want
		d, ok := deviations[place{c.Topic + "/" + c.Name, i + 1}]
		if bare := withoutEnvelope(want); !ok && bare != want {
			d.got, d.reason, ok = bare, "Local has the texts of before 2026, without `"+strings.TrimSpace(envelope)+
				"`", true
		}
		if ok {
			all = append(all, Deviation{Store: Local, Step: i + 1, Want: want, Got: d.got, Reason: d.reason})
		}
	}
	return all
}

// place is a step of a case.
type place struct {
	name string // topic/name
	step int
}

// steps are some steps of a case.
type steps []int

// deviation is an answer of DynamoDB Local, the same at one or more steps of a case.
type deviation struct {
	name        string // topic/name
	at          steps
	got, reason string
}

// Astray names steps that do not exist although a deviation is listed for them: nobody would ever use such a deviation.
func Astray() []string {
	steps := map[place]bool{}
	for _, c := range Cases() {
		for i := range c.steps {
			steps[place{c.Topic + "/" + c.Name, i + 1}] = true
		}
	}
	var astray []string
	//isrsim:unordered the list is sorted
	for at := range deviations {
		if !steps[at] {
			astray = append(astray, fmt.Sprintf("step %d of %s", at.step, at.name))
		}
	}
	slices.Sort(astray)
	return astray
}

// deviations holds the known answers of DynamoDB Local that differ from DynamoDB's.
var deviations = byPlace(localDeviations, localSettings, localScan, localBatch, localTag(), localBackups(),
	localGlobal(), localAccount, localIndexes, localCollections, localBoundaries, localStatements,
	localStreams, localLegacy)

// byPlace finds the deviations of several lists by their places. It panics if a place has two: a mistake in this
// package, which any run of it shows.
func byPlace(lists ...[]deviation) map[place]deviation {
	all := map[place]deviation{}
	for _, d := range slices.Concat(lists...) {
		for _, step := range d.at {
			p := place{d.name, step}
			if _, twice := all[p]; twice {
				panic(fmt.Sprintf("conformance: two deviations at step %d of %s", step, d.name))
			}
			all[p] = d
		}
	}
	return all
}

// schema is a table's key, for example "pk S, sk N", and perhaps indexes:
//
//	pk S, sk N | gsi: g S, n N -> ALL | lsi: pk S, n N -> INCLUDE a b
//	pk S, sk S | stream: NEW_IMAGE
//
// Local indexes have names that begin with lsi. The first attribute of a key is for the partition and the others are
// for the order, unless one says HASH or RANGE.
type schema string

const usualSchema schema = "pk S, sk S"

// input returns the request that creates such a table, on demand.
func (s schema) input() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{BillingMode: types.BillingModePayPerRequest}
	key, indexes, _ := strings.Cut(string(s), " | ")
	in.KeySchema, in.AttributeDefinitions = keyOf(key, nil)
	if indexes == "" {
		return in
	}
	for _, text := range strings.Split(indexes, " | ") {
		if view, ok := strings.CutPrefix(text, "stream: "); ok {
			in.StreamSpecification = streamOn(view)
			continue
		}
		var x types.GlobalSecondaryIndex
		x, in.AttributeDefinitions = indexOf(text, in.AttributeDefinitions)
		if strings.HasPrefix(*x.IndexName, "lsi") {
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
				IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
			})
		} else {
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, x)
		}
	}
	return in
}

// indexOf reads an index, and adds its attributes to the definitions.
func indexOf(
	text string, definitions []types.AttributeDefinition,
) (types.GlobalSecondaryIndex, []types.AttributeDefinition) {
	name, text, _ := strings.Cut(text, ": ")
	key, projection, _ := strings.Cut(text, " -> ")
	x := types.GlobalSecondaryIndex{IndexName: aws.String(name)}
	x.KeySchema, definitions = keyOf(key, definitions)
	words := strings.Fields(projection)
	x.Projection = &types.Projection{ProjectionType: types.ProjectionType(words[0])}
	if len(words) > 1 {
		x.Projection.NonKeyAttributes = words[1:]
	}
	return x, definitions
}

// keyOf reads a key.
func keyOf(
	text string, definitions []types.AttributeDefinition,
) ([]types.KeySchemaElement, []types.AttributeDefinition) {
	var keys []types.KeySchemaElement
	for i, part := range strings.Split(text, ", ") {
		words := strings.Fields(part)
		use := types.KeyTypeHash
		if i > 0 {
			use = types.KeyTypeRange
		}
		if len(words) > 2 {
			use = types.KeyType(words[2])
		}
		name := aws.String(words[0])
		keys = append(keys, types.KeySchemaElement{AttributeName: name, KeyType: use})
		if !slices.ContainsFunc(definitions,
			func(d types.AttributeDefinition) bool { return *d.AttributeName == *name }) {
			definitions = append(definitions, types.AttributeDefinition{
				AttributeName: name, AttributeType: types.ScalarAttributeType(words[1]),
			})
		}
	}
	return keys, definitions
}

// The beginnings of most cases' answers.

const conditionFailed = "ConditionalCheckFailedException: The conditional request failed"

// invalid is the answer to a request that is not valid.
func invalid(message string) string { return "ValidationException: " + message }

// broken is the answer to a request that breaks constraints on parameters.
func broken(constraints ...string) string {
	if len(constraints) == 1 {
		return invalid("1 validation error detected: " + constraints[0])
	}
	return invalid(string(rune('0'+len(constraints))) + " validation errors detected: " +
		strings.Join(constraints, "; "))
}

// enveloped is the answer in the service's envelope, unless it has one: to a request of PutItem, UpdateItem or
// DeleteItem that no table could serve.
func enveloped(answer string) string {
	if strings.HasPrefix(answer, invalid(envelope)) {
		return answer
	}
	return strings.Replace(answer, "ValidationException: ", "ValidationException: "+envelope, 1)
}

// withoutEnvelope takes the envelope off an answer, unless it lists constraints on parameters, which have always had
// it.
func withoutEnvelope(answer string) string {
	text, ok := strings.CutPrefix(answer, invalid(envelope))
	if !ok || strings.Contains(text, "ailed to satisfy constraint: ") ||
		strings.HasPrefix(text, "Invalid AWS region ") {
		return answer
	}
	return invalid(text)
}

// badParameter is the answer to an invalid parameter.
func badParameter(what string) string {
	return invalid("One or more parameter values were invalid: " + what)
}

// cancelled is the answer to a transaction that did not happen: its reasons, each "Code" or "Code: message" and perhaps
// an item.
func cancelled(reasons ...string) string {
	codes := make([]string, len(reasons))
	lines := ""
	for i, r := range reasons {
		codes[i], _, _ = strings.Cut(r, ":")
		lines += "\n- " + r
	}
	return "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for " +
		"specific reasons [" +
		strings.Join(codes, ", ") + "]" + lines
}

// Reasons for which a transaction is cancelled.
const (
	none            = "None"
	reasonCondition = "ConditionalCheckFailed: The conditional request failed"
)

// reasonInvalid is the reason for an action that is not valid.
func reasonInvalid(message string) string { return "ValidationError: " + message }

// Where rules come from.
const (
	guide = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"

	docConditions    = guide + "Expressions.ConditionExpressions.html"
	docOperators     = guide + "Expressions.OperatorsAndFunctions.html"
	docUpdates       = guide + "Expressions.UpdateExpressions.html"
	docNames         = guide + "Expressions.ExpressionAttributeNames.html"
	docValues        = guide + "Expressions.ExpressionAttributeValues.html"
	docReserved      = guide + "ReservedWords.html"
	docPaths         = guide + "Expressions.Attributes.html"
	docProjections   = guide + "Expressions.ProjectionExpressions.html"
	docKeyConditions = guide + "Query.KeyConditionExpressions.html"
	docFilters       = guide + "Query.FilterExpression.html"
	docPages         = guide + "Query.Pagination.html"
	docScan          = guide + "Scan.html"
	docTypes         = guide + "HowItWorks.NamingRulesDataTypes.html"
	docLimits        = guide + "Constraints.html"
	docTTL           = guide + "howitworks-ttl.html"
	docTTLExpired    = guide + "ttl-expired-items.html"
	docTransactions  = guide + "transaction-apis.html"
	docConsistency   = guide + "HowItWorks.ReadConsistency.html"
	docCapacity      = guide + "read-write-operations.html"

	docGlobal    = guide + "GSI.html"
	docLocal     = guide + "LSI.html"
	docManyKeys  = guide + "GSI.DesignPattern.MultiAttributeKeys.html"
	docOnlineOps = guide + "GSI.OnlineOps.html"
	docBackfill  = guide + "GSI.OnlineOps.ViolationDetection.html"
	docTags      = guide + "Tagging.html"
	docGlobals   = guide + "V2globaltables_HowItWorks.html"
	docRestores  = guide + "pointintimerecovery_restores.html"

	docSelect     = guide + "ql-reference.select.html"
	docInsert     = guide + "ql-reference.insert.html"
	docUpdateSet  = guide + "ql-reference.update.html"
	docDelete     = guide + "ql-reference.delete.html"
	docQLTypes    = guide + "ql-reference.data-types.html"
	docQLOps      = guide + "ql-operators.html"
	docQLBatch    = guide + "ql-reference.multiplestatements.batching.html"
	docQLTransact = guide + "ql-reference.multiplestatements.transactions.html"

	docStreams    = guide + "Streams.html"
	docTTLStreams = guide + "time-to-live-ttl-streams.html"

	docProtection = guide + "WorkingWithTables.Basics.html"

	// Suites that run against the service: they show texts and orders that the documentation does not give.
	parity     = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	captures   = "https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json"
	nubo       = "https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/"
	dynalite   = "https://github.com/architect/dynalite/blob/main/test/"
	controller = "https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md"
	quirks     = "https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/"
	extenddb   = "https://github.com/ExtendDB/extenddb/pull/227"
	scylla5862 = "https://github.com/scylladb/scylladb/issues/5862"
	alternator = "https://github.com/scylladb/scylladb/blob/master/test/alternator/"
)

// The source of the rules on legacy parameters.
const (
	docLegacyExpected    = guide + "LegacyConditionalParameters.Expected.html"
	docLegacyOperator    = guide + "LegacyConditionalParameters.ConditionalOperator.html"
	docLegacyUpdates     = guide + "LegacyConditionalParameters.AttributeUpdates.html"
	docLegacyKeys        = guide + "LegacyConditionalParameters.KeyConditions.html"
	docLegacyQueryFilter = guide + "LegacyConditionalParameters.QueryFilter.html"
	docLegacyScanFilter  = guide + "LegacyConditionalParameters.ScanFilter.html"
	docLegacyAttributes  = guide + "LegacyConditionalParameters.AttributesToGet.html"

	// Error texts of the service, and parameters that it accepts.
	extenddb213 = "https://github.com/ExtendDB/extenddb/pull/213"
	floci2126   = "https://github.com/floci-io/floci/issues/2126"
	floci       = "https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/"
)

// api is the reference of an operation.
func api(operation string) string {
	return "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_" + operation + ".html"
}
