package ddbfake

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

type rowSetSide struct {
	set   rowSet
	model map[primaryKey]*row
}

// place returns the cell that a writer knows for a row. It may be from before the set was swept.
func (s *rowSetSide) place(rng *rand.Rand, key primaryKey) (at *cell) {
	if rng.IntN(2) == 0 {
		at = s.set.cell(key)
	}
	if rng.IntN(50) == 0 {
		s.set.sweep()
	}
	return at
}

// TestRowSet draws operations on sets that are copies of each other, and compares each set with its own map.
func TestRowSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sides := []*rowSetSide{{newRowSet(), map[primaryKey]*row{}}}
	for step := range 50_000 {
		s := sides[rng.IntN(len(sides))]
		key := primaryKey{fmt.Sprintf("CACHE#%03d", rng.IntN(150)), []string{"LOCK", "META"}[rng.IntN(2)]}
		switch n := rng.IntN(1000); {
		case n < 600:
			if got, want := s.set.Get(key), s.model[key]; got != want {
				t.Fatalf("step %d: Get(%v) = %v, want %v", step, key, got, want)
			}
		case n < 850:
			r := (&place{key: key}).image(packed.Of(attr.Item{"step": attr.Int(int64(step))}), 0)
			s.set.Set(r, s.place(rng, key))
			s.model[key] = r
		case n < 998:
			if r := s.model[key]; r != nil {
				s.set.Delete(r, s.place(rng, key))
				delete(s.model, key)
			}
		case s.set.Len() != len(s.model):
			t.Fatalf("step %d: Len() = %d, want %d", step, s.set.Len(), len(s.model))
		case len(sides) < 6:
			sides = append(sides, &rowSetSide{s.set.Copy(), maps.Clone(s.model)})
		default:
			*sides[rng.IntN(len(sides))] = rowSetSide{s.set.Copy(), maps.Clone(s.model)}
		}
	}
	if !slices.ContainsFunc(sides, func(s *rowSetSide) bool { return s.set.recent != nil }) {
		t.Error("the shortcut was never used")
	}
	for i, s := range sides {
		want := slices.SortedFunc(maps.Values(s.model), func(a, b *row) int { return a.key.compare(b.key) })
		var got []*row
		s.set.Scan(func(r *row) bool { got = append(got, r); return true })
		if !slices.Equal(got, want) || s.set.Len() != len(want) {
			t.Errorf("set %d: Scan gives %d rows that are not the %d wanted", i, len(got), len(want))
		}
		middle := want[len(want)/2]
		var up, down []*row
		s.set.Ascend(middle.key, func(r *row) bool { up = append(up, r); return true })
		s.set.Descend(middle.key, func(r *row) bool { down = append(down, r); return true })
		slices.Reverse(down)
		if !slices.Equal(up, want[len(want)/2:]) || !slices.Equal(down, want[:len(want)/2+1]) {
			t.Errorf("set %d: Ascend and Descend from %v give %d and %d rows", i, middle.key, len(up), len(down))
		}
	}
}

// The encoding of numbers in keys keeps their order, and different numbers have different encodings.
func TestEncodeNumber(t *testing.T) {
	texts := []string{
		"0", "1", "-1", "1.5", "-1.5", "0.5", "-0.5", "10", "-10", "9", "99", "100", "101", "0.001", "0.0011", "-0.001",
		"9.9999999999999999999999999999999999999E+125", "-9.9999999999999999999999999999999999999E+125",
		"1E-130", "-1E-130", "1E125", "9223372036854775807", "9223372036854775808",
		"12345678901234567890123456789012345678",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var b strings.Builder
		if random.IntN(2) == 0 {
			b.WriteByte('-')
		}
		b.WriteByte('1' + byte(random.IntN(9)))
		for range random.IntN(12) {
			b.WriteByte('0' + byte(random.IntN(10)))
		}
		texts = append(texts, b.String()+[]string{"", "E-3", "E-20", "E30", "E-7"}[random.IntN(5)])
	}
	numbers := make([]attr.Number, len(texts))
	for i, text := range texts {
		n, err := attr.ParseNumber(text)
		if err != nil {
			t.Fatal(text, err)
		}
		numbers[i] = n
	}
	slices.SortFunc(numbers, attr.Number.Cmp)
	numbers = slices.Compact(numbers)
	for i := 1; i < len(numbers); i++ {
		low, high := encodeNumber(numbers[i-1].String()), encodeNumber(numbers[i].String())
		if low >= high {
			t.Errorf("%v < %v, but %x >= %x", numbers[i-1], numbers[i], low, high)
		}
	}
}

