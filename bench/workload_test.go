package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// client has the methods of *dynamodb.Client that all sides have.
type client interface {
	CreateTable(
		context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.CreateTableOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	BatchWriteItem(
		context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.BatchWriteItemOutput, error)
	UpdateItem(
		context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(
		context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options),
	) (*dynamodb.TransactWriteItemsOutput, error)
}

// send makes one call and ignores its answer.
func send(ctx context.Context, c client, input any) (err error) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		_, err = c.GetItem(ctx, in)
	case *dynamodb.PutItemInput:
		_, err = c.PutItem(ctx, in)
	case *dynamodb.UpdateItemInput:
		_, err = c.UpdateItem(ctx, in)
	case *dynamodb.TransactWriteItemsInput:
		once := *in // a copy: the SDK puts a ClientRequestToken into it, which must be absent the next time
		_, err = c.TransactWriteItems(ctx, &once)
	default:
		err = fmt.Errorf("bench: no call for %T", in)
	}
	return err
}

const (
	tableName = "cache"
	pages     = 500 // each with a META and a LOCK row
	passes    = 2   // each pass writes other values than the previous one
)

// The times in the rows are later than every machine's clock, so a TTL that uses that clock deletes nothing.
const (
	now     pagecache.EpochSeconds = 2208988800 // 2040
	expires                        = now + 10   // of a lease, plus the number of the pass
	later                          = now + 100  // then every lease has ended
	ttl                            = now + 86400
)

// operation is one kind of request: the inputs for all pages, one pass after the other.
type operation struct {
	name       string
	inputs     []any
	takesLocks bool // the LOCK rows must be put back before each pass
}

// operations returns the four requests of recipe A. None fails.
func operations() []operation {
	get, acquire := operation{name: "get"}, operation{name: "conditional-put"}
	refresh, publish := operation{name: "conditional-update"}, operation{name: "publish-transaction", takesLocks: true}
	for pass := range passes {
		for page := range pages {
			pk := partitionKey(page)
			held := map[string]types.AttributeValue{":token": text(token(page)), ":now": number(now)}
			get.inputs = append(get.inputs, &dynamodb.GetItemInput{
				TableName: aws.String(tableName), Key: pagecache.Key(pk, isr.SortMeta), ConsistentRead: aws.Bool(true),
			})
			acquire.inputs = append(acquire.inputs, &dynamodb.PutItemInput{
				TableName:                           aws.String(tableName),
				Item:                                lock(page, pass),
				ConditionExpression:                 aws.String("attribute_not_exists(pk) OR lease_expires_at <= :now"),
				ExpressionAttributeValues:           map[string]types.AttributeValue{":now": number(later)},
				ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
			})
			refresh.inputs = append(refresh.inputs, &dynamodb.UpdateItemInput{
				TableName:                aws.String(tableName),
				Key:                      pagecache.Key(pk, isr.SortLock),
				UpdateExpression:         aws.String("SET lease_expires_at = :expires, #ttl = :ttl"),
				ConditionExpression:      aws.String("lease_token = :token AND lease_expires_at > :now"),
				ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":token": held[":token"], ":now": held[":now"],
					":expires": number(expires + pagecache.EpochSeconds(pass)),
					":ttl":     number(ttl + pagecache.EpochSeconds(pass)),
				},
			})
			publish.inputs = append(publish.inputs,
				&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: aws.String(tableName), Item: meta(page, pass)}},
					{Delete: &types.Delete{
						TableName:                 aws.String(tableName),
						Key:                       pagecache.Key(pk, isr.SortLock),
						ConditionExpression:       aws.String("lease_token = :token AND lease_expires_at > :now"),
						ExpressionAttributeValues: held,
					}},
				}})
		}
	}
	return []operation{get, acquire, refresh, publish}
}

func partitionKey(page int) string { return isr.PartitionKey("", "/page/"+strconv.Itoa(page)) }

func token(page int) string { return fmt.Sprintf("7b3c9f2e-0000-4000-8000-%012d", page) }

// meta returns the META row of a page after a pass, about 230 bytes as DynamoDB counts them.
func meta(page, pass int) map[string]types.AttributeValue {
	return pagecache.Meta{
		PK:                partitionKey(page),
		S3Key:             fmt.Sprintf("pages/%016x/%010d.html", page, pass),
		GeneratedAt:       now + pagecache.EpochSeconds(pass),
		RevalidateSeconds: 60,
		ETag:              fmt.Sprintf(`"%032x"`, pass),
		TTL:               ttl,
	}.Item()
}

// lock returns the LOCK row of a page after a pass.
func lock(page, pass int) map[string]types.AttributeValue {
	at := expires + pagecache.EpochSeconds(pass)
	return pagecache.Lock{PK: partitionKey(page), LeaseToken: token(page), LeaseExpiresAt: at, TTL: at + 300}.Item()
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n pagecache.EpochSeconds) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

// createTable makes the table; nothing expires in it, because not every peer has TTL.
func createTable(ctx context.Context, c client) error {
	_, err := c.CreateTable(ctx, isr.TableInput(tableName))
	return err
}

