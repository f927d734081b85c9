package ddbfake_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/internal/sdktest"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// story prints a change log.
func story(changes []ddbfake.Change) []string {
	var lines []string
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%d r%d +%v sent +%v %s %v %s %v: %v -> %v", c.Seq, c.Request,
			c.Time.Sub(fakeclock.Epoch), c.Sent.Sub(fakeclock.Epoch), c.Actor, c.Cause, c.Table, c.Key, c.Before,
			c.After))
	}
	return lines
}

func TestChangeLog(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.enableTTL()
	w.put(with(key("a", "b"), "v", n("1"))) // request 3
	w.put(with(key("a", "b"), "v", n("1.0")))
	w.clock.Advance(time.Second)
	must.Done(t)(w.db.Do(t.Context(), ddbfake.Call{
		Actor: "bob", Sent: fakeclock.Epoch,
		Input: &dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: with(key("a", "b"), "v", n("2"), "ttl", due(0)),
		},
	}))
	must.Done(t)(w.c.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "nothing")}))
	w.clock.Advance(time.Second)
	w.db.SweepExpired()
	want := []string{
		`1 r3 +0s sent +0s alice client cache {pk: "a", sk: "b"}: absent -> {pk: "a", sk: "b", v: 1}`,
		`2 r5 +1s sent +0s bob client cache {pk: "a", sk: "b"}: {pk: "a", sk: "b", v: 1} -> {pk: "a", sk: "b", ttl: 2208988800, v: 2}`,
		`3 r0 +2s sent +2s  ttl cache {pk: "a", sk: "b"}: {pk: "a", sk: "b", ttl: 2208988800, v: 2} -> absent`,
	}
	if d := cmp.Diff(want, story(w.db.Changes())); d != "" {
		t.Errorf("a write that changes nothing leaves no entry (-want +got):\n%s", d)
	}
	for _, tc := range []struct{ since, want int }{{-1, 3}, {0, 3}, {2, 1}, {3, 0}, {9, 0}} {
		if got := len(w.db.ChangesSince(tc.since)); got != tc.want {
			t.Errorf("since %d: got %d changes, want %d", tc.since, got, tc.want)
		}
	}
}

// TestResetLeavesNothingBehind checks that after a reset, a used DB is like a new DB in the state of the snapshot.
// Results that were read from it before do not change.
func TestResetLeavesNothingBehind(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	start := w.db.Snapshot()
	use := func(db *ddbfake.DB) []string {
		for i := range 3 { // the last put is refused in a DB that has the fault
			item := with(key("a", fmt.Sprint(i)), "v", n("1"))
			_, _ = db.As("alice").PutItem(t.Context(),
				&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: item})
		}
		return story(db.Changes())
	}
	options := ddbfake.Options{Clock: w.clock, LogRequests: 9}
	fresh := ddbfake.New(options)
	fresh.Restore(start)
	want := use(fresh)

	db := ddbfake.New(ddbfake.Options{Clock: w.clock, ReplicaLag: time.Second, Lag: ddbfake.LagFixed(time.Hour)})
	db.Restore(start)
	db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled, Nth: 3})
	if d := cmp.Diff(want, use(db)); d == "" {
		t.Fatal("the fault struck nothing: there is nothing to leave behind")
	}
	kept := db.Changes()
	before := story(kept)
	db.Inject(ddbfake.Fault{Kind: ddbfake.FaultThrottled, Nth: 3})
	db.Reset(options, start)
	if got := len(db.Injected()); got != 0 {
		t.Errorf("%d faults wait after Reset, want none", got)
	}
	if d := cmp.Diff(want, use(db)); d != "" {
		t.Errorf("after Reset (-new +reset):\n%s", d)
	}
	if got := len(db.Requests()); got != 3 {
		t.Errorf("%d requests are remembered after Reset, want 3", got)
	}
	if d := cmp.Diff(before, story(kept)); d != "" {
		t.Errorf("changes read before Reset (-then +now):\n%s", d)
	}
	db.Reset(options, nil)
	if got := db.Tables(); len(got) != 0 {
		t.Errorf("tables after Reset to nothing: %v", got)
	}
}

