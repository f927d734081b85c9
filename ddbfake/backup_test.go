package ddbfake_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// do makes a call to a region.
func do[O any](t testing.TB, db *ddbfake.DB, region string, in any) *O {
	t.Helper()
	out := must.Of(db.Do(t.Context(), ddbfake.Call{Actor: "alice", Region: region, Input: in}))(t)
	typed, ok := out.(*O)
	if !ok {
		t.Fatalf("got a %T", out)
	}
	return typed
}

func backUp(t testing.TB, db *ddbfake.DB) (arn string) {
	t.Helper()
	in := &dynamodb.CreateBackupInput{TableName: aws.String("cache"), BackupName: aws.String("one")}
	return *do[dynamodb.CreateBackupOutput](t, db, "", in).BackupDetails.BackupArn
}

func restore(t testing.TB, db *ddbfake.DB, arn, to string) {
	t.Helper()
	do[dynamodb.RestoreTableFromBackupOutput](t, db, "",
		&dynamodb.RestoreTableFromBackupInput{BackupArn: &arn, TargetTableName: &to})
}

// recovery turns recovery of the table on.
func recovery(t testing.TB, db *ddbfake.DB) {
	t.Helper()
	do[dynamodb.UpdateContinuousBackupsOutput](t, db, "", &dynamodb.UpdateContinuousBackupsInput{
		TableName: aws.String("cache"), PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(true),
		},
	})
}

// A backup shares the rows of its table until they are written, and a restored table shares the rows of the backup.
func TestBackupSharesRows(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	for i := range 1000 {
		w.put(with(key("a", fmt.Sprint(i)), "v", n("1")))
	}
	arn := backUp(t, w.db)
	sharing := func(table string, want int) {
		t.Helper()
		if shared, all := w.db.SharedRows(table); shared != want || all != 1000 {
			t.Errorf("%s shares %d rows of %d with the backup, want %d of 1000", table, shared, all, want)
		}
	}
	sharing("cache", 1000)
	for i := range 10 {
		w.put(with(key("a", fmt.Sprint(i)), "v", n("2")))
	}
	sharing("cache", 990)
	restore(t, w.db, arn, "copy")
	sharing("copy", 1000)
	sharing("cache", 990)
}

// The memory of a backup does not grow with its table.
func TestBackupOfALargeTableIsSmall(t *testing.T) {
	perBackup := func(rows int) uint64 {
		w := newWorld(t, ddbfake.LagManual)
		text := strings.Repeat("x", 1000)
		for i := range rows {
			w.put(with(key("a", fmt.Sprint(i)), "v", s(text)))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const backups = 100
		for range backups {
			backUp(t, w.db)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / backups
	}
	small, large := perBackup(10), perBackup(5000)
	t.Logf("a backup of 10 rows takes %d bytes, of 5,000 rows (5 MB) %d", small, large)
	if large > 2*small {
		t.Errorf("a backup of 5,000 rows takes %d bytes, one of 10 takes %d", large, small)
	}
}

// The change log of a restored table is complete: its changes lead from its beginning to the rows.
func TestRestoredRowsAreInTheChangeLog(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(with(key("a", "1"), "v", n("1")), key("a", "2"))
	arn := backUp(t, w.db)
	w.put(with(key("a", "1"), "v", n("2")))
	restore(t, w.db, arn, "copy")
	replayed := map[string]attr.Item{}
	for _, c := range w.db.Changes() {
		if c.Table == "copy" {
			if c.Born != 3 || c.Actor != "alice" || c.Before != nil {
				t.Errorf("got %+v, want a new row of a table born after change 3, by alice", c)
			}
			replayed[c.Key.String()] = c.After
		}
	}
	want := map[string]attr.Item{}
	for _, item := range w.db.Items("copy") {
		want[attr.Item{"pk": item["pk"], "sk": item["sk"]}.String()] = item
	}
	if d := cmp.Diff(fmt.Sprint(want), fmt.Sprint(replayed)); d != "" || len(want) != 2 {
		t.Error(d)
	}
}

// Backups and recovery are part of the state. DBs with the same snapshot may restore from it at the same time.
func TestBackupsInSnapshots(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(key("a", "1"))
	recovery(t, w.db)
	arn := backUp(t, w.db)
	snapshot := w.db.Snapshot()
	do[dynamodb.DeleteBackupOutput](t, w.db, "", &dynamodb.DeleteBackupInput{BackupArn: &arn})
	w.db.Restore(snapshot)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			db := ddbfake.New(ddbfake.Options{Clock: w.clock})
			db.Restore(snapshot)
			for i := range 10 {
				restore(t, db, arn, fmt.Sprintf("copy%d", i))
			}
			if got := len(db.Items("copy9")); got != 1 {
				t.Errorf("got %d rows, want 1", got)
			}
		})
	}
	group.Wait()
	list := do[dynamodb.ListBackupsOutput](t, w.db, "", &dynamodb.ListBackupsInput{})
	if len(list.BackupSummaries) != 1 || *list.BackupSummaries[0].BackupArn != arn {
		t.Errorf("got %d backups, want that of the snapshot", len(list.BackupSummaries))
	}
	if again := backUp(t, w.db); again == arn {
		t.Errorf("two backups have the ARN %s", arn)
	}
}

