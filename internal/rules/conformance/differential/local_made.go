package differential

const (
	docTables  = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TableDescription.html"
	docUpdate  = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html"
	docTTL     = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTimeToLive.html"
	docStreams = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html"
	quirks     = "https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/"

	noTable   = "ResourceNotFoundException: Cannot do operations on a non-existent table"
	ofTable   = `(TableDescription|Table)\.`
	inIndexes = ofTable + `GlobalSecondaryIndexes\[\d+\]\.`
)

// localMade are the known differences about tables, TTL and streams.
var localMade = append([]*Known{
	{
		Path: "error", Fake: v + anything, Local: noTable + "|" + v + ".*" + localKey, When: Request.ofMade,
		Reason: inTables, Source: docErrors,
	},
	{
		Operations: onTables, Path: ofTable + `(GlobalSecondaryIndexes\[\d+\]\.)?WarmThroughput`, Fake: `\{.*`,
		Local: "absent", Reason: "Local does not have warm throughput", Source: docTables,
	},
	{
		Operations: onTables, Path: inIndexes + `ProvisionedThroughput(\.NumberOfDecreasesToday)?`,
		Fake:  `0|\{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0\}`,
		Local: "absent", Reason: "Local does not describe units that are none", Source: docTables,
	},
	{
		Operations: onTables, Path: inIndexes + "OnDemandThroughput", Fake: "absent",
		Local:  `\{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1\}`,
		Reason: "Local describes ceilings that are none", Source: docTables,
	},
	{
		Operations: "UpdateTable", Path: ofTable + `ProvisionedThroughput\.(Read|Write)CapacityUnits`, Fake: "[0-9]+",
		Local: "[0-9]+", Reason: "Local describes the units after the change", Source: docUpdate,
	},
	{
		Operations: onTables, Path: inIndexes + `ProvisionedThroughput\.(Read|Write)CapacityUnits`, Fake: "0",
		Local:  "[0-9]+",
		Reason: "Local keeps the units of an index of a table that is paid by request", Source: docUpdate,
	},
	{
		Operations: "UpdateTable", Path: ofTable + "AttributeDefinitions.*", Fake: anything, Local: anything,
		Reason: "Local forgets definitions that an UpdateTable does not repeat", Source: docUpdate,
	},
	{
		Operations: onTables,
		Path:       ofTable + `(GlobalSecondaryIndexes\[\d+\]\.)?ProvisionedThroughput\.NumberOfDecreasesToday`,
		Fake:       "[1-9][0-9]*", Local: "0|absent", Reason: "Local does not count decreases", Source: docTables,
	},
	{
		Operations: "DeleteTable", Path: `TableDescription\.(AttributeDefinitions|KeySchema)`, Fake: "absent",
		Local: `\[.*`, Reason: "Local describes keys that are gone", Source: dynalite + "deleteTable.js",
	},
	{
		Operations: "CreateTable UpdateTable", Path: "error",
		Fake: v +
			`(.*Neither ReadCapacityUnits nor WriteCapacityUnits can be specified .*|\d+ validation errors? detected: .*(provisionedThroughput|streamViewType).*)`,
		Local: "ok", Diverges: true, Reason: lenient, Source: docTables,
	},
	{
		Operations: "GetShardIterator", Path: "error", Fake: v + ".*Invalid SequenceNumber.*", Local: internal,
		Reason: aborts, Source: docStreams,
	},
	{
		Operations: "UpdateTable", Path: "error", Fake: "ok",
		Local: v + "invalid attribute, SchemaElement redefined .*", Diverges: true,
		Reason: "Local refuses a definition that differs from the table's where the new index does not use it; what " +
			"the service says is not known", Source: docUpdate,
	},
	{
		Operations: "CreateTable UpdateTable", Path: "error",
		Fake: v + bad + "ProvisionedThroughput must be specified for index: .*|" +
			constraint + ".*'billingMode' failed .*", Local: internal, Reason: aborts, Source: docUpdate,
	},
	{
		Operations: "GetRecords", Path: `Records\[\d+\]\.dynamodb\.(New|Old)Image\..*\.(M|L)`, Fake: `\{\}|\[\]`,
		Local: "absent", Reason: "Local gives an empty document no type here", Source: docStreams,
	},
	{
		Operations: "GetRecords", Path: "error", Fake: "ok", Local: "TrimmedDataAccessException: .*",
		Reason: "Local takes some records of the last seconds for trimmed", Source: docStreams,
	},
	{
		Path: "error", Fake: v + "Attribute name is too large, .*", Local: internal, Reason: aborts, Source: docTypes,
	},
}, wordedMade...)