func TestSnapshot(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.enableTTL()
	for i := range 500 {
		w.put(with(key("a", fmt.Sprint(i)), "ttl", due(0)))
	}
	must.Done(t)(w.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String("token"),
		TransactItems: []types.TransactWriteItem{updateAction(key("a", "counter"), "ADD v :one",
			values{":one": n("1")})},
	}))
	before, log, snapshot := w.db.Hash(), story(w.db.Changes()), w.db.Snapshot()

	// One state continues in three different ways, the second time in another DB.
	w.clock.Advance(time.Minute)
	other := newWorld(t, ddbfake.LagManual)
	other.clock.Advance(time.Minute)
	var seen []ddbfake.Change
	var said []string
	for i, u := range []*world{w, other, w} {
		u.db.Restore(snapshot)
		if u.db.Hash() != before {
			t.Fatalf("future %d does not begin with the snapshot", i)
		}
		if d := cmp.Diff(log, story(u.db.Changes())); d != "" {
			t.Fatalf("future %d does not begin with its log:\n%s", i, d)
		}
		must.Done(t)(u.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("token"),
			TransactItems: []types.TransactWriteItem{updateAction(key("a", "counter"), "ADD v :one",
				values{":one": n("1")})},
		}))
		u.put(with(key("a", "future"), "v", n(fmt.Sprint(i))))
		if i == 0 {
			seen = u.db.ChangesSince(len(log))
			said = story(seen)
		}
		if d := cmp.Diff(said, story(seen)); d != "" {
			t.Errorf("future %d rewrote the log of the first:\n%s", i, d)
		}
		if got := u.db.SweepExpired(); got != 500 {
			t.Errorf("future %d: swept %d rows, want 500", i, got)
		}
		want := fmt.Sprintf(`[{pk: "a", sk: "counter", v: 1} {pk: "a", sk: "future", v: %d}]`, i)
		if got := fmt.Sprint(u.db.Items("cache")); got != want {
			t.Errorf("future %d: got %s, want %s", i, got, want)
		}
		// A token that was used in one of them is unknown in another.
		if _, err := u.c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			ClientRequestToken: aws.String("future"),
			TransactItems: []types.TransactWriteItem{updateAction(key("a", fmt.Sprint("counter", i)), "ADD v :one",
				values{":one": n("1")})},
		}); err != nil {
			t.Errorf("future %d: %v", i, err)
		}
		changes := u.db.ChangesSince(len(log))
		if len(changes) != 502 || changes[0].Seq != len(log)+1 || changes[0].Request != 505 {
			t.Errorf("future %d: got %d changes from %+v on", i, len(changes), changes[0])
		}
	}
	// Changes to the copies did not reach the snapshot.
	w.db.Restore(snapshot)
	if w.db.Hash() != before {
		t.Error("the snapshot changed")
	}
}

// A hash depends only on the tables, and is the same in every process: this one is written down.
func TestHash(t *testing.T) {
	build := func(steps ...func(w *world)) [32]byte {
		w := newWorld(t, ddbfake.LagManual)
		for _, step := range steps {
			step(w)
		}
		return w.db.Hash()
	}
	put := func(item values) func(*world) { return func(w *world) { w.put(item) } }
	everything := with(key("a", "b"), "n", n("1.50"), "b", b("x"), "ss", ss("q", "p"), "m",
		m(values{"x": n("1"), "y": s("2")}), "l",
		&types.AttributeValueMemberL{Value: []types.AttributeValue{s("1"), n("2")}}, "t",
		&types.AttributeValueMemberBOOL{Value: true},
		"f", &types.AttributeValueMemberBOOL{}, "null", &types.AttributeValueMemberNULL{Value: true},
		"ns", &types.AttributeValueMemberNS{Value: []string{"2", "1"}}, "bs",
		&types.AttributeValueMemberBS{Value: [][]byte{{2}, {1}}})
	same := with(everything, "n", n("1.5"), "ss", ss("p", "q"), "ns",
		&types.AttributeValueMemberNS{Value: []string{"1.0", "2"}},
		"bs", &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}})
	first := build(put(everything), put(key("a", "c")))
	const want = "68cf822ccabb6b8b8a73e3abdacedaec54be3e1cdee2814927b428ec5615f09d"
	if got := fmt.Sprintf("%x", first); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if second := build(put(key("a", "c")), put(key("a", "d")), func(w *world) {
		must.Done(t)(w.c.DeleteItem(t.Context(),
			&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "d")}))
		w.clock.Advance(time.Hour)
	}, put(same)); second != first {
		t.Error("the hash depends on history")
	}
	seen := map[[32]byte]string{first: "base"}
	for name, steps := range map[string][]func(*world){
		"empty":            {},
		"less":             {put(everything)},
		"other value":      {put(with(everything, "n", n("1.51"))), put(key("a", "c"))},
		"other name":       {put(with(everything, "N", n("1.5"))), put(key("a", "c"))},
		"string as number": {put(with(everything, "n", s("1.5"))), put(key("a", "c"))},
		"ttl":              {put(everything), put(key("a", "c")), (*world).enableTTL},
		"table": {put(everything), put(key("a", "c")),
			func(w *world) { table(t, w.db, "more", "id", "S", "", "") }},
	} {
		h := build(steps...)
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
}

