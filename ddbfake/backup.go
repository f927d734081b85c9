package ddbfake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// backup is a table as it was, with its settings. It shares the rows of the table until they are written, as a snapshot
// does. It never changes, so states and snapshots share it.
type backup struct {
	id      string // the last part of the ARN
	name    string
	kind    types.BackupType
	created time.Time
	expires time.Time // zero if it does not expire

	// mu is held while the table is copied: several DBs, each with its own lock, may share a backup.
	mu    sync.Mutex
	table *table
}

// Deleting a table that has recovery leaves a backup. deletedTableBackup is the end of its name, and systemRetention is
// how long it is kept.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BackupDetails.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md#ddb-backup-015
const (
	deletedTableBackup = "$DeletedTableBackup"
	systemRetention    = 35 * 24 * time.Hour
)

// backupInARN is the part of a backup's ARN between its table and its id.
const backupInARN = "/backup/"

func (b *backup) arn() string { return tableARN(b.table.region, b.table.name) + backupInARN + b.id }

func (b *backup) gone(now time.Time) bool { return !b.expires.IsZero() && !now.Before(b.expires) }

// compare orders backups by id, which begins with the time of creation, in milliseconds.
func (b *backup) compare(id, table, region string) int {
	return cmp.Or(cmp.Compare(b.id, id), cmp.Compare(b.table.name, table), cmp.Compare(b.table.region, region))
}

func (b *backup) copyTable() *table {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.table.copy()
}

// keepBackup makes a backup of a table. Its id is the time and a number. A system backup has the number 0, so its id
// needs another millisecond if the clock stands still.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md
// (DDB-BACKUP-006, DDB-BACKUP-015)
func (db *DB) keepBackup(t *table, name string, kind types.BackupType, now time.Time) *backup {
	s := &db.state
	b := &backup{name: name, kind: kind, created: now.UTC().Truncate(time.Millisecond), table: t.copy()}
	b.table.counters = nil
	number := 0
	if kind == types.BackupTypeSystem {
		b.expires = b.created.Add(systemRetention)
	} else {
		s.backupsCreated++
		number = s.backupsCreated
	}
	for millis := b.created.UnixMilli(); b.id == "" || s.backup(t.region, t.name, b.id) != nil; millis++ {
		b.id = fmt.Sprintf("%014d-%08x", millis, number)
	}
	others := slices.DeleteFunc(slices.Clone(s.backups), func(other *backup) bool { return other.gone(now) })
	at, _ := slices.BinarySearchFunc(others, b,
		func(a, b *backup) int { return a.compare(b.id, b.table.name, b.table.region) })
	s.backups = slices.Insert(others, at, b)
	return b
}

// backup returns a backup, or nil. The backup may have expired.
func (s *state) backup(region, table, id string) *backup {
	i := slices.IndexFunc(s.backups, func(b *backup) bool { return b.compare(id, table, region) == 0 })
	if i < 0 {
		return nil
	}
	return s.backups[i]
}

// splitBackupARN takes the ARN of a backup apart.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeBackup.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md#ddb-backup-012
// for the errors
func splitBackupARN(arn string) (region, table, id string, err error) {
	parts := strings.SplitN(arn, ":", 6)
	ok := len(parts) == 6 && parts[0] == "arn" && len(arn) <= maxTableARN
	if ok {
		table, ok = strings.CutPrefix(parts[5], "table/")
	}
	if ok {
		table, id, ok = strings.Cut(table, backupInARN)
	}
	switch {
	case !ok || !plainTableName(table) || id == "":
		return "", "", "", invalid("Invalid Backup ARN")
	case parts[3] == "" || parts[4] != account:
		return "", "", "", accessDenied()
	case parts[1] != partitionOf(parts[3]) || parts[2] != "dynamodb":
		return "", "", "", badRequest("BackupArn is not valid")
	}
	return parts[3], table, id, nil
}

// tableOfBackup returns the name of the table in the ARN of a backup.
func tableOfBackup(arn *string) string {
	name, _, _ := strings.Cut(nameInARN(aws.ToString(arn)), backupInARN)
	return name
}

// foundBackup finds the backup that an operation names. The region in the ARN does not matter: the backup is looked for
// in the region of the request.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md#ddb-backup-012
func (db *DB) foundBackup(r *request, arn *string) (*backup, error) {
	var c constraints
	if arn == nil {
		c.null("backupArn")
		return nil, c.err()
	}
	_, table, id, err := splitBackupARN(*arn)
	if err != nil {
		return nil, err
	}
	return db.backupOf(r, r.region, table, id, *arn)
}