// wordedMade are errors about tables, TTL and streams that Local words otherwise.
var wordedMade = func() (all []*Known) {
	for _, w := range []struct{ operations, fake, local, source string }{
		{onTables + " " + onTTL,
			`ResourceNotFoundException: Requested resource not found: Table: \S+ not found`, noTable, docErrors},
		{"CreateTable", "ResourceInUseException: Table already exists: .*",
			"ResourceInUseException: Cannot create preexisting table", docTables},
		{"CreateTable UpdateTable", v + "Invalid KeySchema: .*|" + constraint +
			".*'([a-zA-Z.0-9]*keySchema|attributeDefinitions).*",
			v + "(No Hash Key specified in schema|No defined key schema|No Attribute Schema Defined|Key " +
				"Schema too big).*", docTables},
		{"CreateTable UpdateTable", constraint + ".*'attributeDefinitions.* enum value set: .*",
			v + "Member must satisfy enum value set: .*", docTables},
		{"CreateTable", constraint + ".*'tableName' .*|" + v + "The parameter 'TableName' is required .*",
			v + "Invalid table/index name.*", docTables},
		{"CreateTable UpdateTable",
			v + "(Both the Hash Key and the Range Key element .*|Invalid KeySchema: Some index key attribute have " +
				"no definition)", v + "Two keys can not have the same name", docTables},
		{"CreateTable UpdateTable", v + bad + "(Unknown ProjectionType: .*|ProjectionType is .*)|" + constraint +
			".*rojection.*",
			v + "(Indexes must have a projection specified|Projection type must be .*|No attributes should be " +
				"specified .*|If Projection type INCLUDE .*)", docTables},
		{"UpdateTable", v + "The provisioned throughput for the table will not change.*",
			v + "The requested throughput value equals the current value", docUpdate},
		{"UpdateTimeToLive", v + "TimeToLive is active on a different AttributeName: .*",
			v + "TimeToLive is active on a different AttributeName", docTTL},
		{"UpdateTimeToLive", v + "TimeToLiveSpecification.AttributeName must be non empty|" + constraint + ".*length.*",
			v + "Names of key attributes .*", docTTL},
		{"UpdateItem", v + envelope + "Nesting Levels .*",
			v + "Nesting Levels have exceeded supported limits", captures},
		{"CreateTable", v + bad + "Table is being created with a stream (en|dis)abled, .*",
			v + "Invalid StreamViewType: .*", quirks + "table-streams-encryption-class.md"},
		{"UpdateTable", v + bad + "One of GlobalSecondaryIndexUpdate.*",
			v + "Update global secondary index action is null", docUpdate},
		{"CreateTable UpdateTable", constraint + ".*'provisionedThroughput.*",
			v + "Table read and write throughput must be at least 1, .*", docTables},
		{"CreateTable", v + "Attribute Name is duplicated: .*",
			v + "Cannot have two attributes with the same name", docTables},
		{"CreateTable", v + bad + "ReadCapacityUnits and WriteCapacityUnits must both be specified .*",
			v + "No provisioned throughput specified for the .*", docTables},
		{"CreateTable", v + "(" + bad + "(Some AttributeDefinitions are not used|Number of attributes in " +
			"KeySchema).*|Invalid KeySchema: Some index key attribute have no definition)",
			v + "(The number of attributes in key schema must match .*|(Hash|Range) Key not specified in .*)",
			docTables},
		{"CreateTable UpdateTable", constraint + ".*'streamSpecification.streamEnabled' failed .*",
			v + "Stream StreamEnabled was null", docUpdate},
		{"CreateTable UpdateTable", v + bad + "Some index key attributes are not defined .*",
			v + "(Attribute .* is not defined in AttributeDefinitions|(Hash|Range) Key not specified in .*|No Hash " +
				"Key specified in schema.*|Two keys can not have the same name)", docTables},
		{"CreateTable UpdateTable", constraint + ".*ndexName' .*", v + "Invalid table/index name.*", docTables},
		{"CreateTable UpdateTable", constraint + ".*streamViewType' .*", v + "Invalid StreamViewType: .*", docUpdate},
		{"UpdateTable", constraint + ".*", v + "Attempting to create an index which already exists", docUpdate},
		{"UpdateTable", v + "At least one of ProvisionedThroughput, .*", v + "Nothing to update", docUpdate},
		{"UpdateTable", v + bad + "If stream is being (en|dis)abled,? then UpdateViewType .*",
			v + "Invalid StreamViewType: .*", quirks + "details/DDB-TABLE-442.md"},
		{"UpdateTable", v + "Table (already has an enabled stream|has no stream to disable): TableName: .*",
			v + "Table (already has an enabled stream|has no stream to disable)", quirks + "details/DDB-TABLE-050.md"},
		{"UpdateTable", constraint + ".*streamViewType' .*", v + "Table already has an enabled stream",
			quirks + "details/DDB-TABLE-050.md"},
		{"UpdateTable", constraint + ".*ndexName' .*",
			v + "Invalid global secondary index name|" + internal, docUpdate},
		{"UpdateTable", v + "The parameter 'TableName' is required .*", v + "Value null at 'tableName' .*", docUpdate},
		{"UpdateTable", "ResourceNotFoundException: Requested resource not found: Index .*|" + v + bad +
			"You cannot create or delete index while .*", "ResourceNotFoundException: Requested resource not found|" +
			v + "Update global secondary index action is null", docUpdate},
		{"UpdateTimeToLive", constraint + ".*'timeToLiveSpecification.*",
			v + "(AttributeName|TimeToLiveSpecification) cannot be null.*", docTTL},
		{"DescribeStream", constraint + ".*'(streamArn|limit)' failed .*|" + v + "Invalid StreamArn",
			v + `(Invalid StreamArn|.*Limit .*)|ResourceNotFoundException: .* not found`, docStreams},
		{"GetShardIterator",
			"ResourceNotFoundException: Requested resource not found: (Shard does not exist|Stream: .* not found)",
			"ResourceNotFoundException: (Shard|Stream) does not exist|" + internal, docStreams},
		{"GetShardIterator", constraint + ".*|" + v + "Invalid StreamArn", v + "(No ShardId specified.|" + bad +
			".*)|ResourceNotFoundException: (Shard|Stream) does not exist|" + internal, docStreams},
		{"GetRecords", constraint + ".*'(shardIterator|limit)' failed .*",
			v + "(Invalid ShardIterator|" + bad + "Limit .*)", docStreams},
		{"", v + bad + "(Aggregated size of all range keys|Size of hashkey) has exceeded .*",
			v + "(Hash primary key values must be under .*|" + bad +
				"Size limit exceeded|Aggregate size for (HASH|RANGE) key attributes .*)", dynalite + "getItem.js"},
	} {
		all = append(all, &Known{
			Operations: w.operations, Path: "error", Fake: w.fake, Local: w.local, Reason: ownWords, Source: w.source,
		})
	}
	return all
}()