// Callers may change the items that they put and the answers that they get. Neither the stored row nor its snapshot
// changes.
func TestAnswersAreTheCallers(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	blob := []byte("blob")
	row := with(key("a", "b"), "v", n("1"), "text", s("x"), "list",
		&types.AttributeValueMemberL{Value: []types.AttributeValue{n("2")}},
		"blob", &types.AttributeValueMemberB{Value: blob})
	want := fromSDK(t, row)
	w.put(row)
	blob[0], row["more"] = 'X', s("more")
	other := ddbfake.New(ddbfake.Options{})
	other.Restore(w.db.Snapshot())
	in := &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")}
	read := func(db *ddbfake.DB) {
		for range 5 {
			out, err := db.As("alice").GetItem(t.Context(), in)
			if err != nil {
				t.Error(err)
				return
			}
			if d := cmp.Diff(want, fromSDK(t, out.Item)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			out.Item["v"].(*types.AttributeValueMemberN).Value = "3"
			out.Item["text"].(*types.AttributeValueMemberS).Value = "y"
			out.Item["list"].(*types.AttributeValueMemberL).Value[0] = n("4")
			out.Item["blob"].(*types.AttributeValueMemberB).Value[1] = 'Z'
			delete(out.Item, "pk")
		}
	}
	var both sync.WaitGroup
	both.Go(func() { read(w.db) })
	both.Go(func() { read(other) })
	both.Wait()
}

func TestOnRestoreSeesWhatGoes(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	start := w.db.Snapshot()
	w.put(with(key("a", "b"), "v", n("1")))
	var got []string
	watch := func(name string) (stop func()) {
		return w.db.OnRestore(func(restore func()) {
			got = append(got, fmt.Sprintf("%s before: %d", name, len(w.db.Changes())))
			restore()
			got = append(got, fmt.Sprintf("%s after: %d", name, len(w.db.Changes())))
		})
	}
	stopFirst, stopSecond := watch("first"), watch("second")
	w.db.Restore(start)
	stopSecond()
	w.put(with(key("a", "b"), "v", n("1")))
	w.db.Reset(ddbfake.Options{Clock: w.clock}, start)
	stopFirst()
	w.db.Restore(start)
	want := []string{"second before: 1", "first before: 1", "first after: 0", "second after: 0",
		"first before: 1", "first after: 0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A snapshot, and a backup, keep the settings that a table had, whichever settings change afterwards.
func TestSnapshotsKeepSettings(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/cache"
	name := aws.String("cache")
	for _, change := range []any{
		&dynamodb.TagResourceInput{
			ResourceArn: aws.String(arn), Tags: []types.Tag{{Key: aws.String("new"), Value: aws.String("v")}},
		},
		&dynamodb.UntagResourceInput{ResourceArn: aws.String(arn), TagKeys: []string{"team"}},
		&dynamodb.UpdateContinuousBackupsInput{TableName: name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true),
			}},
		&dynamodb.UpdateTableInput{TableName: name, DeletionProtectionEnabled: aws.Bool(true)},
		&dynamodb.UpdateTableInput{TableName: name, TableClass: types.TableClassStandardInfrequentAccess},
		&dynamodb.UpdateTableInput{TableName: name, SSESpecification: &types.SSESpecification{Enabled: aws.Bool(true)}},
		&dynamodb.UpdateTableInput{
			TableName: name, BillingMode: types.BillingModeProvisioned, ProvisionedThroughput: units(5, 5),
		},
		&dynamodb.UpdateTableInput{
			TableName: name, OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(7)},
		},
		&dynamodb.UpdateTableInput{TableName: name, ReplicaUpdates: []types.ReplicationGroupUpdate{
			{Create: &types.CreateReplicationGroupMemberAction{RegionName: aws.String("eu-west-1")}},
		}},
		&dynamodb.UpdateTableInput{
			TableName:            name,
			AttributeDefinitions: []types.AttributeDefinition{definition("tag", "S")},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{
				Create: &types.CreateGlobalSecondaryIndexAction{
					IndexName: aws.String("byTag"), KeySchema: []types.KeySchemaElement{keyElement("tag", "HASH")},
					Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
				},
			}},
		},
	} {
		w := newWorld(t, ddbfake.LagManual)
		do[dynamodb.TagResourceOutput](t, w.db, "", &dynamodb.TagResourceInput{
			ResourceArn: aws.String(arn), Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("pages")}},
		})
		shown := func() []any {
			return []any{
				do[dynamodb.DescribeTableOutput](t, w.db, "", &dynamodb.DescribeTableInput{TableName: name}).Table,
				do[dynamodb.ListTagsOfResourceOutput](t, w.db, "",
					&dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(arn)}).Tags,
				do[dynamodb.DescribeContinuousBackupsOutput](t, w.db, "",
					&dynamodb.DescribeContinuousBackupsInput{TableName: name}).ContinuousBackupsDescription,
			}
		}
		backup := backUp(t, w.db)
		inBackup := func() any {
			return do[dynamodb.DescribeBackupOutput](t, w.db, "", &dynamodb.DescribeBackupInput{BackupArn: &backup}).
				BackupDescription
		}
		before, snapshot, backedUp := shown(), w.db.Snapshot(), inBackup()
		if _, err := w.db.Do(t.Context(), ddbfake.Call{Actor: "alice", Input: change}); err != nil {
			t.Fatalf("%T: %v", change, err)
		}
		if cmp.Equal(before, shown(), sdktest.Equal) {
			t.Errorf("%T: nothing has changed", change)
		}
		if diff := cmp.Diff(backedUp, inBackup(), sdktest.Equal); diff != "" {
			t.Errorf("%T: the backup has changed (-before +after):\n%s", change, diff)
		}
		w.db.Restore(snapshot)
		if diff := cmp.Diff(before, shown(), sdktest.Equal); diff != "" {
			t.Errorf("%T: the snapshot has changed (-before +after):\n%s", change, diff)
		}
	}
}

