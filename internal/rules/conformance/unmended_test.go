package conformance_test

// unmended is a known difference that nobody intends: the fake must be mended.
type unmended struct{ what, service, fake, source string }

const (
	paritySuite = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	alternator  = "https://github.com/scylladb/scylladb/blob/master/test/alternator/"
	reference   = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/"
	guide       = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
)

var unmendedDynamoDB = []unmended{
	{
		"PutItem, UpdateItem and DeleteItem: a value of no type, an empty name of an attribute, wrong " +
			"AttributeUpdates, a ConditionalOperator out of place, values of an UpdateItem without an expression",
		"the text is not captured since 2026; those about other mistakes that need no table begin with `1 " +
			"validation error detected: `",
		"begins so, too", paritySuite + "tier3/error-messages/deleteItem.test.ts",
	},
	{
		"PutItem, UpdateItem and DeleteItem: a value of two types",
		"whether the text begins with `1 validation error detected: ` is not captured",
		"the text alone", paritySuite + "tier3/error-messages/deleteItem.test.ts",
	},
	{
		"a value of two types among the values of an expression",
		"the text begins with `ExpressionAttributeValues contains invalid value: `", "the text alone",
		"https://github.com/architect/dynalite/blob/main/test/query.js",
	},
	{
		"an unknown type in `attribute_type` of a statement",
		"the text lists the types in another order than the text about an expression", "one order",
		"https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLDocumentedSyntaxIntegrationTest.java",
	},
	{
		"a wrong ConditionalOperator", "a newer text, but beside values nested over about 62 levels or a missing key",
		"the older text", paritySuite + "tier3/validation-ordering/query.test.ts",
	},
	{
		"a wrong ReturnValues beside a value nested over about 62 levels", "the text of before 2026", "the newer one",
		paritySuite + "tier3/validation-ordering/deepRequests.test.ts",
	},
	{
		"UpdateItem near 400 KB",
		"in 22 of 33 regions the limit counts what the statement writes, with a cost by clause; in ten it " +
			"counts the item",
		"counts the item", paritySuite + "tier3/limits/itemSizeBySurface.test.ts",
	},
	{
		"the account in a table's ARN",
		"the twelve digits of the caller's account; that of another needs a policy there",
		"000000000000 in answers, and any other is accepted",
		guide + "rbac-intro.html",
	},
	{"a ShardFilter without Type or ShardId", "both are parts of its only documented use",
		"without a Type the children of the shard, without a ShardId no shards",
		reference + "API_streams_ShardFilter.html"},
	{
		"AT_TIMESTAMP without a Timestamp", "refused, in a text that is not documented",
		"refused, in a text of its own", reference + "API_streams_GetShardIterator.html",
	},
	{"exports and imports", "served", "refused; their lists are empty",
		reference + "API_ExportTableToPointInTime.html"},
	{"global tables with units", "there", "refused", guide + "V2globaltables_HowItWorks.html"},
}

var unmendedS3 = []unmended{
	{
		"signatures and the expiry of presigned requests", "checked", "not checked",
		"https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html",
	},
}
