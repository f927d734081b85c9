package ddbfake

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The quotas of an account that never asked for higher ones.
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

// describeEndpoints serves DescribeEndpoints. The answer has the service's own address, and through the HTTP door the
// address by which the client called. SDKs call it only if they are told to discover endpoints and were not given one.
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

// Infrastructure code asks for these. The fake answers as an account that has never used them.

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

// named finds the table of an operation that describes it.
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
