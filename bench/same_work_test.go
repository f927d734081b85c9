package bench

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestSameWork: each side gives the answers and leaves the rows that the four requests ask for, so no side is fast
// because it does less.
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

// sameWork makes the requests for the first page, and leaves its rows as they were.
func sameWork(t *testing.T, c client, transactions bool) {
	inputs := map[string]any{} // those of the second pass, which changes the rows that the first has left
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

		// The conditions are judged: without a lease, both writes are refused.
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
