package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The quotas of an account that never asked for more.
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

// describeEndpoints serves DescribeEndpoints. The address is that of the service: the engine does not know which door a
// call came through. SDKs ask for it only if they are told to discover endpoints, and not if they were given one.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeEndpoints.html
func (db *DB) describeEndpoints(r *request, _ *dynamodb.DescribeEndpointsInput) (*dynamodb.DescribeEndpointsOutput, error) {
	const minutes = 24 * 60
	return &dynamodb.DescribeEndpointsOutput{Endpoints: []types.Endpoint{{
		Address:              aws.String("dynamodb." + r.region + ".amazonaws.com"),
		CachePeriodInMinutes: minutes,
	}}}, nil
}

// describeContinuousBackups serves DescribeContinuousBackups: every table has continuous backups. No table has
// point-in-time recovery: only UpdateContinuousBackups turns that on, and the fake does not have it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContinuousBackups.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/backups/continuous.test.ts
func (db *DB) describeContinuousBackups(r *request, in *dynamodb.DescribeContinuousBackupsInput) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := db.find(r, name)
	if err != nil {
		return nil, err
	}
	if t == nil {
		// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md
		// (DDB-TABLE-098)
		return nil, &types.TableNotFoundException{Message: aws.String("Table not found: " + nameInARN(name))}
	}
	return &dynamodb.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: &types.ContinuousBackupsDescription{
		ContinuousBackupsStatus: types.ContinuousBackupsStatusEnabled,
		PointInTimeRecoveryDescription: &types.PointInTimeRecoveryDescription{
			PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusDisabled,
		},
	}}, nil
}

// accessDenied is the answer to an ARN of another account or service.
func accessDenied() error {
	return &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "Access is denied", Fault: smithy.FaultClient}
}
