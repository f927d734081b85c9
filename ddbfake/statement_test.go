package ddbfake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// statementWorld has two rows.
func statementWorld(t *testing.T, options ddbfake.Options) *ddbfake.DB {
	t.Helper()
	w := worldOf(t, options)
	w.put(with(key("a", "1"), "v", s("old")), with(key("a", "2"), "v", s("old")))
	return w.db
}

// run executes one statement by itself, or several as a transaction. It returns the values of v that were read.
func run(t *testing.T, db *ddbfake.DB, statements ...string) ([]string, error) {
	t.Helper()
	var items []values
	if len(statements) == 1 {
		out, err := db.As("alice").ExecuteStatement(t.Context(),
			&dynamodb.ExecuteStatementInput{Statement: &statements[0]})
		if err != nil {
			return nil, err
		}
		items = append(items, out.Items...)
	} else {
		in := &dynamodb.ExecuteTransactionInput{}
		for i := range statements {
			in.TransactStatements = append(in.TransactStatements,
				types.ParameterizedStatement{Statement: &statements[i]})
		}
		out, err := db.As("alice").ExecuteTransaction(t.Context(), in)
		if err != nil {
			return nil, err
		}
		for _, r := range out.Responses {
			items = append(items, r.Item)
		}
	}
	var seen []string
	for _, item := range items {
		if v, ok := item["v"].(*types.AttributeValueMemberS); ok {
			seen = append(seen, v.Value)
		}
	}
	return seen, nil
}

const (
	selectFirst = `SELECT v FROM cache WHERE pk = 'a' AND sk = '1'`
	updateFirst = `UPDATE cache SET v = 'new' WHERE pk = 'a' AND sk = '1'`
	updateOther = `UPDATE cache SET v = 'new' WHERE pk = 'a' AND sk = '2'`
)

// A fault's predicates match a statement's table and key, as they do for other calls.
func TestFaultsHitStatements(t *testing.T) {
	for _, test := range []struct {
		fault      string
		statements []string
		want       string // a code, or nothing
	}{
		{"throttled op=ExecuteStatement", []string{selectFirst}, "ThrottlingException"},
		{"throttled table=cache key=1", []string{updateFirst}, "ThrottlingException"},
		{"throttled table=cache key=2", []string{updateFirst}, ""},
		{"throttled table=other", []string{updateFirst}, ""},
		{"throttled key=n", []string{`INSERT INTO cache VALUE {'pk': 'n', 'sk': '1'}`}, "ThrottlingException"},
		{"conflict key=1", []string{updateFirst}, "TransactionConflictException"},
		{"conflict key=1", []string{selectFirst}, ""},
		{"conflict key=2", []string{updateFirst, updateOther}, "None TransactionConflict"},
		{"throttled key=1", []string{updateFirst, updateOther}, "ThrottlingError None"},
		{"throttled key=1", []string{selectFirst, strings.Replace(selectFirst, "'1'", "'2'", 1)},
			"ThrottlingError None"},
		{"error-before actor=alice", []string{selectFirst}, "InternalServerError"},
		{"error-before op=ExecuteTransaction", []string{selectFirst}, ""},
	} {
		db := statementWorld(t, ddbfake.Options{})
		fault, err := ddbfake.ParseFault(test.fault)
		must.OK(t, err)
		db.Inject(fault)
		_, err = run(t, db, test.statements...)
		got := ""
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			got = api.ErrorCode()
		}
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			var codes []string
			for _, reason := range cancelled.CancellationReasons {
				codes = append(codes, *reason.Code)
			}
			got = strings.Join(codes, " ")
		}
		if got != test.want {
			t.Errorf("%s: %v: got %q (%v), want %q", test.fault, test.statements, got, err, test.want)
		}
	}
}

// The logs name the rows of a statement, and its caller.
func TestStatementsAreLogged(t *testing.T) {
	db := statementWorld(t, ddbfake.Options{LogRequests: 2})
	must.Done(t)(run(t, db, updateFirst))
	if _, err := run(t, db, updateOther, `INSERT INTO cache VALUE {'pk': 'a', 'sk': '1'}`); err == nil {
		t.Fatal("the INSERT has replaced a row")
	}
	var got []string
	for _, r := range db.Requests() {
		got = append(got, r.String())
	}
	last := db.Changes()[len(db.Changes())-1]
	got = append(got, fmt.Sprintf("%s: %s => %s", last.Actor, last.Before, last.After))
	want := []string{
		`4 alice ExecuteStatement cache{pk: "a", sk: "1"}: ok`,
		`5 alice ExecuteTransaction cache{pk: "a", sk: "2"}, cache{pk: "a", sk: "1"}: TransactionCanceledException: ` +
			`Transaction cancelled, please refer cancellation reasons for specific reasons [None, DuplicateItem]`,
		`alice: {pk: "a", sk: "1", v: "old"} => {pk: "a", sk: "1", v: "new"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