// A table is restored to another region, with a key of that region.
func TestRestoreInAnotherRegion(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(key("a", "1"))
	recovery(t, w.db)
	arn := backUp(t, w.db)
	sse := &types.SSESpecification{Enabled: aws.Bool(true)}
	const there = "eu-west-1"
	one := do[dynamodb.RestoreTableFromBackupOutput](t, w.db, there, &dynamodb.RestoreTableFromBackupInput{
		BackupArn: &arn, TargetTableName: aws.String("one"), SSESpecificationOverride: sse,
	}).TableDescription
	two := do[dynamodb.RestoreTableToPointInTimeOutput](t, w.db, there, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableArn:  aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/cache"),
		TargetTableName: aws.String("two"), UseLatestRestorableTime: aws.Bool(true), SSESpecificationOverride: sse,
	}).TableDescription
	for _, d := range []*types.TableDescription{one, two} {
		if !strings.Contains(*d.TableArn, there) || !strings.Contains(*d.SSEDescription.KMSMasterKeyArn, there) {
			t.Errorf("got the table %s with the key %s, want both in %s", *d.TableArn,
				*d.SSEDescription.KMSMasterKeyArn, there)
		}
		if rows := len(w.db.Items(*d.TableArn)); rows != 1 {
			t.Errorf("got %d rows, want 1", rows)
		}
	}
	var missing *types.BackupNotFoundException
	_, err := w.db.Do(t.Context(), ddbfake.Call{Region: there, Input: &dynamodb.DescribeBackupInput{BackupArn: &arn}})
	if list := do[dynamodb.ListBackupsOutput](t, w.db, there,
		&dynamodb.ListBackupsInput{}); len(list.BackupSummaries) != 0 || !errors.As(err, &missing) {
		t.Errorf("got %v and %d backups, want a backup that is seen in its region alone", err,
			len(list.BackupSummaries))
	}
}

// A table can be restored to instants that the change log still covers, and to no earlier ones.
func TestRecoveryOfWhatTheLogHas(t *testing.T) {
	w := worldOf(t, ddbfake.Options{KeepChanges: 2})
	recovery(t, w.db)
	for i := range 5 { // at 1s to 5s; the fifth drops the changes up to 2s
		w.clock.Advance(time.Second)
		w.put(with(key("a", "1"), "v", n(fmt.Sprint(i+1))))
	}
	w.clock.Advance(time.Hour)
	at := func(seconds int) error {
		_, err := w.db.Do(t.Context(), ddbfake.Call{Input: &dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: aws.String("cache"), TargetTableName: aws.String(fmt.Sprintf("copy%d", seconds)),
			RestoreDateTime: aws.Time(fakeclock.Epoch.Add(time.Duration(seconds) * time.Second)),
		}})
		return err
	}
	var outside *types.InvalidRestoreTimeException
	if err := at(1); !errors.As(err, &outside) ||
		!strings.Contains(err.Error(), "EarliestRestorableDateTime '2040-01-01T00:00:02Z'") {
		t.Errorf("got %v, want it refused: the change of that second is dropped", err)
	}
	for seconds := 2; seconds <= 5; seconds++ {
		must.OK(t, at(seconds))
		if got, want := fmt.Sprint(w.db.Items(fmt.Sprintf("copy%d", seconds))),
			fmt.Sprintf(`[{pk: "a", sk: "1", v: %d}]`, seconds); got != want {
			t.Errorf("after %d seconds: got %s, want %s", seconds, got, want)
		}
	}
}

