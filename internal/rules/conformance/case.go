package conformance

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Case is one rule of DynamoDB, with a test of a store for it.
type Case struct {
	// Topic is the noun that the case belongs to. It is also the name of its file.
	Topic string
	// Name is short and unique within the topic.
	Name string
	// Rule is the rule in a sentence.
	Rule string
	// Source says how we know: the address of AWS's documentation or, where that is silent, of a public test suite that
	// runs against the service, or LocalOnly.
	Source string

	tables map[string]schema // in addition to the usual one, or replacing it
	rows   []node            // the rows of the usual table, put there first
	steps  []step
	clock  bool // the case moves the store's clock
	sweep  bool // the case needs deletions by TTL
	alone  bool // the case must not run at the same time as others

	streams bool // the case is about streams
	backups bool // the case is about backups: it ends where a store has no such operation
	regions bool // the case is about global tables: it ends where a store has none
}

// LocalOnly is the source of a rule that is known only from DynamoDB Local, and neither from AWS's documentation nor
// from a suite that runs against the service.
const LocalOnly = "DynamoDB Local 3.3.1"

// Deviation is a known answer of a store that differs from DynamoDB's.
type Deviation struct {
	// Store is the store's name.
	Store string
	// Step counts the requests of the case, from 1.
	Step int
	// Want is DynamoDB's answer, Got the store's.
	Want, Got string
	// Reason says why we take Want for the service's answer, or why the store answers otherwise.
	Reason string
}

// step is a request, or another action on the store, and the answer.
type step struct {
	// do makes one of the SDK's inputs, or performs an action that is not a request and returns nil.
	do   func(w *world) (any, error)
	want string
	// local is the answer of DynamoDB Local if it deviates; reason says why.
	local, reason string
	deviates      bool
	absent        bool // because it lacks the operation: a case about backups or regions ends here
}

// topics are the names of the files, in the order of the documentation.
var topics = []string{
	"table", "item", "key", "key_path", "number", "set", "expression", "condition", "function", "update",
	"returnvalues", "projection", "table_update", "table_settings", "index_create", "index_write", "index_query",
	"index_scan", "index_key", "collection", "query", "page", "scan", "batch_get", "batch_write", "transact_write",
	"transact_get", "idempotency", "statement_read", "statement_index", "statement_write", "statement_refused",
	"statement_batch", "statement_transact", "legacy_condition", "legacy_expected", "legacy_update", "legacy_query",
	"legacy_scan", "legacy_projection", "legacy_precedence", "ttl", "stream_table", "stream_record", "stream_read",
	"tag", "backup", "restore", "recovery", "global", "replication", "global_strong", "account", "limit", "boundary",
	"precedence",
}

// Deviations returns the known answers of stores to this case that differ from DynamoDB's.
func (c Case) Deviations() []Deviation {
	var all []Deviation
	for i, s := range c.steps {
		if bare := withoutEnvelope(s.want); !s.deviates && bare != s.want {
			s.local, s.deviates = bare, true
			s.reason = "Local has the texts of before 2026, without `" + strings.TrimSpace(envelope) + "`"
		}
		if s.deviates {
			all = append(all, Deviation{Store: Local, Step: i + 1, Want: s.want, Got: s.local, Reason: s.reason})
		}
	}
	return all
}

const usualSchema schema = "pk S, sk S"

var schemaForm = func() *regexp.Regexp {
	const key = `\S+ \w+( HASH| RANGE)?(, \S+ \w+( HASH| RANGE)?)*`
	return regexp.MustCompile(`^` + key + `( \| (stream: \w+|\w+: ` + key + ` -> \w+( \S+)*))*$`)
}()

// schema is a table's key, for example "pk S, sk N", and perhaps indexes:
//
//	pk S, sk N | gsi: g S, n N -> ALL | lsi: pk S, n N -> INCLUDE a b
//	pk S, sk S | stream: NEW_IMAGE
//
// Local indexes have names that begin with lsi. The first attribute of a key is for the partition and the others are
// for the order, unless one says HASH or RANGE.
type schema string

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

// invalid begins the answer to a request that is not valid.
const invalid = "ValidationException: "

// withoutEnvelope removes the envelope from an answer, unless it lists constraints on parameters, which always had it.
func withoutEnvelope(answer string) string {
	text, ok := strings.CutPrefix(answer, invalid+envelope)
	if !ok || strings.Contains(text, "ailed to satisfy constraint: ") ||
		strings.HasPrefix(text, "Invalid AWS region ") {
		return answer
	}
	return invalid + text
}
