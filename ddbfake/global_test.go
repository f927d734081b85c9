package ddbfake_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const home, tokyo = "us-east-1", "ap-northeast-1"

// global returns a DB with the table "cache" in several regions, the first of them home, and its clock.
func global(t *testing.T, o ddbfake.Options, regions ...string) (*ddbfake.DB, *fakeclock.Clock) {
	t.Helper()
	w := worldOf(t, o)
	for _, region := range regions {
		addReplica(t, w.db, region)
	}
	return w.db, w.clock
}

func addReplica(t *testing.T, db *ddbfake.DB, region string) {
	t.Helper()
	_, err := db.Client().UpdateTable(t.Context(),
		&dynamodb.UpdateTableInput{TableName: aws.String("cache"), ReplicaUpdates: []types.ReplicationGroupUpdate{
			{Create: &types.CreateReplicationGroupMemberAction{RegionName: &region}},
		}})
	must.OK(t, err)
}

// write puts a row with a value in a region, or deletes it if the value is "".
func write(t *testing.T, db *ddbfake.DB, region, sk, value string) {
	t.Helper()
	door := db.As("writer of " + region).In(region)
	var err error
	if value == "" {
		_, err = door.DeleteItem(t.Context(),
			&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", sk)})
	} else {
		_, err = door.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: with(key("a", sk), "v", s(value))})
	}
	must.OK(t, err)
}

// rows prints the rows of a region as "sk=v sk=v".
func rows(db *ddbfake.DB, region string) string {
	var all []string
	for _, item := range db.Items("arn:aws:dynamodb:" + region + ":000000000000:table/cache") {
		sk, _ := item.Str("sk")
		v, _ := item.Str("v")
		all = append(all, sk+"="+v)
	}
	return strings.Join(all, " ")
}

func wantRows(t *testing.T, db *ddbfake.DB, step, region, want string) {
	t.Helper()
	if got := rows(db, region); got != want {
		t.Errorf("%s: %s has %q, want %q", step, region, got, want)
	}
}

// recordsOf reads the stream of the table in a region.
func recordsOf(t *testing.T, c *dynamodbstreams.Client) []streamtypes.Record {
	t.Helper()
	streams, err := c.ListStreams(t.Context(), &dynamodbstreams.ListStreamsInput{})
	must.OK(t, err)
	arn := streams.Streams[0].StreamArn
	described, err := c.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	must.OK(t, err)
	from, err := c.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	must.OK(t, err)
	out, err := c.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: from.ShardIterator})
	must.OK(t, err)
	return out.Records
}

// A write is seen elsewhere when its lag has ended, and no earlier.
func TestReplicationLag(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland)
	db.SetRegionLag(ddbfake.LagFixed(time.Second))
	write(t, db, home, "1", "x")
	clock.Advance(time.Second - 1)
	wantRows(t, db, "before", ireland, "")
	clock.Advance(1)
	wantRows(t, db, "after", ireland, "1=x")
	last := db.Changes()[1]
	if last.Cause != ddbfake.CauseReplica || last.Region != ireland || last.Actor != "writer of us-east-1" ||
		last.Request != 0 ||
		!last.Time.Equal(fakeclock.Epoch.Add(time.Second)) || !last.Sent.Equal(fakeclock.Epoch) {
		t.Errorf("the change is %+v", last)
	}
	clock.Advance(time.Hour)
	write(t, db, ireland, "1", "")
	clock.Advance(time.Minute)
	wantRows(t, db, "deleted", home, "")
	if at := db.Changes()[3].Time; !at.Equal(fakeclock.Epoch.Add(time.Hour + 2*time.Second)) {
		t.Errorf("the deletion came at %v", at)
	}
}

// The later of two writes of a row wins in every region, whichever arrives first.
func TestLastWriterWins(t *testing.T) {
	for _, test := range []struct {
		name, first, second, want string
	}{
		{"put, put", "x", "y", "1=y"},
		{"put, delete", "x", "", ""},
		{"delete, put", "", "y", "1=y"},
		{"put, the same as before", "x", "old", "1=old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, clock := global(t, ddbfake.Options{}, ireland, tokyo)
			write(t, db, home, "1", "old")
			db.SetRegionLag(ddbfake.LagFixed(time.Minute))
			write(t, db, home, "1", test.first)
			clock.Advance(time.Second)
			write(t, db, ireland, "1", test.second)
			clock.Advance(time.Hour)
			for _, region := range []string{home, ireland, tokyo} {
				wantRows(t, db, "afterwards", region, test.want)
			}
		})
	}
}

