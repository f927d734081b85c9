package conformance_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/internal/rules/conformance"
)

func find(t *testing.T, name string) conformance.Case {
	t.Helper()
	for _, c := range conformance.Cases() {
		if c.Topic+"/"+c.Name == name {
			return c
		}
	}
	t.Fatalf("no case %s", name)
	return conformance.Case{}
}

// unconditional is a store that ignores the conditions of puts.
type unconditional struct{ goDoor }

func (u unconditional) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	put := *in
	put.ConditionExpression = nil
	return u.goDoor.PutItem(ctx, &put, o...)
}

// complaint runs one case and checks the text of its error; no words mean no error.
func complaint(t *testing.T, name string, store conformance.Store, words ...string) {
	t.Helper()
	err := find(t, name).Check(t.Context(), store)
	if len(words) == 0 {
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		}
		return
	}
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%s: got error %v, want one with %q", name, err, w)
		}
	}
}

func TestCheckSaysWhatIsBroken(t *testing.T) {
	db, store := newFake()
	store.Client, store.Streams = newGoDoor(db), db.StreamsClient()
	complaint(t, "item/put if absent", store)

	store.Client, store.Streams = unconditional{newGoDoor(db)}, db.StreamsClient()
	complaint(t, "item/put if absent", store,
		"makes a put a creation", // the rule
		"Source: https://docs.aws.amazon.com/",
		"step 2, PutItem",
		"got ok",
		"want ConditionalCheckFailedException: The conditional request failed",
		"step 3, GetItem", // and continues
	)
}

// A store that no longer deviates as its list says is reported.
func TestCheckHoldsStoresToTheirDeviations(t *testing.T) {
	db, store := newFake()
	store.Client, store.Streams = newGoDoor(db), db.StreamsClient()
	store.Name = conformance.Local
	complaint(t, "update/REMOVE creates nothing", store, "dynamodb-local answers like DynamoDB now",
		`listed {pk: "a", sk: "b"}`)
	complaint(t, "update/creates", store)
}

// failing is a store whose first puts fail.
type failing struct {
	goDoor
	err  error
	left int
}

func (f *failing) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	if f.left > 0 {
		f.left--
		return nil, f.err
	}
	return f.goDoor.PutItem(ctx, in, o...)
}

// DynamoDB Local fails sometimes: one failure is not a finding, two are. Any other store must not fail at all.
func TestCheckRunsAgainWhenLocalFails(t *testing.T) {
	for want, err := range map[string]error{
		"got InternalFailure: The request processing has failed.": &smithy.GenericAPIError{
			Code: "InternalFailure", Message: "The request processing has failed.",
		},
		"use of closed network connection": &smithy.OperationError{
			OperationName: "PutItem", Err: &smithy.DeserializationError{
				Err: &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed},
			},
		},
	} {
		for _, test := range []struct {
			store    string
			failures int
			finding  bool
		}{
			{conformance.Local, 1, false},
			{conformance.Local, 100, true},
			{conformance.Fake, 1, true},
			{conformance.AWS, 1, true},
		} {
			db, store := newFake()
			store.Name, store.Client, store.Streams = test.store,
				&failing{newGoDoor(db), err, test.failures}, db.StreamsClient()
			var finding []string
			if test.finding {
				finding = []string{"step 1, PutItem", want}
			}
			complaint(t, "item/put if absent", store, finding...)
		}
	}
}

func TestCheckWithoutAClock(t *testing.T) {
	db, store := newFake()
	store.Client, store.Clock, store.Sweep, store.Streams = newGoDoor(db), nil, nil, nil
	for _, name := range []string{"idempotency/ten minutes", "ttl/past", "stream_read/list"} {
		if err := find(t, name).Check(t.Context(), store); !errors.Is(err, conformance.ErrCannot) {
			t.Errorf("%s: got %v, want ErrCannot", name, err)
		}
	}
}

// A case leaves nothing behind, even when it fails.
func TestCheckCleansUp(t *testing.T) {
	db, store := newFake()
	store.Client, store.Streams = unconditional{newGoDoor(db)}, db.StreamsClient()
	for _, c := range conformance.Cases() {
		err := c.Check(t.Context(), store)
		out, listErr := db.Client().ListTables(t.Context(), &dynamodb.ListTablesInput{})
		if listErr != nil || len(out.TableNames) > 0 {
			t.Errorf("%s/%s left %v, %v (its error: %v)", c.Topic, c.Name, out.TableNames, listErr, err)
		}
	}
}
