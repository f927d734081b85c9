package ddbfake_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// hammers is the number of goroutines that hammer one table.
const hammers = 64

// TestHammer makes every kind of write that is safe under concurrency, from 64 goroutines through each door. At the end
// every count is exact.
func TestHammer(t *testing.T) {
	times := 4
	if testing.Short() {
		times = 1
	}
	for _, door := range doors {
		for _, conflicts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, conflicts %t", door.name, conflicts), func(t *testing.T) {
				t.Parallel()
				db := ddbfake.New(ddbfake.Options{Conflicts: conflicts})
				createCache(t, db.As("setup"))
				h := hammer{T: t, times: times}
				open := door.open(t, db)
				var wg sync.WaitGroup
				for i := range hammers {
					wg.Go(func() { h.strike(open(fmt.Sprint("hammer", i), ddbfake.DefaultRegion), i) })
				}
				wg.Wait()
				h.check(db)
				n := h.conflicts.Load()
				if n > 0 && !conflicts {
					t.Errorf("%d calls conflicted without Options.Conflicts", n)
				}
				t.Logf("%d conflicts, %d lost races", n, h.races.Load())
			})
		}
	}
}

// hammer is one run of the test.
type hammer struct {
	*testing.T
	times     int          // how often each goroutine does everything
	winners   atomic.Int64 // the conditional puts that succeeded
	conflicts atomic.Int64
	races     atomic.Int64 // optimistic updates that had to start over
}

// strike is the work of one goroutine. Eight goroutines share a row for optimistic updates; with more, most updates
// would lose their races.
func (h *hammer) strike(c client, number int) {
	version := key("version", strconv.Itoa(number/8))
	for i := range h.times {
		h.add(c)
		h.claim(c, i)
		h.raise(c, version)
		h.transfer(c, strconv.Itoa(i+1))
		h.readBoth(c)
	}
}

func update(key values, expression, condition string, args values) *dynamodb.UpdateItemInput {
	in := &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key, UpdateExpression: &expression, ExpressionAttributeValues: args,
	}
	if condition != "" {
		in.ConditionExpression = &condition
	}
	return in
}

// untilNoConflict repeats a call as long as it conflicts.
func (h *hammer) untilNoConflict(call func() error) error {
	for {
		err := call()
		if !isConflict(err) {
			return err
		}
		h.conflicts.Add(1)
	}
}

// isConflict reports whether to repeat the call.
func isConflict(err error) bool {
	var single *types.TransactionConflictException
	var cancelled *types.TransactionCanceledException
	var progress *types.TransactionInProgressException
	switch {
	case errors.As(err, &single), errors.As(err, &progress):
		return true
	case errors.As(err, &cancelled):
		for _, r := range cancelled.CancellationReasons {
			if *r.Code == "TransactionConflict" {
				return true
			}
		}
	}
	return false
}

// add increments a row without a condition. Transactions increment it, too.
func (h *hammer) add(c client) {
	err := h.untilNoConflict(func() error {
		_, err := c.UpdateItem(h.Context(), update(key("count", "all"), "ADD n :one", "", values{":one": n("1")}))
		return err
	})
	if err != nil {
		h.Errorf("add: %v", err)
	}
}

// claim puts a row that only one goroutine may put.
func (h *hammer) claim(c client, i int) {
	_, err := c.PutItem(h.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("cache"), Item: key("claim", strconv.Itoa(i)),
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	var held *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		h.winners.Add(1)
	case !errors.As(err, &held):
		h.Errorf("claim: %v", err)
	}
}

// raise reads a version and writes the next one. It starts over as long as another goroutine is faster.
func (h *hammer) raise(c client, row values) {
	for {
		out, err := c.GetItem(h.Context(),
			&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: row, ConsistentRead: aws.Bool(true)})
		if err != nil {
			h.Errorf("raise: %v", err)
			return
		}
		condition, args := "attribute_not_exists(v)", values{":next": n("1")}
		if v, ok := out.Item["v"].(*types.AttributeValueMemberN); ok {
			number, _ := strconv.Atoi(v.Value)
			condition, args = "v = :v", values{":v": v, ":next": n(strconv.Itoa(number + 1))}
		}
		_, err = c.UpdateItem(h.Context(), update(row, "SET v = :next", condition, args))
		if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); !ok {
			if err != nil {
				h.Errorf("raise: %v", err)
			}
			return
		}
		h.races.Add(1)
	}
}

// transfer moves an amount from one row to another, and counts that, all or nothing.
func (h *hammer) transfer(c client, amount string) {
	add := func(sk, n1 string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("cache"), Key: key("count", sk), UpdateExpression: aws.String("ADD n :n"),
			ExpressionAttributeValues: values{":n": n(n1)},
		}}
	}
	err := h.untilNoConflict(func() error {
		_, err := c.TransactWriteItems(h.Context(), &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{add("from", "-"+amount), add("to", amount), add("all", "1")},
		})
		return err
	})
	if err != nil {
		h.Errorf("transfer: %v", err)
	}
}

// readBoth reads both rows in one transaction, and asserts that their sum is right.
func (h *hammer) readBoth(c client) {
	get := func(sk string) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String("cache"), Key: key("count", sk)}}
	}
	var out *dynamodb.TransactGetItemsOutput
	err := h.untilNoConflict(func() (err error) {
		out, err = c.TransactGetItems(h.Context(),
			&dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{get("from"), get("to")}})
		return err
	})
	if err != nil {
		h.Errorf("read: %v", err)
		return
	}
	from, _ := fromSDK(h, out.Responses[0].Item).Int("n")
	to, _ := fromSDK(h, out.Responses[1].Item).Int("n")
	if from+to != 0 {
		h.Errorf("read %d and %d: they do not add up to nothing", from, to)
	}
}

// check adds up.
func (h *hammer) check(db *ddbfake.DB) {
	calls := int64(hammers * h.times)
	if n := h.winners.Load(); n != int64(h.times) {
		h.Errorf("%d claims were won, want %d", n, h.times)
	}
	var versions, all, from, to int64
	for _, row := range db.Items("cache") {
		pk, _ := row.Str("pk")
		sk, _ := row.Str("sk")
		v, _ := row.Int("v")
		count, _ := row.Int("n")
		versions += v
		switch {
		case pk != "count":
		case sk == "all":
			all = count
		case sk == "from":
			from = count
		case sk == "to":
			to = count
		}
	}
	if versions != calls {
		h.Errorf("versions add up to %d, want %d", versions, calls)
	}
	if all != 2*calls {
		h.Errorf("%d counts arrived, want %d", all, 2*calls)
	}
	if moved := calls * int64(h.times+1) / 2; from != -moved || to != moved {
		h.Errorf("moved from %d to %d, want %d", from, to, moved)
	}
	for i, c := range db.Changes() {
		if c.Seq != i+1 {
			h.Fatalf("change %d has seq %d", i, c.Seq)
		}
	}
}