// The hash of a set does not depend on the order of its elements.
func TestHashOfSets(t *testing.T) {
	one, two := attr.Int(1).Number, attr.Int(2).Number
	for _, pair := range [][2]attr.Value{
		{attr.SS{"p", "q"}, attr.SS{"q", "p"}},
		{attr.NS{one, two}, attr.NS{two, one}},
		{attr.BS{{1}, {2}}, attr.BS{{2}, {1}}},
	} {
		var a, b printer
		a.attribute(pair[0])
		b.attribute(pair[1])
		if !bytes.Equal(a, b) {
			t.Errorf("%v: got %x and %x, want them the same", pair[0], a, b)
		}
	}
}

// In whatever order writers, readers and snapshots use a log, it has the same changes as a plain slice. Slices that
// readers already have do not change.
func TestChangeLog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	type side struct {
		log   changeLog
		model []int // the requests, by Seq
	}
	type handed struct {
		changes []Change
		want    []int
	}
	sides := []*side{{}}
	r := (&place{key: primaryKey{hash: "a"}}).image(packed.Record{}, 0)
	var kept []handed
	for step := range 4000 {
		s := sides[random.IntN(len(sides))]
		switch random.IntN(20) {
		case 0:
			sides = append(sides, &side{s.log.copy(), append([]int(nil), s.model...)})
		case 1:
			kept = append(kept, handed{s.log.all(), append([]int(nil), s.model...)})
		case 2:
			after := random.IntN(len(s.model) + 1)
			kept = append(kept, handed{s.log.since(after), append([]int(nil), s.model[after:]...)})
		default:
			s.log.add(logEntry{request: step + 1, table: &tableID{}, after: r})
			s.model = append(s.model, step+1)
		}
		if got := s.log.lastSeq(); got != len(s.model) {
			t.Fatalf("step %d: the last change is %d, want %d", step, got, len(s.model))
		}
		if got := s.log.seqBefore(3); len(s.model) > 0 && got != 3 {
			t.Fatalf("step %d: before the change at 3 is %d", step, got)
		}
	}
	for _, s := range sides {
		kept = append(kept, handed{s.log.all(), s.model})
	}
	for i, h := range kept {
		if len(h.changes) != len(h.want) {
			t.Fatalf("slice %d has %d changes, want %d", i, len(h.changes), len(h.want))
		}
		for j, c := range h.changes {
			if c.Request != h.want[j] {
				t.Fatalf("slice %d has request %d at %d, want %d", i, c.Request, j, h.want[j])
			}
		}
	}
}

// nothing is the fingerprint of a transaction without actions.
func nothing() fingerprint.Wide { return fingerprint.Wide{} }

// Expired tokens are removed. The others are kept, and their transactions are not done again.
func TestLiveTokensAreKept(t *testing.T) {
	db := New(Options{})
	r := &request{now: fakeclock.Epoch}
	named := func(i int) *string { return aws.String(fmt.Sprint(i)) }
	for i := range minPrune {
		if i == minPrune/2 {
			r.now = r.now.Add(tokenLife)
		}
		db.remember(r, named(i), nothing, nil)
	}
	db.remember(r, named(minPrune), nothing, nil) // one too many
	for i := range minPrune + 1 {
		if _, seen, err := db.seen(r, named(i), nothing); err != nil || seen != (i >= minPrune/2) {
			t.Fatalf("token %d of %d: seen %v, error %v; want the younger half seen", i, minPrune, seen, err)
		}
	}
	if got, want := db.state.tokens.tree.Len(), minPrune/2+1; got != want {
		t.Errorf("%d tokens are kept, want %d", got, want)
	}
}

// Expired tokens are removed before there are many of them.
func TestTokensAreForgotten(t *testing.T) {
	db := New(Options{})
	r := &request{now: fakeclock.Epoch}
	for i := range 10 * minPrune {
		db.remember(r, aws.String(fmt.Sprint(i)), nothing, nil)
		r.now = r.now.Add(time.Second)
	}
	if got, most := db.state.tokens.tree.Len(), 2*minPrune; got > most {
		t.Errorf("%d tokens are kept, want at most %d", got, most)
	}
}

// Reading a DB is not a request: faults still wait, and nothing is counted.
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