// putLocks are the requests that put all LOCK rows as they were before the first pass.
var putLocks = func() (inputs []any) {
	for page := range pages {
		inputs = append(inputs, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: lock(page, 0)})
	}
	return inputs
}()

// fill makes the table, unless it exists, and puts all rows as they are before the first pass.
func fill(ctx context.Context, c client) error {
	if err := createTable(ctx, c); err != nil {
		if _, ok := errors.AsType[*types.ResourceInUseException](err); !ok {
			return err
		}
	}
	var rows []types.WriteRequest
	for page := range pages {
		rows = append(rows,
			types.WriteRequest{PutRequest: &types.PutRequest{Item: meta(page, 0)}},
			types.WriteRequest{PutRequest: &types.PutRequest{Item: lock(page, 0)}})
	}
	const most = 25 // per batch
	for batch := range slices.Chunk(rows, most) {
		out, err := c.BatchWriteItem(ctx,
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{tableName: batch}})
		if err != nil {
			return err
		}
		if len(out.UnprocessedItems) > 0 {
			return errors.New("bench: a batch was left undone")
		}
	}
	return nil
}

func filled(tb testing.TB, c client) client {
	tb.Helper()
	if err := fill(tb.Context(), c); err != nil {
		tb.Fatal(err)
	}
	return c
}

func sendAll(tb testing.TB, c client, inputs []any) {
	tb.Helper()
	for _, in := range inputs {
		if err := send(tb.Context(), c, in); err != nil {
			tb.Fatal(err)
		}
	}
}

// measure calls one operation over and over. Before a pass, the client tool puts back the rows that the operation
// deletes.
//
// Besides the time it reports the processor time (cpu-ns/op) of this process and of the others. On one CPU that is the
// time without waits and without other programs.
func measure(b *testing.B, c, tool client, op operation, others ...int) {
	b.ReportAllocs()
	ctx := b.Context()
	stopwatch := startStopwatch(b, append(others, os.Getpid())...)
	for i := 0; b.Loop(); i++ {
		if op.takesLocks && i > 0 && i%pages == 0 {
			stopwatch.pause()
			sendAll(b, tool, putLocks)
			stopwatch.resume()
		}
		if err := send(ctx, c, op.inputs[i%len(op.inputs)]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(stopwatch.stop())/float64(b.N), "cpu-ns/op")
	if op.takesLocks {
		sendAll(b, tool, putLocks)
	}
}

// TestSameWork checks that each side gives the answers and leaves the rows that the four requests require, so no side
// is fast because it does less.
func TestSameWork(t *testing.T) {
	for _, side := range inProcess {
		t.Run("process="+side.name, func(t *testing.T) {
			sameWork(t, filled(t, side.open()), true)
		})
	}
	for _, name := range serverNames {
		t.Run("server="+name, func(t *testing.T) {
			s := find(t, name)
			sameWork(t, s.filled(t), s.Lacks == "")
		})
	}
}

// sameWork makes the requests for the first page, and then restores its rows.
func sameWork(t *testing.T, c client, transactions bool) {
	inputs := map[string]any{} // those of the second pass, which changes the rows left by the first
	for _, op := range operations() {
		inputs[op.name] = op.inputs[pages]
	}
	refreshed := lock(0, 1)
	refreshed["ttl"] = number(ttl + 1)

	checkRow(t, c, isr.SortMeta, meta(0, 0))
	do(t, c, inputs["conditional-put"])
	checkRow(t, c, isr.SortLock, lock(0, 1))
	do(t, c, inputs["conditional-update"])
	checkRow(t, c, isr.SortLock, refreshed)
	if transactions {
		do(t, c, inputs["publish-transaction"])
		checkRow(t, c, isr.SortMeta, meta(0, 1))
		checkRow(t, c, isr.SortLock, nil)

		// The conditions are evaluated: without a lease, both writes are refused.
		err := send(t.Context(), c, inputs["publish-transaction"])
		if _, ok := errors.AsType[*types.TransactionCanceledException](err); !ok {
			t.Errorf("publish without a lease: got %v, want a TransactionCanceledException", err)
		}
		err = send(t.Context(), c, inputs["conditional-update"])
		if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok {
			t.Errorf("refresh without a lease: got %v, want a ConditionalCheckFailedException", err)
		}
	}
	do(t, c, &dynamodb.PutItemInput{TableName: aws.String(tableName), Item: meta(0, 0)})
	do(t, c, putLocks[0])
}

func do(t *testing.T, c client, input any) {
	t.Helper()
	if err := send(t.Context(), c, input); err != nil {
		t.Errorf("%T: %v", input, err)
	}
}

func checkRow(t *testing.T, c client, sk string, want map[string]types.AttributeValue) {
	t.Helper()
	out, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(tableName), Key: pagecache.Key(partitionKey(0), sk), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	ignored := cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{})
	if diff := cmp.Diff(want, out.Item, ignored, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("row %s (-want +got):\n%s", sk, diff)
	}
}
