package ddbfake

import (
	"time"

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

// describeContinuousBackups serves DescribeContinuousBackups: every table has continuous backups, and point-in-time
// recovery once UpdateContinuousBackups has turned it on.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContinuousBackups.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/backups/continuous.test.ts
func (db *DB) describeContinuousBackups(r *request, in *dynamodb.DescribeContinuousBackupsInput) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := db.backedUp(r, name)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeContinuousBackupsOutput{ContinuousBackupsDescription: t.recovery.describe(r.now)}, nil
}

// backedUp finds the table of an operation on its backups.
func (db *DB) backedUp(r *request, name string) (*table, error) {
	t, err := db.find(r, name)
	if t == nil && err == nil {
		// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md
		// (DDB-TABLE-098)
		err = &types.TableNotFoundException{Message: aws.String("Table not found: " + nameInARN(name))}
	}
	return t, err
}

// recovery is a table's setting of point-in-time recovery.
type recovery struct {
	since time.Time // zero if it is off
	days  int32
}

// maxRecoveryDays is the longest and the usual period.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PointInTimeRecoverySpecification.html
const maxRecoveryDays = 35

// describe returns the description at an instant. The latest moment that can be restored is five minutes ago.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PointInTimeRecoveryDescription.html
func (p recovery) describe(now time.Time) *types.ContinuousBackupsDescription {
	d := &types.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusDisabled}
	if !p.since.IsZero() {
		earliest := p.since
		if oldest := now.AddDate(0, 0, -int(p.days)); oldest.After(earliest) {
			earliest = oldest
		}
		latest := now.Add(-5 * time.Minute)
		if latest.Before(earliest) {
			latest = earliest
		}
		d = &types.PointInTimeRecoveryDescription{
			PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusEnabled, RecoveryPeriodInDays: aws.Int32(p.days),
			EarliestRestorableDateTime: &earliest, LatestRestorableDateTime: &latest,
		}
	}
	return &types.ContinuousBackupsDescription{ContinuousBackupsStatus: types.ContinuousBackupsStatusEnabled, PointInTimeRecoveryDescription: d}
}

// updateContinuousBackups serves UpdateContinuousBackups. The setting is described; there is nothing to restore from.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
func (db *DB) updateContinuousBackups(r *request, in *dynamodb.UpdateContinuousBackupsInput) (*dynamodb.UpdateContinuousBackupsOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	spec := in.PointInTimeRecoverySpecification
	var c constraints
	switch {
	case spec == nil:
		c.null("pointInTimeRecoverySpecification")
	case spec.PointInTimeRecoveryEnabled == nil:
		c.null("pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	t, err := db.backedUp(r, name)
	if err != nil {
		return nil, err
	}
	days := int32(maxRecoveryDays)
	if spec.RecoveryPeriodInDays != nil {
		days = *spec.RecoveryPeriodInDays
	}
	switch {
	case days < 1 || days > maxRecoveryDays: // AWS documents the range, and not the text
		return nil, invalid("RecoveryPeriodInDays must be between 1 and %d", maxRecoveryDays)
	case !*spec.PointInTimeRecoveryEnabled:
		t.recovery = recovery{}
	case t.recovery.since.IsZero():
		t.recovery = recovery{since: r.now, days: days}
	default:
		t.recovery.days = days
	}
	return &dynamodb.UpdateContinuousBackupsOutput{ContinuousBackupsDescription: t.recovery.describe(r.now)}, nil
}

// Infrastructure code asks for these features. Nobody has used them here, so the answers are those of an account
// without them.

// describeContributorInsights serves DescribeContributorInsights.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContributorInsights.html
func (db *DB) describeContributorInsights(r *request, in *dynamodb.DescribeContributorInsightsInput) (*dynamodb.DescribeContributorInsightsOutput, error) {
	t, err := db.named(r, in.TableName)
	if err != nil {
		return nil, err
	}
	if in.IndexName != nil && t.index(*in.IndexName) == nil {
		return nil, resourceNotFound("Requested resource not found: Index: " + *in.IndexName + " not found")
	}
	return &dynamodb.DescribeContributorInsightsOutput{
		TableName: aws.String(t.name), IndexName: in.IndexName, ContributorInsightsStatus: types.ContributorInsightsStatusDisabled,
	}, nil
}

// describeKinesis serves DescribeKinesisStreamingDestination.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeKinesisStreamingDestination.html
func (db *DB) describeKinesis(r *request, in *dynamodb.DescribeKinesisStreamingDestinationInput) (*dynamodb.DescribeKinesisStreamingDestinationOutput, error) {
	t, err := db.named(r, in.TableName)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeKinesisStreamingDestinationOutput{
		TableName: aws.String(t.name), KinesisDataStreamDestinations: []types.KinesisDataStreamDestination{},
	}, nil
}

// named finds the table of an operation that describes it.
func (db *DB) named(r *request, nameOrARN *string) (*table, error) {
	name, err := tableName(nameOrARN)
	if err != nil {
		return nil, err
	}
	return db.describedTable(r, name)
}

// listBackups serves ListBackups.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
func (db *DB) listBackups(*request, *dynamodb.ListBackupsInput) (*dynamodb.ListBackupsOutput, error) {
	return &dynamodb.ListBackupsOutput{BackupSummaries: []types.BackupSummary{}}, nil
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
	return &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "Access is denied", Fault: smithy.FaultClient}
}