// The table predicate of a fault matches an operation on a backup by the backup's table, and a restore also by its new
// table.
func TestFaultsOnBackups(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	recovery(t, w.db)
	arn := backUp(t, w.db)
	for _, tc := range []struct {
		table string
		in    any
	}{
		{"cache", &dynamodb.CreateBackupInput{TableName: aws.String("cache"), BackupName: aws.String("two")}},
		{"cache", &dynamodb.ListBackupsInput{TableName: aws.String("cache")}},
		{"cache", &dynamodb.DescribeBackupInput{BackupArn: &arn}},
		{"cache", &dynamodb.DeleteBackupInput{BackupArn: &arn}},
		{"cache", &dynamodb.RestoreTableFromBackupInput{BackupArn: &arn, TargetTableName: aws.String("copy")}},
		{"copy", &dynamodb.RestoreTableFromBackupInput{BackupArn: &arn, TargetTableName: aws.String("copy")}},
		{"cache", &dynamodb.RestoreTableToPointInTimeInput{SourceTableName: aws.String("cache"),
			TargetTableName: aws.String("copy"), UseLatestRestorableTime: aws.Bool(true)}},
	} {
		w.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultRequestLost, Table: tc.table, Times: 1})
		var lost *ddbfake.NetworkError
		if _, err := w.db.Do(t.Context(), ddbfake.Call{Input: tc.in}); !errors.As(err, &lost) {
			t.Errorf("%T: got %v, want a lost request", tc.in, err)
		}
	}
	if got := w.db.Tables(); len(got) != 1 {
		t.Errorf("lost requests have made tables: %v", got)
	}
}

// The fake has no vector indexes, so it refuses to restore them.
func TestRestoreWithVectorIndexes(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	arn := backUp(t, w.db)
	for _, in := range []any{
		&dynamodb.RestoreTableFromBackupInput{
			BackupArn: &arn, TargetTableName: aws.String("copy"), VectorIndexOverride: []types.VectorIndex{},
		},
		&dynamodb.RestoreTableToPointInTimeInput{SourceTableName: aws.String("cache"),
			TargetTableName: aws.String("copy"), VectorIndexOverride: []types.VectorIndex{}},
	} {
		var unsupported *ddbfake.UnsupportedError
		if _, err := w.db.Do(t.Context(), ddbfake.Call{Input: in}); !errors.As(err, &unsupported) ||
			unsupported.Parameter != "VectorIndexOverride" {
			t.Errorf("%T: got %v, want VectorIndexOverride refused", in, err)
		}
	}
}

// Two tables of the same name that are deleted at the same instant leave two backups.
func TestDeletedAtOneInstant(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	recovery(t, w.db)
	do[dynamodb.DeleteTableOutput](t, w.db, "", &dynamodb.DeleteTableInput{TableName: aws.String("cache")})
	table(t, w.db, "cache", "pk", "S", "sk", "S")
	recovery(t, w.db)
	do[dynamodb.DeleteTableOutput](t, w.db, "", &dynamodb.DeleteTableInput{TableName: aws.String("cache")})
	var ids []string
	for _, b := range do[dynamodb.ListBackupsOutput](t, w.db, "",
		&dynamodb.ListBackupsInput{BackupType: types.BackupTypeFilterAll}).BackupSummaries {
		ids = append(ids, (*b.BackupArn)[strings.LastIndexByte(*b.BackupArn, '/')+1:])
	}
	if d := cmp.Diff([]string{"02208988800000-00000000", "02208988800001-00000000"}, ids); d != "" {
		t.Error(d)
	}
}
