package conformance

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

	docStreams    = guide + "Streams.html"
	docTTLStreams = guide + "time-to-live-ttl-streams.html"

	docProtection = guide + "WorkingWithTables.Basics.html"

	// Suites that are run against the service, for texts and orders that the
	// documentation does not give.
	parity     = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	nubo       = "https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/"
	dynalite   = "https://github.com/architect/dynalite/blob/main/test/"
	controller = "https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md"
	quirks     = "https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/"
	extenddb   = "https://github.com/ExtendDB/extenddb/pull/227"
	scylla5862 = "https://github.com/scylladb/scylladb/issues/5862"
	alternator = "https://github.com/scylladb/scylladb/blob/master/test/alternator/"
)

// Where the rules on legacy parameters come from.
const (
	docLegacyExpected    = guide + "LegacyConditionalParameters.Expected.html"
	docLegacyOperator    = guide + "LegacyConditionalParameters.ConditionalOperator.html"
	docLegacyUpdates     = guide + "LegacyConditionalParameters.AttributeUpdates.html"
	docLegacyKeys        = guide + "LegacyConditionalParameters.KeyConditions.html"
	docLegacyQueryFilter = guide + "LegacyConditionalParameters.QueryFilter.html"
	docLegacyScanFilter  = guide + "LegacyConditionalParameters.ScanFilter.html"
	docLegacyAttributes  = guide + "LegacyConditionalParameters.AttributesToGet.html"

	// Texts of the service, and what it takes.
	extenddb213 = "https://github.com/ExtendDB/extenddb/pull/213"
	floci2126   = "https://github.com/floci-io/floci/issues/2126"
)

// api is the reference of an operation.
func api(operation string) string {
	return "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_" + operation + ".html"
}
