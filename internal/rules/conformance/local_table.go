package conformance

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Local has an order of its own here.
const tied = "Local has items with the same key in the index in another order; AWS documents none"

// localIndexes are the answers of DynamoDB Local 3.3.1 about indexes and changes of tables that differ from DynamoDB's.
var localIndexes = []deviation{
	{"table_update/same units", steps{2, 3},
		"ValidationException: The requested throughput value equals the current value", ownWords},
	{"table_update/index and units", steps{1},
		"InternalFailure: The request processing has failed because of an unknown error, exception or failure.",
		"Local fails"},
	{"table_update/units of an index on demand", steps{1},
		"InternalFailure: The request processing has failed because of an unknown error, exception or failure.",
		"Local fails"},
	{"table_update/local index", steps{1},
		"ValidationException: Cannot delete an index that is not a GlobalSecondaryIndex", ownWords},
	{"table_update/no such index to provision", steps{1},
		"InternalFailure: The request processing has failed because of an unknown error, exception or failure.",
		"Local fails"},
	{"table_update/no such index", steps{1}, "ResourceNotFoundException: Requested resource not found", ownWords},
	{"table_update/five partition attributes", steps{1},
		"ValidationException: Too many partition keys. GSI can have at most 4 partition keys", ownWords},
	{"table_update/key not defined", steps{1},
		"ValidationException: Attribute q is not defined in AttributeDefinitions", ownWords},
	{"table_update/no definitions", steps{1}, "ValidationException: No Attribute Schema Defined", ownWords},
	{"table_update/one index twice", steps{1},
		"ValidationException: Only one global secondary index update per index is allowed simultaneously.", ownWords},
	{"table_update/two actions in one change", steps{1},
		"InternalFailure: The request processing has failed because of an unknown error, exception or failure.",
		"Local fails"},
	{"table_update/empty change", steps{1},
		"ValidationException: Update global secondary index action is null", ownWords},
	{"table_update/protection and more", steps{1}, "updating rows", lenient},
	{"table_update/class and more", steps{1}, "updating rows", lenient},
	{"table_update/provisioned without units of an index", steps{1},
		"InternalFailure: The request processing has failed because of an unknown error, exception or failure.",
		"Local fails"},
	{"table_update/provisioned without units", steps{1},
		"ValidationException: No provisioned throughput specified for the table", ownWords},
	{"table_update/units on demand", steps{1}, "updating rows", lenient},
	{"table_update/too many units", steps{1}, "updating rows", lenient},
	{"table_update/negative units", steps{1},
		"ValidationException: Table read and write throughput must be at least 1, and cannot be null", ownWords},
	{"table_update/no units at all", steps{1},
		"ValidationException: Table read and write throughput must be at least 1, and cannot be null", ownWords},
	{"table_update/no changes of indexes", steps{1}, "ValidationException: Nothing to update", ownWords},
	{"table_update/nothing", steps{1}, "ValidationException: Nothing to update", ownWords},
	{"table_update/same type", steps{1},
		"ValidationException: invalid attribute, SchemaElement redefined should be of same type as previously defined",
		ownWords},
	{"table_update/no table", steps{1},
		"ResourceNotFoundException: Cannot do operations on a non-existent table", ownWords},
	{"table_update/class", steps{1}, "ValidationException: Nothing to update", ownWords},
	{"table_update/no name", steps{1},
		"ValidationException: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
		ownWords},
	{"table_update/backfill", steps{3},
		"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},

	{"index_create/101 projected attributes", steps{1},
		"ValidationException: No more than 20 attributes per table can be projected into Local Secondary Indices",
		ownWords},
	{"index_create/21 projected attributes", steps{1},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; gsi0 (g S HASH) INCLUDE a00 a01 a02 a03 a04 a05 " +
			"a06 a07 a08 a09 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20", lenient},
	{"index_create/no units", steps{1},
		"ValidationException: No provisioned throughput specified for the global secondary index", ownWords},
	{"index_create/units on demand", steps{1},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; gsi (g S HASH) ALL 1/1", lenient},
	{"index_create/INCLUDE without attributes", steps{1},
		"ValidationException: If Projection type INCLUDE is specified, some non-key attributes to include in the " +
			"projection must be specified as well", ownWords},
	{"index_create/attributes with KEYS_ONLY", steps{1},
		"ValidationException: No attributes should be specified to be projected unless projection type is INCLUDE",
		ownWords},
	{"index_create/attributes with ALL", steps{1},
		"ValidationException: No attributes should be specified to be projected unless projection type is INCLUDE",
		ownWords},
	{"index_create/no such projection type", steps{1},
		"ValidationException: Projection type must be INCLUDE, ALL, or KEYS_ONLY", ownWords},
	{"index_create/no projection", steps{1}, "ValidationException: Indexes must have a projection specified", ownWords},
	{"index_create/no projection type", steps{1},
		"ValidationException: Indexes must have a projection specified", ownWords},
	{"index_create/short names", steps{1},
		"ValidationException: Invalid table/index name.  Table/index names must be between 3 and 255 characters " +
			"long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'", ownWords},
	{"index_create/five sort attributes", steps{1},
		"ValidationException: Too many sort keys. GSI can have at most 4 sort keys", ownWords},
	{"index_create/local with several attributes", steps{1},
		"ValidationException: Key Schema too big.  Key Schema must at most consist of the hash and range " +
			"key of a table", ownWords},
	{"index_create/five partition attributes", steps{1},
		"ValidationException: Too many partition keys. GSI can have at most 4 partition keys", ownWords},
	{"index_create/partition key after a sort key", steps{1}, hashKeyFirst, ownWords},
	{"index_create/sort key first", steps{1},
		"ValidationException: No Hash Key specified in schema.  All Dynamo DB tables must have exactly one hash key",
		ownWords},
	{"index_create/one attribute twice of several", steps{1},
		"ValidationException: Two keys can not have the same name", ownWords},
	{"index_create/local with two partition keys", steps{1},
		"ValidationException: Too many hash keys specified.  All Dynamo DB tables must have exactly one hash key",
		ownWords},
	{"index_create/unused definition", steps{1},
		"ValidationException: The number of attributes in key schema must match the number of attributes defined in " +
			"attribute definitions.", ownWords},
	{"index_create/one attribute twice", steps{1},
		"ValidationException: Two keys can not have the same name", ownWords},
	{"index_create/undefined key", steps{1},
		"ValidationException: Attribute x is not defined in AttributeDefinitions", ownWords},
	{"index_create/local with another partition key", steps{1},
		"ValidationException: Local Secondary indices must have the same hash key as the main table", ownWords},
	{"index_create/local without a sort key", steps{1},
		"ValidationException: Local secondary indices must have a range key", ownWords},
	{"index_create/local without a sort key of the table", steps{1},
		"ValidationException: Local Secondary indices are not allowed on hash tables, only hash and range tables",
		ownWords},
	{"index_create/one name for both kinds", steps{1},
		"ValidationException: Local Secondary Indices AND Global Secondary Indices must have different names",
		ownWords},
	{"index_create/one name twice", steps{1},
		"ValidationException: Two global secondary indices have the same name", ownWords},
	{"index_create/six local indexes", steps{1},
		"ValidationException: Cannot have more than 5 local secondary indexes per table", ownWords},
	{"index_create/21 global indexes", steps{1},
		"ValidationException: GlobalSecondaryIndex count exceeds the per-table limit", ownWords},
	{"index_create/no local indexes", steps{1}, "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0", lenient},
	{"index_create/no global indexes", steps{1}, "ValidationException: GSI list is empty/invalid", ownWords},

	{"index_write/long key of several attributes", steps{2},
		"ValidationException: Aggregate size for HASH key attributes g, h of index gsi has exceeded limit 2048 " +
			"bytes, with actual size 2049 bytes", ownWords},
	{"index_write/long partition key", steps{2},
		"ValidationException: One or more parameter values were invalid: Size limit exceeded", ownWords},
	{"index_write/long sort key", steps{2},
		"ValidationException: One or more parameter values were invalid: Size limit exceeded", ownWords},
	{"index_write/transaction with a key of another type", steps{1},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [ValidationError, None]\n" +
			"- ValidationError: One or more parameter values were invalid: Type mismatch for Index Key\n- None",
		ownWords},
	{"index_write/transaction with a key of another type", steps{3},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [ValidationError]\n" +
			"- ValidationError: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"index_write/update to another type", steps{1, 2},
		"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"index_write/update to another type", steps{3}, "ok", lenient},
	{"index_write/update to another type", steps{4},
		"ValidationException: The provided expression refers to an attribute that does not exist in the item",
		"Local looks at the item first"},
	{"index_write/type before the condition", steps{1}, conditionFailed, "Local judges the condition first"},
	{"index_write/update to a long key", steps{2},
		"ValidationException: One or more parameter values were invalid: Size limit exceeded", ownWords},
	{"index_write/update to a long key", steps{4}, "ok", lenient},
	{"index_write/key before the condition", steps{1},
		"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"index_write/put with a key of another type", steps{1, 3},
		"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"index_write/put with a key of another type", steps{2},
		"ValidationException: Invalid attribute value type", ownWords},

	{"index_query/ties", steps{2}, `1 of 1: {sk: "3"}; last {n: 7, pk: "p", sk: "3"}`, tied},
	{"index_query/ties", steps{3}, "0 of 0", tied},
	{"index_query/ties", steps{4}, `1 of 1: {sk: "2"}; last {n: 7, pk: "p", sk: "2"}`, tied},
	{"index_query/starting key of another partition", steps{1},
		"ValidationException: The provided starting key does not match the range key predicate", ownWords},
	{"index_query/starting key of another type", steps{1}, localStartType, ownWords},
	{"index_query/starting key that is gone", steps{1}, `3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`, tied},
	{"index_query/no partition key", steps{1},
		"ValidationException: Query condition missed key schema element", ownWords},
	{"index_query/condition on another attribute", steps{1},
		"ValidationException: Query condition missed key schema element", ownWords},
	{"index_query/name of an index", steps{1},
		"ValidationException: The table does not have the specified index: a;", ownWords},

	{"index_key/attribute of another type", steps{1},
		"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"index_key/another attribute", steps{1},
		"ValidationException: Query condition missed key schema element", ownWords},
}

// Why DynamoDB Local differs in the settings of tables.
const (
	noEncryption = "Local checks the form of the specification and does not encrypt"
	noWarmth     = "Local does not have warm throughput"
	bothCeilings = "Local wants both ceilings"

	localNothing = "ValidationException: Nothing to update"
	localUnits   = "ValidationException: Table read and write throughput must be at least 1, and cannot be null"
	localFails   = "InternalFailure: The request processing has failed because of an unknown error, exception " +
		"or failure."
	localPlain = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
)

// localSettings are the answers of DynamoDB Local 3.3.1 about settings of tables, where they differ from DynamoDB's.
var localSettings = []deviation{
	{"table_settings/encrypted", steps{1, 2}, localPlain, noEncryption},
	{"table_settings/encrypted by type", steps{1}, localPlain, noEncryption},
	{"table_settings/change encryption", steps{1, 2, 4}, localNothing, noEncryption},
	{"table_settings/change encryption", steps{3}, localPlain, noEncryption},
	{"table_settings/encryption alone", steps{1}, "updating rows", lenient},
	{"table_settings/encryption of no type", steps{1}, localPlain, lenient},
	{"table_settings/encryption by AES256", steps{1}, localPlain, lenient},
	{"table_settings/a key without a type", steps{1}, localPlain, lenient},
	{"table_settings/a type of nothing", steps{1}, localPlain, lenient},
	{"table_settings/a key for nothing", steps{1}, localPlain, lenient},
	{"table_settings/ceiling of one", steps{1, 3}, localUnits, bothCeilings},
	{"table_settings/ceiling of one", steps{2, 4}, localNoTable, bothCeilings},
	{"table_settings/change a ceiling", steps{2, 4, 6}, localFails, bothCeilings},
	{"table_settings/change a ceiling", steps{3, 5, 7}, localPlain + "; at most 20/15", bothCeilings},
	{"table_settings/ceiling and billing", steps{5}, "updating rows", lenient},
	{"table_settings/ceiling of what is provisioned", steps{1},
		"table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5", lenient},
	{"table_settings/ceiling of nothing", steps{1}, localPlain, lenient},
	{"table_settings/ceiling with something else", steps{1}, "updating rows", lenient},
	{"table_settings/warm", steps{1, 2}, localPlain, noWarmth},
	{"table_settings/too cold", steps{1}, localPlain, lenient},
	{"table_settings/colder than provisioned", steps{1}, "table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5", lenient},
	{"table_settings/warmer", steps{1, 3}, localNothing, noWarmth},
	{"table_settings/warmer", steps{2}, localPlain, noWarmth},
}

const (
	localUnknown   = "UnknownOperationException: An unknown operation was requested."
	localNoTagging = "UnknownOperationException: Tagging is not currently supported in DynamoDB Local."

	notThere = "Local does not have the operation"
)

// localTag is the answer of DynamoDB Local 3.3.1 to the operations on tags: it has none of them. It creates tables with
// any tags.
func localTag() []deviation {
	all := []deviation{
		{"tag/create with bad tags", steps{1}, "table rows (id S HASH) PAY_PER_REQUEST 0/0", lenient},
		{"tag/create with bad tags", steps{2, 4}, "ResourceInUseException: Cannot create preexisting table",
			"Local did not refuse the table before"},
		{"tag/create with bad tags", steps{3}, "table rows (id S HASH) PAY_PER_REQUEST 0/0",
			"Local did not refuse the table before"},
	}
	for _, c := range tagCases() {
		for i := range c.steps {
			if !strings.HasPrefix(c.Name, "create ") {
				all = append(all, deviation{"tag/" + c.Name, steps{i + 1}, localNoTagging, notThere})
			}
		}
	}
	return all
}

// localBackups has, for each case about backups, its first request about backups. The case ends there, because DynamoDB
// Local 3.3.1 has no such operation. Some requests before them have another answer, too.
func localBackups() []deviation {
	all := []deviation{
		{"backup/settings", steps{2}, localNothing, noEncryption},
		{"restore/encrypted as it was", steps{1}, localPlain, noEncryption},
		{"restore/left behind", steps{2}, localNoTagging, notThere},
		{"recovery/left behind", steps{2}, localNoTagging, notThere},
	}
	//isrsim:unordered the deviations are found by their places
	for topic, cases := range map[string][]Case{
		"backup": backupCases(), "restore": restoreCases(), "recovery": recoveryCases(),
	} {
		for _, c := range cases {
			if c.clock || c.sweep {
				continue
			}
			i := slices.IndexFunc(c.steps,
				func(s step) bool { return strings.Contains(operation(s.do(&world{})), "Backup") })
			if j := slices.IndexFunc(c.steps, func(s step) bool {
				return strings.HasPrefix(operation(s.do(&world{})), "Restore")
			}); i < 0 || j >= 0 && j < i {
				i = j
			}
			all = append(all, deviation{topic + "/" + c.Name, steps{i + 1}, localUnknown, notThere})
		}
	}
	return all
}

// localGlobal has, for each case about global tables, its first request about replicas. The case ends there, because
// DynamoDB Local 3.3.1 leaves ReplicaUpdates out.
func localGlobal() []deviation {
	var all []deviation
	//isrsim:unordered the deviations are found by their places
	for topic, cases := range map[string][]Case{
		"global": globalCases(), "replication": replicationCases(), "global_strong": globalStrongCases(),
	} {
		for _, c := range cases {
			if c.clock || c.sweep {
				continue
			}
			i := slices.IndexFunc(c.steps, func(s step) bool {
				in, ok := s.do(&world{}).(*dynamodb.UpdateTableInput)
				return ok && (in.ReplicaUpdates != nil || in.MultiRegionConsistency != "")
			})
			got := localNothing
			if strings.HasSuffix(c.Name, "another change") { // Local makes the other one
				got = "updating rows"
			}
			all = append(all, deviation{topic + "/" + c.Name, steps{i + 1}, got, notThere})
		}
	}
	return all
}

// localAccount are the answers of DynamoDB Local 3.3.1 without a table that differ from DynamoDB's.
var localAccount = []deviation{
	{"account/endpoints", steps{1}, localUnknown, notThere},
	{"account/backups", steps{1}, localUnknown, notThere},
	{"account/backups of no table", steps{1}, localUnknown, notThere},
	{"account/backups without a name", steps{1}, localUnknown, notThere},

	{"account/recovery", steps{1, 2, 3, 4, 5}, localUnknown, notThere},
	{"account/recovery of no table", steps{1}, localUnknown, notThere},
	{"account/recovery without a setting", steps{1}, localUnknown, notThere},
	{"account/insights", steps{1}, localUnknown, notThere},
	{"account/streaming", steps{1}, localUnknown, notThere},
	{"account/no exports", steps{1}, localUnknown, notThere},
	{"account/no global tables", steps{1}, localUnknown, notThere},
	{"account/no imports", steps{1}, localUnknown, notThere},
	{"account/no backups", steps{1}, localUnknown, notThere},
}

// Answers that DynamoDB Local gives in several cases about streams.
const (
	localNoShard   = "ResourceNotFoundException: Shard does not exist"
	localNoStream  = "ResourceNotFoundException: Stream does not exist"
	localNoSetting = "ValidationException: Stream StreamEnabled was null"
	localInternal  = "InternalFailure: The request processing has failed because of an unknown error, exception " +
		"or failure."
	localStreamOn    = "ValidationException: Table already has an enabled stream"
	localStreamOff   = "ValidationException: Table has no stream to disable"
	localViewMissing = "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or empty when " +
		"enabling streams."
	localViewGiven = "ValidationException: Invalid StreamViewType: Stream StreamEnabled was false but a " +
		"StreamViewType was present."
)

// Why it differs there.
const (
	fails   = "Local fails"
	noPages = "Local counts records, not bytes"
)

// localStreams are the answers of DynamoDB Local 3.3.1 about streams that differ from DynamoDB's. No case sees DynamoDB
// Local's record of a deletion by TTL, because Local's clock is the machine's. The record has no userIdentity and an
// unknown event.
var localStreams = []deviation{
	{"stream_read/describe limit", steps{3},
		"ValidationException: One or more parameter values were invalid: Limit cannot be greater than the maximum: 100",
		ownWords},
	{"stream_read/describe short ARN", steps{1},
		"ResourceNotFoundException: Requested resource not found: Stream: bumble not found", lenient},
	{"stream_read/describe short ARN", steps{2}, "ValidationException: Invalid StreamArn", ownWords},
	{"stream_read/describe what is no ARN", steps{1},
		"ResourceNotFoundException: Requested resource not found: Stream: " +
			"sdfadfsdfnlfkajakfgjalksfgklasjklasdjfklasdfasdfgasf not found", lenient},
	{"stream_read/describe what is no ARN", steps{2},
		"ResourceNotFoundException: Requested resource not found: Stream: arn/rows not found", lenient},
	{"stream_read/iterator of a missing shard", steps{1, 2}, localNoShard, ownWords},
	{"stream_read/iterator of a missing stream", steps{2}, localNoStream, ownWords},
	{"stream_read/iterator of a short shard", steps{1}, localNoShard, lenient},
	{"stream_read/iterator of a short shard", steps{2}, "ValidationException: No ShardId specified.", ownWords},
	{"stream_read/iterator of what is no ARN", steps{2}, localNoStream, lenient},
	{"stream_read/large pages", steps{8}, `3 records; more
- INSERT {pk: "a", sk: "1"} new {pk: "a", sk: "1", x: "xxxxxxxx"...390000}
- INSERT {pk: "a", sk: "2"} new {pk: "a", sk: "2", x: "xxxxxxxx"...390000}
- INSERT {pk: "a", sk: "3"} new {pk: "a", sk: "3", x: "xxxxxxxx"...390000}`, noPages},
	{"stream_read/large pages", steps{9}, "0 records; more", noPages},
	{"stream_read/limit over 1,000", steps{3},
		"ValidationException: One or more parameter values were invalid: Limit should be less than or equal to 1000",
		ownWords},
	{"stream_read/list after what is no ARN", steps{1}, "streams of []", lenient},
	{"stream_read/list limit", steps{2},
		"ValidationException: One or more parameter values were invalid: Limit cannot be greater than the maximum " +
			"allowed size: 100", ownWords},
	{"stream_read/no iterator", steps{2, 3}, "ValidationException: Invalid ShardIterator", ownWords},
	{"stream_read/no number", steps{2}, localInternal, fails},
	{"stream_read/no such type", steps{1}, localInternal, fails},
	{"stream_read/no such type", steps{2}, localNoShard, lenient},
	{"stream_table/a view alone", steps{1}, localNoSetting, ownWords},
	{"stream_table/disable again", steps{2}, localStreamOff, ownWords},
	{"stream_table/disable nothing", steps{1}, localStreamOff, ownWords},
	{"stream_table/disable with a view", steps{1}, localViewGiven, ownWords},
	{"stream_table/enable again", steps{1, 2}, localStreamOn, ownWords},
	{"stream_table/no such view", steps{1},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true UNKNOWN_TO_SDK_VERSION; latest stream",
		lenient},
	{"stream_table/nothing said", steps{1}, localNoSetting, ownWords},
	{"stream_table/off with a view", steps{1}, localViewGiven, ownWords},
	{"stream_table/on without a view", steps{1}, localViewMissing, ownWords},
	{"stream_table/update says nothing", steps{1}, localNoSetting, ownWords},
	{"stream_table/update to no such view", steps{1}, "updating rows", lenient},
	{"stream_table/update to no such view", steps{2},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true UNKNOWN_TO_SDK_VERSION; latest stream",
		lenient},
	{"stream_table/update without a view", steps{1}, localViewMissing, ownWords},
	{"stream_table/with a class", steps{1}, "updating rows", lenient},
	{"stream_table/with a class", steps{2},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true KEYS_ONLY; latest stream", lenient},
	{"stream_table/with an index", steps{1}, "updating rows", lenient},
	{"stream_table/with an index", steps{2},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; gsi (g S HASH) ALL; stream true KEYS_ONLY; " +
			"latest stream", lenient},
	{"stream_table/with protection", steps{1}, "updating rows", lenient},
	{"stream_table/with protection", steps{2},
		"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true KEYS_ONLY; latest stream", lenient},
	{"stream_table/with throughput", steps{2},
		"ValidationException: Cannot change IOPS and Streams at the same time.", ownWords},
}
