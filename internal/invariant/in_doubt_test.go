package invariant

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// readOperations reads a history of operations on one key; began and ended are in microseconds.
func readOperations(t *testing.T, file string) []storeop.Operation {
	t.Helper()
	f, err := os.Open(file)
	must.OK(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	must.OK(t, err)
	number := func(text string) int64 {
		if text == "" {
			return 0
		}
		return must.Of(strconv.ParseInt(text, 10, 64))(t)
	}
	verbs := []string{storeop.Read: "read", storeop.Acquire: "acquire", storeop.Refresh: "refresh",
		storeop.Publish: "publish", storeop.Release: "release"}
	results := []string{storeop.InDoubt: "in doubt", storeop.Done: "done", storeop.Refused: "refused"}
	var all []storeop.Operation
	for _, row := range rows[1:] {
		o := storeop.Operation{
			Actor: row[0], Key: "/", Verb: storeop.Verb(slices.Index(verbs, row[1])), Call: int(number(row[2])),
			Return: int(number(row[3])), Began: time.UnixMicro(number(row[4])),
			Result: storeop.Result(slices.Index(results, row[6])),
			Token:  row[7], Expires: number(row[8]), Page: row[9], TTL: number(row[10]),
		}
		if row[5] != "" {
			o.Ended = time.UnixMicro(number(row[5]))
		}
		all = append(all, o)
	}
	return all
}

// The history concerns one key in a run of isr-sim run concurrent on DynamoDB Local. Its nodes stop waiting for the
// answer to every second request: 26 writes among its 424 operations have no answer. A search that tries these writes
// in all places would not end in reasonable time.
const inDoubt = "testdata/in_doubt.csv"

func TestManyOperationsInDoubt(t *testing.T) {
	all := readOperations(t, inDoubt)
	at, _, end := explain(all, "/", time.Second, maxWork/8)
	if end != complete || at == nil || at.Verb != storeop.Publish || at.Actor != "node8" {
		t.Errorf("the search ended at %v (%v), want node8's publish", at, end)
	}
	var page bytes.Buffer
	if err := (&Evidence{Record: Record{MaxClockSkew: time.Second}, Operations: all}).Visualize(&page); err != nil {
		t.Error(err)
	}
}

func TestASearchWithoutAnEndIsUnknownAndNamesWhatWasUnderWay(t *testing.T) {
	all := readOperations(t, inDoubt)
	f := checkLinearizable(Evidence{Record: Record{MaxClockSkew: time.Second}, Operations: all}, 1000)
	if f.Verdict != Unknown {
		t.Fatalf("%v: %s, want unknown", f.Verdict, f.Why)
	}
	shown := f.Operations
	last := all[shown[len(shown)-1]-1]
	for _, want := range []string{"in 1000 steps", fmt.Sprintf("what %s was told when it called %s for /;",
		last.Actor, last.Verb)} {
		if !strings.Contains(f.Why, want) {
			t.Errorf("%q does not contain %q", f.Why, want)
		}
	}
	for _, place := range shown[:len(shown)-1] {
		o := all[place-1]
		if o.Call > last.Return || o.Return != 0 && o.Result != storeop.InDoubt && o.Return < last.Return {
			t.Errorf("%v is named, and was not under way", o)
		}
		if want := fmt.Sprintf("%s of %s", o.Verb, o.Actor); !strings.Contains(f.Why, want) {
			t.Errorf("%q does not contain %q", f.Why, want)
		}
	}
}

func TestAViolationOfOneKeyIsNotHiddenByAnotherKeysSearch(t *testing.T) {
	all := readOperations(t, inDoubt)
	for i, expires := range []int64{all[0].Began.Unix() + 60, all[0].Began.Unix() + 90} {
		call := 100_000 + 2*i
		all = append(all, storeop.Operation{
			Actor: fmt.Sprint("node", i), Key: "/other", Verb: storeop.Acquire, Token: fmt.Sprint(i), Expires: expires,
			Began: all[0].Began, Ended: all[0].Began, Call: call, Return: call + 1, Result: storeop.Done,
		})
	}
	f := checkLinearizable(Evidence{Record: Record{MaxClockSkew: time.Second}, Operations: all}, 1000)
	if f.Verdict != Violated || !strings.Contains(f.Why, "node1 was told when it called acquire for /other") {
		t.Errorf("%v: %s, want a violation by node1 on /other", f.Verdict, f.Why)
	}
}

func TestTooManyOperationsAtOnceAreUnknown(t *testing.T) {
	var all []storeop.Operation
	for i := range maxOpen + 1 {
		all = append(all, storeop.Operation{Actor: fmt.Sprint("node", i), Key: "/", Verb: storeop.Read, Call: i + 1,
			Return: 10_000 + i, Began: time.Unix(1, 0), Ended: time.Unix(2, 0), Result: storeop.Refused})
	}
	f := checkLinearizable(Evidence{Operations: all}, maxWork)
	if want := fmt.Sprintf("more than %d operations on / were under way when node%d called read", maxOpen,
		maxOpen); f.Verdict != Unknown || !strings.Contains(f.Why, want) {
		t.Errorf("%v: %s, want unknown: %s", f.Verdict, f.Why, want)
	}
	if f := checkLinearizable(Evidence{Operations: all[1:]}, maxWork); f.Verdict != OK {
		t.Errorf("one less: %v: %s, want ok", f.Verdict, f.Why)
	}
}
