package ddbfake

import (
	"cmp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// DefaultRegion is the region of a call that names none.
const DefaultRegion = "us-east-1"

// The account of every table.
const account = "000000000000"

// The key of a table in state.tables is its name in the default region, and its ARN elsewhere. So programs that use
// only the default region, as nearly all do, have no extra cost.

// address returns the key of a table in state.tables: a name or an ARN.
func address(region, name string) string {
	if region == DefaultRegion {
		return name
	}
	return tableARN(region, name)
}

// address returns the table's key in state.tables: a name or an ARN.
func (t *table) address() string { return address(t.region, t.name) }

// at returns the table with a name, in the default region, or an ARN; nil if there is none.
func (s *state) at(nameOrARN string) *table {
	if region, name, ok := splitTableARN(nameOrARN); ok {
		nameOrARN = address(region, name)
	}
	return s.tables[nameOrARN]
}

// find returns the table that a request gives by name or ARN; nil if there is none. It refuses an ARN of another
// region: a request reaches only its own region.
//
// Source: https://github.com/hashicorp/terraform-provider-aws/issues/42792 (the text)
func (db *DB) find(r *request, nameOrARN string) (*table, error) {
	t, err := db.lookUp(r, nameOrARN)
	if t != nil && t.strong && r.op.transacts() {
		return nil, errTransactsStrong
	}
	if t != nil {
		db.touch(r, t)
	}
	return t, err
}

func (db *DB) lookUp(r *request, nameOrARN string) (*table, error) {
	if r.region == DefaultRegion {
		if t := db.state.tables[nameOrARN]; t != nil && t.region == DefaultRegion {
			return t, nil
		}
	}
	region, name, ok := splitTableARN(nameOrARN)
	switch {
	case !ok:
		return db.state.tables[address(r.region, nameOrARN)], nil
	case region != r.region:
		return nil, invalid("1 validation error detected: Invalid AWS region in '%s'", nameOrARN)
	}
	return db.state.tables[address(region, name)], nil
}

// tableARN returns the ARN of a table.
//
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
func tableARN(region, name string) string {
	return "arn:" + partitionOf(region) + ":dynamodb:" + region + ":" + account + ":table/" + name
}

func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// splitTableARN takes apart an ARN such as arn:aws:dynamodb:us-east-1:000000000000:table/cache. The account is ignored:
// there is only one.
func splitTableARN(arn string) (region, name string, ok bool) {
	if !strings.HasPrefix(arn, "arn:") {
		return "", "", false
	}
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[2] != "dynamodb" {
		return "", "", false
	}
	name, ok = strings.CutPrefix(parts[5], "table/")
	return parts[3], name, ok
}

// nameInARN returns the table's name in an ARN, "" if the ARN is not a table's. A plain name is returned as it is.
func nameInARN(nameOrARN string) string {
	if !strings.HasPrefix(nameOrARN, "arn:") {
		return nameOrARN
	}
	_, name, _ := splitTableARN(nameOrARN)
	return name
}

// checkRegion refuses a text that cannot be the name of a region. Any other name is allowed: tests make some up.
//
// Source: https://github.com/3mcloud/falcano/pull/47 (the text)
func checkRegion(region string) error {
	for i := range len(region) {
		if c := region[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
			c == '_' || c == '.') {
			return &smithy.GenericAPIError{
				Code:    "InvalidSignatureException",
				Message: "Credential should be scoped to a valid region, not '" + region + "'. ",
				Fault:   smithy.FaultClient,
			}
		}
	}
	return nil
}

// compare orders tables by region, then name.
func (t *table) compare(u *table) int {
	return cmp.Or(cmp.Compare(t.region, u.region), cmp.Compare(t.name, u.name))
}

// The quotas of an account that never requested higher ones.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
const (
	maxAccountUnits = 80_000
	maxTableUnits   = 40_000
)

// describeLimits serves DescribeLimits: the quotas of a new account, which the fake does not enforce.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeLimits.html
func (db *DB) describeLimits(*request, *dynamodb.DescribeLimitsInput) (*dynamodb.DescribeLimitsOutput, error) {
	return &dynamodb.DescribeLimitsOutput{
		AccountMaxReadCapacityUnits:  aws.Int64(maxAccountUnits),
		AccountMaxWriteCapacityUnits: aws.Int64(maxAccountUnits),
		TableMaxReadCapacityUnits:    aws.Int64(maxTableUnits),
		TableMaxWriteCapacityUnits:   aws.Int64(maxTableUnits),
	}, nil
}

// describeEndpoints serves DescribeEndpoints. The answer has the service's address or, through the HTTP door, the
// address that the client called. SDKs call it only if they are told to discover endpoints and were given none.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeEndpoints.html
func (db *DB) describeEndpoints(
	r *request, _ *dynamodb.DescribeEndpointsInput,
) (*dynamodb.DescribeEndpointsOutput, error) {
	const minutes = 24 * 60
	return &dynamodb.DescribeEndpointsOutput{Endpoints: []types.Endpoint{{
		Address:              aws.String("dynamodb." + r.region + ".amazonaws.com"),
		CachePeriodInMinutes: minutes,
	}}}, nil
}

// Infrastructure code makes the following requests. The fake answers like an account that has never used these
// features.

// describeContributorInsights serves DescribeContributorInsights.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContributorInsights.html
func (db *DB) describeContributorInsights(
	r *request, in *dynamodb.DescribeContributorInsightsInput,
) (*dynamodb.DescribeContributorInsightsOutput, error) {
	t, err := db.named(r, in.TableName)
	if err != nil {
		return nil, err
	}
	if in.IndexName != nil && t.index(*in.IndexName) == nil {
		return nil, resourceNotFound("Requested resource not found: Index: " + *in.IndexName + " not found")
	}
	return &dynamodb.DescribeContributorInsightsOutput{
		TableName: aws.String(t.name), IndexName: in.IndexName,
		ContributorInsightsStatus: types.ContributorInsightsStatusDisabled,
	}, nil
}

// describeKinesis serves DescribeKinesisStreamingDestination.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeKinesisStreamingDestination.html
func (db *DB) describeKinesis(
	r *request, in *dynamodb.DescribeKinesisStreamingDestinationInput,
) (*dynamodb.DescribeKinesisStreamingDestinationOutput, error) {
	t, err := db.named(r, in.TableName)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeKinesisStreamingDestinationOutput{
		TableName: aws.String(t.name), KinesisDataStreamDestinations: []types.KinesisDataStreamDestination{},
	}, nil
}

// getResourcePolicy serves GetResourcePolicy: no table or stream has a policy.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetResourcePolicy.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md (the texts)
func (db *DB) getResourcePolicy(
	r *request, in *dynamodb.GetResourcePolicyInput,
) (*dynamodb.GetResourcePolicyOutput, error) {
	arn, err := parseTableARN(r, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	table, _, _ := strings.Cut(arn, "/stream/")
	if _, err := db.describedTable(r, table); err != nil {
		return nil, err
	}
	return nil, &types.PolicyNotFoundException{
		Message: aws.String("Resource-based policy not found for the provided ResourceArn: " + arn),
	}
}

// named finds the table that a describing operation names.
func (db *DB) named(r *request, nameOrARN *string) (*table, error) {
	name, err := tableName(nameOrARN)
	if err != nil {
		return nil, err
	}
	return db.describedTable(r, name)
}

// listExports serves ListExports.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListExports.html
func (db *DB) listExports(*request, *dynamodb.ListExportsInput) (*dynamodb.ListExportsOutput, error) {
	return &dynamodb.ListExportsOutput{ExportSummaries: []types.ExportSummary{}}, nil
}

// listGlobalTables serves ListGlobalTables.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListGlobalTables.html
func (db *DB) listGlobalTables(*request, *dynamodb.ListGlobalTablesInput) (*dynamodb.ListGlobalTablesOutput, error) {
	return &dynamodb.ListGlobalTablesOutput{GlobalTables: []types.GlobalTable{}}, nil
}

// listImports serves ListImports.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListImports.html
func (db *DB) listImports(*request, *dynamodb.ListImportsInput) (*dynamodb.ListImportsOutput, error) {
	return &dynamodb.ListImportsOutput{ImportSummaryList: []types.ImportSummary{}}, nil
}

// accessDenied is the answer to an ARN of another account or service.
func accessDenied() error {
	return &smithy.GenericAPIError{
		Code: "AccessDeniedException", Message: "Access is denied", Fault: smithy.FaultClient,
	}
}