// A snapshot keeps the list of replicas and the settings of each.
func TestSnapshotsKeepReplicas(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/cache"
	update := func(u types.ReplicationGroupUpdate) *dynamodb.UpdateTableInput {
		return &dynamodb.UpdateTableInput{
			TableName: aws.String("cache"), ReplicaUpdates: []types.ReplicationGroupUpdate{u},
		}
	}
	shown := func(db *ddbfake.DB, regions ...string) (all []any) {
		for _, region := range regions {
			all = append(all,
				do[dynamodb.DescribeTableOutput](t, db, region,
					&dynamodb.DescribeTableInput{TableName: aws.String("cache")}).Table)
		}
		return append(all,
			do[dynamodb.ListTagsOfResourceOutput](t, db, "",
				&dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(arn)}).Tags)
	}
	tokyoJoins := &types.CreateReplicationGroupMemberAction{RegionName: aws.String(tokyo)}
	changed := &types.UpdateReplicationGroupMemberAction{
		RegionName: aws.String(ireland), TableClassOverride: types.TableClassStandardInfrequentAccess,
	}
	for _, change := range []any{
		update(types.ReplicationGroupUpdate{Create: tokyoJoins}),
		update(types.ReplicationGroupUpdate{Update: changed}),
		update(types.ReplicationGroupUpdate{
			Delete: &types.DeleteReplicationGroupMemberAction{RegionName: aws.String(ireland)},
		}),
		&dynamodb.DeleteTableInput{TableName: aws.String("arn:aws:dynamodb:" + ireland + ":000000000000:table/cache")},
	} {
		db, _ := global(t, ddbfake.Options{})
		do[dynamodb.TagResourceOutput](t, db, "", &dynamodb.TagResourceInput{
			ResourceArn: aws.String(arn), Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("pages")}},
		})
		alone := shown(db, home)
		addReplica(t, db, ireland)
		if diff := cmp.Diff(alone[1], shown(db, home)[1], sdktest.Equal); diff != "" {
			t.Errorf("the replica took the tags of its source:\n%s", diff)
		}
		before, snapshot := shown(db, home, ireland), db.Snapshot()
		region := home
		if _, deletes := change.(*dynamodb.DeleteTableInput); deletes {
			region = ireland
		}
		if _, err := db.Do(t.Context(), ddbfake.Call{Actor: "alice", Region: region, Input: change}); err != nil {
			t.Fatalf("%T: %v", change, err)
		}
		db.Restore(snapshot)
		if diff := cmp.Diff(before, shown(db, home, ireland), sdktest.Equal); diff != "" {
			t.Errorf("%T: the snapshot has changed (-before +after):\n%s", change, diff)
		}
	}
}

// A restore with other settings leaves those of the backup unchanged.
func TestRestoreLeavesTheBackup(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	backup := backUp(t, w.db)
	described := func() any {
		return do[dynamodb.DescribeBackupOutput](t, w.db, "", &dynamodb.DescribeBackupInput{BackupArn: &backup}).
			BackupDescription
	}
	before := described()
	do[dynamodb.RestoreTableFromBackupOutput](t, w.db, "", &dynamodb.RestoreTableFromBackupInput{
		BackupArn: &backup, TargetTableName: aws.String("copy"), BillingModeOverride: types.BillingModeProvisioned,
		ProvisionedThroughputOverride: units(1, 1),
	})
	if diff := cmp.Diff(before, described(), sdktest.Equal); diff != "" {
		t.Errorf("the backup has changed (-before +after):\n%s", diff)
	}
}