// In the end the regions agree on the last write of each row, wherever it was made and however long it took to arrive.
func TestReplicasConverge(t *testing.T) {
	regions := []string{home, ireland, tokyo}
	for seed := range uint64(50) {
		db, clock := global(t, ddbfake.Options{Seed: seed}, ireland, tokyo)
		lags := []ddbfake.Lag{ddbfake.LagManual, ddbfake.LagUniform(0, time.Minute),
			ddbfake.LagExponential(10 * time.Second), ddbfake.LagFixed(time.Second), ddbfake.LagNever}
		random := rand.New(rand.NewPCG(seed, 1))
		last := map[string]string{}
		for i := range 60 {
			sk, value := fmt.Sprint(random.IntN(3)), fmt.Sprint(i)
			if random.IntN(4) == 0 {
				value = ""
			}
			switch random.IntN(6) {
			case 0:
				db.SetRegionLag(lags[random.IntN(len(lags))])
			case 1:
				db.Restore(db.Snapshot())
			case 2:
				clock.Advance(time.Duration(random.IntN(30)) * time.Second)
			}
			write(t, db, regions[random.IntN(len(regions))], sk, value)
			last[sk] = value
		}
		db.SetRegionLag(ddbfake.LagManual)
		db.Replicate()
		var want []string
		for _, sk := range []string{"0", "1", "2"} {
			if last[sk] != "" {
				want = append(want, sk+"="+last[sk])
			}
		}
		for _, region := range regions {
			wantRows(t, db, fmt.Sprintf("seed %d", seed), region, strings.Join(want, " "))
		}
		if n := db.Replicate(); n != 0 {
			t.Errorf("seed %d: %d more writes arrived", seed, n)
		}
	}
}

// Under a manual lag writes arrive when Replicate is called, and under LagNever not at all.
func TestReplicate(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland)
	db.SetRegionLag(ddbfake.LagManual)
	write(t, db, home, "1", "x")
	write(t, db, home, "1", "y")
	clock.Advance(24 * time.Hour)
	wantRows(t, db, "before", ireland, "")
	if n := db.Replicate(); n != 2 {
		t.Errorf("%d writes arrived, want 2", n)
	}
	wantRows(t, db, "after", ireland, "1=y")
	db.SetRegionLag(ddbfake.LagNever)
	write(t, db, home, "1", "z")
	if n := db.Replicate(); n != 0 {
		t.Errorf("%d writes arrived, want none", n)
	}
	db.SetRegionLag(ddbfake.LagAtOnce)
	wantRows(t, db, "together again", ireland, "1=z")
}

// A transaction is atomic in its region. Elsewhere its rows arrive one by one.
func TestReplicationOfATransaction(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland)
	db.SetRegionLag(ddbfake.LagPerItem("lag"))
	put := func(sk, lag string) types.TransactWriteItem {
		return types.TransactWriteItem{
			Put: &types.Put{TableName: aws.String("cache"), Item: with(key("a", sk), "v", s("x"), "lag", n(lag))},
		}
	}
	check := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String("cache"), Key: key("a", "0"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
	write(t, db, ireland, "0", "there")
	_, err := db.As("a").TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{put("1", "5"), put("2", "3"), check},
	})
	must.OK(t, err)
	wantRows(t, db, "at once", home, "1=x 2=x")
	clock.Advance(3 * time.Second)
	wantRows(t, db, "in between", ireland, "0=there 2=x")
	clock.Advance(2 * time.Second)
	wantRows(t, db, "afterwards", ireland, "0=there 1=x 2=x")
	// A condition check writes nothing: an older write that is under way to its row still arrives.
	db.SetRegionLag(ddbfake.LagAtOnce)
	wantRows(t, db, "the other way", home, "0=there 1=x 2=x")
}

// TTL deletes in each region by that region's lag. A deletion is replicated, and only the region in which TTL deleted
// the row names TTL as the cause.
func TestReplicationOfTTL(t *testing.T) {
	db, clock := global(t, ddbfake.Options{Lag: ddbfake.LagUniform(0, time.Hour), Seed: 1}, ireland)
	_, err := db.As("setup").UpdateTimeToLive(t.Context(), ttlOn("cache"))
	must.OK(t, err)
	item := with(key("a", "1"), "ttl", n(fmt.Sprint(clock.Now().Unix())))
	must.Done(t)(db.As("a").PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: item}))
	clock.Advance(2 * time.Hour)
	changes := db.Changes()
	if len(changes) != 4 {
		t.Fatalf("%d changes, want a put and a deletion in each region", len(changes))
	}
	first, second := changes[2], changes[3]
	if first.Cause != ddbfake.CauseTTL || second.Cause != ddbfake.CauseReplica || first.Region == second.Region ||
		!first.Time.Equal(second.Time) {
		t.Errorf("the deletions are\n%+v\n%+v", first, second)
	}
	var services int
	for _, region := range []string{home, ireland} {
		streams := db.StreamsClient(func(o *dynamodbstreams.Options) { o.Region = region })
		for _, r := range recordsOf(t, streams) {
			if r.UserIdentity != nil {
				services++
			}
		}
	}
	if services != 1 {
		t.Errorf("%d records name TTL, want 1", services)
	}
}