func (db *DB) backupOf(r *request, region, table, id, arn string) (*backup, error) {
	if b := db.state.backup(region, table, id); b != nil && !b.gone(r.now) {
		return b, nil
	}
	// Source:
	// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md#ddb-backup-005
	return nil, &types.BackupNotFoundException{Message: aws.String("Backup not found: " + arn)}
}

// createBackup serves CreateBackup. Several backups may have the same name.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateBackup.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md
// (DDB-BACKUP-003, DDB-BACKUP-011)
//
// Deviation: a backup has exactly the rows of the moment of the call. The service promises only those of a minute
// earlier. Sizes and row counts are exact. The backup is AVAILABLE at the next call, so BackupInUseException never
// comes.
func (db *DB) createBackup(r *request, in *dynamodb.CreateBackupInput) (*dynamodb.CreateBackupOutput, error) {
	var c constraints
	table := c.table(in.TableName)
	if name := in.BackupName; name == nil {
		c.null("backupName")
	} else {
		if *name == "" {
			c.pattern("", "backupName", tableNamePattern)
		}
		c.plainName(*name, "backupName")
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	t, err := db.backedUp(r, table)
	if err != nil {
		return nil, err
	}
	b := db.keepBackup(t, *in.BackupName, types.BackupTypeUser, r.now)
	return &dynamodb.CreateBackupOutput{BackupDetails: b.details(b.arn(), types.BackupStatusCreating)}, nil
}

// describeBackup serves DescribeBackup. The answer repeats the ARN as it was sent.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeBackup.html
func (db *DB) describeBackup(r *request, in *dynamodb.DescribeBackupInput) (*dynamodb.DescribeBackupOutput, error) {
	b, err := db.foundBackup(r, in.BackupArn)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeBackupOutput{BackupDescription: b.describe(*in.BackupArn, types.BackupStatusAvailable)},
		nil
}

// deleteBackup serves DeleteBackup.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteBackup.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md
// (DDB-BACKUP-005, DDB-BACKUP-015)
func (db *DB) deleteBackup(r *request, in *dynamodb.DeleteBackupInput) (*dynamodb.DeleteBackupOutput, error) {
	b, err := db.foundBackup(r, in.BackupArn)
	switch {
	case err != nil:
		return nil, err
	case b.kind == types.BackupTypeSystem:
		return nil,
			badRequest("User is not allowed to delete the system backup with arn %s. It will automatically "+
				"expire on %s",
				*in.BackupArn, b.expires.Format("2006-01-02T15:04:05.000Z"))
	}
	db.state.backups = slices.DeleteFunc(slices.Clone(db.state.backups), func(other *backup) bool { return other == b })
	return &dynamodb.DeleteBackupOutput{BackupDescription: b.describe(*in.BackupArn, types.BackupStatusDeleted)}, nil
}

// maxListedBackups is the maximum size of a page of ListBackups, and the default.
const maxListedBackups = 100

// listBackups serves ListBackups. The table need not exist any more. AWS documents no order; this is the order of
// creation.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListBackups.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md
// (DDB-BACKUP-012, DDB-BACKUP-014)
func (db *DB) listBackups(r *request, in *dynamodb.ListBackupsInput) (*dynamodb.ListBackupsOutput, error) {
	var c constraints
	if in.TableName != nil {
		c.table(in.TableName)
	}
	c.enum(string(in.BackupType), "backupType", []string{"USER", "SYSTEM", "AWS_BACKUP", "ALL"})
	limit := c.limit(in.Limit, maxListedBackups)
	if err := c.err(); err != nil {
		return nil, err
	}
	from, to := in.TimeRangeLowerBound, in.TimeRangeUpperBound
	if from != nil && to != nil && from.After(*to) {
		return nil, badParameter("Time range lower bound must be less than or equal to upper bound")
	}
	if in.TableName != nil {
		if _, err := db.lookUp(r, *in.TableName); err != nil {
			return nil, err
		}
	}
	after := func(*backup) bool { return true }
	if in.ExclusiveStartBackupArn != nil {
		region, table, id, err := splitBackupARN(*in.ExclusiveStartBackupArn)
		switch {
		case err != nil:
			return nil, err
		case region != r.region:
			return nil, badRequest("The supplied ExclusiveStartBackupArn does not match the region")
		}
		after = func(b *backup) bool { return b.compare(id, table, region) > 0 }
	}
	kind := cmp.Or(in.BackupType, types.BackupTypeFilterUser)
	out := &dynamodb.ListBackupsOutput{BackupSummaries: []types.BackupSummary{}}
	for _, b := range db.state.backups {
		switch {
		case b.table.region != r.region, b.gone(r.now), !after(b),
			in.TableName != nil && b.table.name != nameInARN(*in.TableName),
			kind != types.BackupTypeFilterAll && string(kind) != string(b.kind),
			from != nil && b.created.Before(*from), to != nil && !b.created.Before(*to):
			continue
		}
		if len(out.BackupSummaries) == limit {
			out.LastEvaluatedBackupArn = out.BackupSummaries[limit-1].BackupArn
			break
		}
		d := b.details(b.arn(), types.BackupStatusAvailable)
		out.BackupSummaries = append(out.BackupSummaries, types.BackupSummary{
			BackupArn: d.BackupArn, BackupName: d.BackupName, BackupStatus: d.BackupStatus, BackupType: d.BackupType,
			BackupCreationDateTime: d.BackupCreationDateTime, BackupExpiryDateTime: d.BackupExpiryDateTime,
			BackupSizeBytes: d.BackupSizeBytes, TableArn: aws.String(tableARN(b.table.region, b.table.name)),
			TableId: aws.String(b.table.id), TableName: aws.String(b.table.name),
		})
	}
	return out, nil
}

func (b *backup) details(arn string, status types.BackupStatus) *types.BackupDetails {
	d := &types.BackupDetails{
		BackupArn: aws.String(arn), BackupName: aws.String(b.name), BackupStatus: status, BackupType: b.kind,
		BackupCreationDateTime: aws.Time(b.created), BackupSizeBytes: aws.Int64(b.table.bytes),
	}
	if !b.expires.IsZero() {
		d.BackupExpiryDateTime = aws.Time(b.expires)
	}
	return d
}

// describe returns the backup's description, with the settings that the table had turned on. A system backup has these
// settings, too, but does not show them.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BackupDescription.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/backup.md
// (DDB-BACKUP-009, DDB-BACKUP-015, DDB-BACKUP-021)
func (b *backup) describe(arn string, status types.BackupStatus) *types.BackupDescription {
	t := b.table
	d := &types.BackupDescription{
		BackupDetails: b.details(arn, status),
		SourceTableDetails: &types.SourceTableDetails{
			TableName: aws.String(t.name), TableId: aws.String(t.id), TableArn: aws.String(tableARN(t.region, t.name)),
			TableCreationDateTime: aws.Time(t.created), KeySchema: slices.Clone(t.keys),
			BillingMode:           cmp.Or(t.billing, types.BillingModeProvisioned),
			ProvisionedThroughput: t.throughput.units(), OnDemandThroughput: t.ceiling.describe(),
			ItemCount: aws.Int64(int64(t.rows.Len())), TableSizeBytes: aws.Int64(t.bytes),
		},
		SourceTableFeatureDetails: &types.SourceTableFeatureDetails{},
	}
	if b.kind == types.BackupTypeSystem {
		return d
	}
	features := d.SourceTableFeatureDetails
	features.SSEDescription = t.encryption.describe()
	if t.stream != nil && t.stream.enabled() {
		features.StreamDescription = &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: t.stream.view,
		}
	}
	if t.ttl.enabled {
		features.TimeToLiveDescription = &types.TimeToLiveDescription{
			TimeToLiveStatus: types.TimeToLiveStatusEnabled, AttributeName: aws.String(t.ttl.attribute),
		}
	}
	for _, x := range t.indexes {
		name, keys, projection := aws.String(x.name), slices.Clone(x.keys), x.projection
		if x.global {
			features.GlobalSecondaryIndexes = append(features.GlobalSecondaryIndexes, types.GlobalSecondaryIndexInfo{
				IndexName: name, KeySchema: keys, Projection: &projection,
				ProvisionedThroughput: x.throughput.units(), OnDemandThroughput: x.ceiling.describe(),
			})
		} else {
			features.LocalSecondaryIndexes = append(features.LocalSecondaryIndexes, types.LocalSecondaryIndexInfo{
				IndexName: name, KeySchema: keys, Projection: &projection,
			})
		}
	}
	return d
}

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

// window returns the first and the last second to which a table can be restored as of now. Just after recovery was
// turned on, both are the second in which that happened.
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

// backedUp finds the table that an operation on backups names.
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
