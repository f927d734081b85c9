package ddbfake

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// recovery is a table's setting of point-in-time recovery.
type recovery struct {
	since time.Time // the earliest time to which the table can be restored; zero if recovery is off
	days  int32
}

func (p recovery) enabled() bool { return !p.since.IsZero() }

// maxRecoveryDays is the longest period, and the default.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PointInTimeRecoverySpecification.html
const maxRecoveryDays = 35

// recoveryLag is the age of the latest moment to which a table can be restored.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PointInTimeRecoveryDescription.html
const recoveryLag = 5 * time.Minute

// window returns the first and the last second to which a table with recovery can be restored at an instant. Just after
// recovery was turned on, both are the second in which it was turned on.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md#ddb-table-086
//
// Deviation: under Options.KeepChanges the window begins after the last change that the log has dropped, even if that
// was a change of another table. The service keeps all changes of the recovery period.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Point-in-time-recovery.html
func (db *DB) window(p recovery, now time.Time) (earliest, latest time.Time) {
	earliest = p.since
	if oldest := now.AddDate(0, 0, -int(p.days)); oldest.After(earliest) {
		earliest = oldest
	}
	earliest = earliest.UTC().Truncate(time.Second)
	if dropped := db.state.log.droppedAt; dropped.After(earliest) {
		earliest = dropped.UTC().Add(time.Second - 1).Truncate(time.Second)
	}
	latest = now.UTC().Add(-recoveryLag).Truncate(time.Second)
	if latest.Before(earliest) {
		latest = earliest
	}
	return earliest, latest
}

// describeRecovery describes the continuous backups of a table.
func (db *DB) describeRecovery(p recovery, now time.Time) *types.ContinuousBackupsDescription {
	d := &types.PointInTimeRecoveryDescription{PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusDisabled}
	if p.enabled() {
		earliest, latest := db.window(p, now)
		d = &types.PointInTimeRecoveryDescription{
			PointInTimeRecoveryStatus: types.PointInTimeRecoveryStatusEnabled, RecoveryPeriodInDays: aws.Int32(p.days),
			EarliestRestorableDateTime: &earliest, LatestRestorableDateTime: &latest,
		}
	}
	return &types.ContinuousBackupsDescription{
		ContinuousBackupsStatus: types.ContinuousBackupsStatusEnabled, PointInTimeRecoveryDescription: d,
	}
}

// describeContinuousBackups serves DescribeContinuousBackups: every table has continuous backups, and point-in-time
// recovery once UpdateContinuousBackups has turned it on.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContinuousBackups.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/backups/continuous.test.ts
func (db *DB) describeContinuousBackups(
	r *request, in *dynamodb.DescribeContinuousBackupsInput,
) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := db.backedUp(r, name)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeContinuousBackupsOutput{
		ContinuousBackupsDescription: db.describeRecovery(t.recovery, r.now),
	}, nil
}

// backedUp finds the table of an operation on its backups.
func (db *DB) backedUp(r *request, name string) (*table, error) {
	t, err := db.find(r, name)
	if t == nil && err == nil {
		err = tableNotFound(nameInARN(name))
	}
	return t, err
}

// tableNotFound is the error if a request about backups names a table that does not exist.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md
// (DDB-TABLE-098)
func tableNotFound(name string) error {
	return &types.TableNotFoundException{Message: aws.String("Table not found: " + name)}
}

// updateContinuousBackups serves UpdateContinuousBackups.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateContinuousBackups.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-subresources.md
// (DDB-TABLE-084: the texts)
//
// Deviation: a table has continuous backups from its creation on. The service takes some seconds, in which it answers
// ContinuousBackupsUnavailableException to this operation and to CreateBackup.
func (db *DB) updateContinuousBackups(
	r *request, in *dynamodb.UpdateContinuousBackupsInput,
) (*dynamodb.UpdateContinuousBackupsOutput, error) {
	const member = "pointInTimeRecoverySpecification"
	var c constraints
	name := c.table(in.TableName)
	days := int32(maxRecoveryDays)
	if spec := in.PointInTimeRecoverySpecification; spec == nil {
		c.null(member)
	} else {
		if spec.PointInTimeRecoveryEnabled == nil {
			c.null(member + ".pointInTimeRecoveryEnabled")
		}
		if spec.RecoveryPeriodInDays != nil {
			days = *spec.RecoveryPeriodInDays
			c.between(&days, member+".recoveryPeriodInDays", 1, maxRecoveryDays)
		}
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	enabled := *in.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled
	if !enabled && in.PointInTimeRecoverySpecification.RecoveryPeriodInDays != nil {
		return nil, badRequest("Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.")
	}
	t, err := db.backedUp(r, name)
	if err != nil {
		return nil, err
	}
	t.changeSettings()
	switch {
	case !enabled:
		t.recovery = recovery{}
	case t.recovery.enabled():
		since, _ := db.window(t.recovery, r.now) // a longer period does not bring back changes that are already dropped
		t.recovery = recovery{since: since, days: days}
	default:
		t.recovery = recovery{since: r.now, days: days}
	}
	return &dynamodb.UpdateContinuousBackupsOutput{
		ContinuousBackupsDescription: db.describeRecovery(t.recovery, r.now),
	}, nil
}

// badRequest returns a ValidationException that begins like those about backups and restores.
func badRequest(format string, args ...any) error {
	return invalid("Invalid Request: %s", fmt.Sprintf(format, args...))
}