// A snapshot includes the writes that were under way when it was taken.
func TestSnapshotOfWhatIsUnderWay(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland)
	db.SetRegionLag(ddbfake.LagFixed(time.Minute))
	write(t, db, home, "1", "x")
	taken := db.Snapshot()
	clock.Advance(time.Minute)
	wantRows(t, db, "after", ireland, "1=x")
	write(t, db, ireland, "1", "y")
	db.Restore(taken)
	wantRows(t, db, "restored, when the lag is over", ireland, "1=x")
	other := ddbfake.New(ddbfake.Options{Clock: clock})
	other.SetRegionLag(ddbfake.LagManual)
	other.Restore(taken)
	wantRows(t, other, "in another DB", ireland, "")
	other.Replicate()
	wantRows(t, other, "in another DB, told to", ireland, "1=x")
}

// A new replica gets the writes that were under way to its source, and a deleted one gets nothing.
func TestReplicasComeAndGo(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland)
	db.SetRegionLag(ddbfake.LagFixed(time.Minute))
	write(t, db, ireland, "1", "x")
	addReplica(t, db, tokyo)
	wantRows(t, db, "added", tokyo, "")
	write(t, db, home, "2", "y")
	clock.Advance(time.Minute)
	wantRows(t, db, "afterwards", tokyo, "1=x 2=y")
	write(t, db, home, "3", "z")
	must.Done(t)(db.As("a").In(tokyo).DeleteTable(t.Context(),
		&dynamodb.DeleteTableInput{TableName: aws.String("cache")}))
	addReplica(t, db, tokyo)
	clock.Advance(time.Minute)
	wantRows(t, db, "again", tokyo, "1=x 2=y 3=z")
	wantRows(t, db, "meanwhile", ireland, "1=x 2=y 3=z")
}

// Loading a table with replicas makes it a global table again.
func TestLoadGlobalTable(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	const described = `{"Table": {"TableName": "cache", "TableStatus": "ACTIVE", "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
		"KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
		"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "S"}],
		"GlobalTableVersion": "2019.11.21", "Replicas": [{"RegionName": "eu-west-1", "ReplicaStatus": "ACTIVE"}]}}`
	must.OK(t, db.Load("", strings.NewReader(described)))
	write(t, db, home, "1", "x")
	wantRows(t, db, "loaded", ireland, "1=x")
	if err := db.Load(tokyo, strings.NewReader(described)); err == nil ||
		!strings.Contains(err.Error(), "does not become a replica") {
		t.Errorf("a replica that exists: %v", err)
	}
	if err := ddbfake.New(ddbfake.Options{}).Load("",
		strings.NewReader(strings.Replace(described, "eu-west-1", "", 1))); err == nil ||
		!strings.Contains(err.Error(), `a replica in the region ""`) {
		t.Errorf("a replica without a region: %v", err)
	}
}

// strong makes the table "cache" strongly consistent in three regions.
func strong(t *testing.T, db *ddbfake.DB) error {
	t.Helper()
	create := func(region string) types.ReplicationGroupUpdate {
		return types.ReplicationGroupUpdate{Create: &types.CreateReplicationGroupMemberAction{RegionName: &region}}
	}
	_, err := db.Client().UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String("cache"), ReplicaUpdates: []types.ReplicationGroupUpdate{create(ireland), create(tokyo)},
		MultiRegionConsistency: types.MultiRegionConsistencyStrong,
	})
	return err
}

// No lag delays a write of a strongly consistent table, and the log shows the write in its own region first.
func TestStrongWritesAreEverywhere(t *testing.T) {
	db, _ := global(t, ddbfake.Options{})
	db.SetRegionLag(ddbfake.LagNever)
	must.OK(t, strong(t, db))
	write(t, db, ireland, "1", "x")
	for _, region := range []string{home, ireland, tokyo} {
		wantRows(t, db, "at once", region, "1=x")
	}
	if first := db.Changes()[0]; first.Region != ireland || first.Cause != ddbfake.CauseClient {
		t.Errorf("the first change is %+v", first)
	}
}

