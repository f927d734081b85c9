package ddbfake

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Looking at a DB is not a request: faults still wait, and nothing is counted.
func TestTables(t *testing.T) {
	db := New(Options{})
	if got := db.Tables(); len(got) != 0 || db.Items("pages") != nil {
		t.Errorf("got tables %q, or items of a table that is not there; want none", got)
	}
	createTable(t, db, "pages")
	createTable(t, db, "cache")
	db.Inject(Fault{Kind: FaultThrottled})
	before := db.Hash()
	if diff := cmp.Diff([]string{"cache", "pages"}, db.Tables()); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	if len(db.Injected()) != 1 || db.Hash() != before {
		t.Error("Tables was taken for a request")
	}
}

func TestLagIsWhatWasSet(t *testing.T) {
	db := New(Options{Lag: LagNever})
	if got := db.Lag(); got != LagNever {
		t.Errorf("got %v, want %v", got, LagNever)
	}
	want := LagFixed(10 * time.Minute)
	db.SetLag(want)
	if got := db.Lag(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