// A strongly consistent table has no transactions, so a conflict is with a write in another region.
func TestStrongConflict(t *testing.T) {
	db, _ := global(t, ddbfake.Options{})
	must.OK(t, strong(t, db))
	put := &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "1"},
	}}
	_, err := db.Do(t.Context(),
		ddbfake.Call{Region: ireland, Input: put, Fault: &ddbfake.Fault{Kind: ddbfake.FaultConflict}})
	if _, ok := errors.AsType[*types.ReplicatedWriteConflictException](err); !ok {
		t.Errorf("got %v, want a ReplicatedWriteConflictException", err)
	}
	batch := &dynamodb.BatchWriteItemInput{
		RequestItems: map[string][]types.WriteRequest{"cache": {{PutRequest: &types.PutRequest{Item: put.Item}}}},
	}
	_, err = db.Do(t.Context(),
		ddbfake.Call{Region: ireland, Input: batch, Fault: &ddbfake.Fault{Kind: ddbfake.FaultConflict}})
	if _, ok := errors.AsType[*types.ReplicatedWriteConflictException](err); !ok {
		t.Errorf("a batch: got %v, want a ReplicatedWriteConflictException", err)
	}
	wantRows(t, db, "after the conflict", home, "")
}

// A request for strong consistency without ReplicaUpdates is refused, even if the request has another change.
func TestStrongConsistencyIsNotLeftOut(t *testing.T) {
	for name, in := range map[string]dynamodb.UpdateTableInput{
		"MultiRegionConsistency": {MultiRegionConsistency: types.MultiRegionConsistencyStrong},
		"GlobalTableWitnessUpdates": {GlobalTableWitnessUpdates: []types.GlobalTableWitnessGroupUpdate{
			{Create: &types.CreateGlobalTableWitnessGroupMemberAction{RegionName: aws.String("us-west-2")}},
		}},
	} {
		db, _ := global(t, ddbfake.Options{})
		in.TableName, in.DeletionProtectionEnabled = aws.String("cache"), aws.Bool(true)
		_, err := db.As("a").UpdateTable(t.Context(), &in)
		if refused, ok := errors.AsType[*ddbfake.UnsupportedError](err); !ok || refused.Parameter != name {
			t.Errorf("%s: got %v, want that it is not supported", name, err)
		}
	}
}

// underWay prints the writes that are under way as "region:sk=v", with the time until each arrives.
func underWay(db *ddbfake.DB, now time.Time) string {
	var all []string
	for _, c := range db.UnderWay() {
		sk, _ := c.Key.Str("sk")
		v, _ := c.After.Str("v")
		text := c.Region + ":" + sk + "=" + v
		if !c.Time.IsZero() {
			text += " in " + c.Time.Sub(now).String()
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// A simulator sees the writes that are under way, and can make them arrive in any order.
func TestUnderWay(t *testing.T) {
	db, clock := global(t, ddbfake.Options{}, ireland, tokyo)
	db.SetRegionLag(ddbfake.LagManual)
	want := func(step, want string) {
		t.Helper()
		if got := underWay(db, clock.Now()); got != want {
			t.Errorf("%s: got %q, want %q", step, got, want)
		}
	}
	deliver := func(nth int, changes bool) {
		t.Helper()
		if got := db.Deliver(db.UnderWay()[nth]); got != changes {
			t.Errorf("number %d changed its row: %v, want %v", nth, got, changes)
		}
	}
	want("before", "")
	write(t, db, home, "1", "x")
	write(t, db, home, "1", "y")
	write(t, db, ireland, "2", "z")
	want("three writes",
		"ap-northeast-1:1=x ap-northeast-1:1=y ap-northeast-1:2=z eu-west-1:1=x eu-west-1:1=y us-east-1:2=z")
	if n := db.Sent(); n != 3 {
		t.Errorf("%d writes were sent, want 3", n)
	}
	deliver(4, true) // y overtakes x
	want("the older one never arrives", "ap-northeast-1:1=x ap-northeast-1:1=y ap-northeast-1:2=z us-east-1:2=z")
	wantRows(t, db, "y is there", ireland, "1=y 2=z")
	deliver(0, true)
	deliver(0, true)
	wantRows(t, db, "one after the other", tokyo, "1=y")
	write(t, db, home, "3", "")
	if c := db.UnderWay()[2]; c.Key != nil || c.After != nil || c.Region != ireland {
		t.Errorf("a deletion of nothing is under way as %+v, want it without a key", c)
	}
	deliver(2, false)
	deliver(1, false)
	arrived := db.UnderWay()[0]
	deliver(0, true)
	if db.Deliver(arrived) {
		t.Error("what has arrived arrived once more")
	}
	db.SetRegionLag(ddbfake.LagFixed(2 * time.Second))
	write(t, db, tokyo, "1", "w")
	want("by a lag", "eu-west-1:1=w in 2s us-east-1:1=w in 2s us-east-1:2=z in 2s")
	clock.Advance(2 * time.Second)
	want("which is over", "")
	db.SetRegionLag(ddbfake.LagNever)
	write(t, db, home, "1", "v")
	deliver(0, false)
	wantRows(t, db, "cut off", ireland, "1=w 2=z")
}
