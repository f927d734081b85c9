package audit_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// told are the records of a story: in each line, a time in seconds, perhaps some marks, a row, and its attributes. A
// number is a number, and other values are texts; a row without attributes is removed. The marks:
//
//	lost     no record tells of the change
//	swept    by TTL
//	again N  a copy of record N, counted from 0
//	twin N   the same, without an ID
//	net      in an incremental export
//	state    in a full export
//	bare     without a sequence number
//	keys     without images
//	of T     in table T
func told(t *testing.T, story string, key func(row string) attr.Item) (all []evidence.Record) {
	t.Helper()
	rows := map[string]attr.Item{}
	seq := 0
	for line := range strings.Lines(strings.TrimSpace(story)) {
		words := strings.Fields(line)
		at, err := strconv.ParseFloat(words[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		seq++
		r := evidence.Record{Table: "pages", Images: true, Unit: time.Second, ID: "event-" + strconv.Itoa(seq),
			Time: time.UnixMicro(int64(at * 1e6)).UTC(), Sequence: evidence.Sequence(strconv.Itoa(seq)),
			Place: evidence.Place{File: "story", Line: seq}}
		if strings.Contains(words[0], ".") {
			r.Unit = time.Microsecond
		}
		lost, copied := false, false
	marks:
		for words = words[1:]; ; words = words[1:] {
			switch words[0] {
			case "lost":
				lost = true
			case "swept":
				r.TTL = true
			case "again", "twin":
				i, _ := strconv.Atoi(words[1])
				if all, copied = append(all, all[i]), true; words[0] == "twin" {
					all[len(all)-1].ID = ""
				}
				break marks
			case "net":
				r.Net, r.Sequence, r.ID = true, "", ""
			case "state":
				r.State, r.Sequence, r.ID = true, "", ""
			case "bare":
				r.Sequence = ""
			case "keys":
				r.Images = false
			case "of":
				words = words[1:]
				r.Table = words[0]
			default:
				break marks
			}
		}
		if copied {
			continue
		}
		words = long(words)
		row := words[0]
		r.Key = key(row)
		if len(words) > 1 {
			r.After = maps.Clone(r.Key)
			for _, word := range words[1:] {
				name, text, _ := strings.Cut(word, "=")
				if n, err := attr.ParseNumber(text); err == nil {
					r.After[name] = attr.N{Number: n}
				} else {
					r.After[name] = attr.S(strings.Trim(text, "'"))
				}
			}
		}
		r.Before, rows[row] = rows[row], r.After
		if r.State {
			r.Before = nil
		}
		if !lost {
			all = append(all, r)
		}
	}
	return all
}

// outcome is what an audit says in one line: the verdict, and for each invariant of which something was judged the
// violations, the doubts (?) and the number of what was judged.
func outcome(res *audit.Result) string {
	text := res.Verdict().String() + ":"
	for _, o := range res.Outcomes {
		if o.Judged+o.Violated+o.Doubts == 0 && o.Verdict == invariant.Unknown {
			continue
		}
		text += " " + o.Invariant
		switch {
		case o.Violated > 0:
			text += fmt.Sprintf(" %d of", o.Violated)
		case o.Doubts > 0:
			text += fmt.Sprintf(" %d? of", o.Doubts)
		case o.Verdict == invariant.Unknown:
			text += " ? of"
		}
		text += fmt.Sprintf(" %d,", o.Judged)
	}
	if n := res.Gaps(); n > 0 {
		text += fmt.Sprintf(" gaps %d,", n)
	}
	if n := res.Duplicates; n > 0 {
		text += fmt.Sprintf(" copies %d,", n)
	}
	return strings.Trim(text, ",:")
}

// operated are the numbers in one line.
func operated(n *audit.Numbers) string {
	text := fmt.Sprintf("publishes %d, unleased %d, early %d, refilled %d, keys %d, rows %d", n.Publishes, n.Unleased,
		n.Early, n.Refilled, n.Keys, n.Rows)
	if n.Deleted > 0 {
		text += fmt.Sprintf(", swept %d after %v, %v, %v", n.Deleted, n.LagP50, n.LagP99, n.LagMost)
	}
	for _, l := range n.Held {
		text += fmt.Sprintf(", %s %v, over %v", l.Token, l.Age, l.Over)
	}
	return text
}

func inTable(row string) attr.Item {
	pk, sk, is := strings.Cut(row, "/")
	if !is {
		pk, sk = "p", row
	}
	return attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)}
}

// short are the rows of stories that have a name: each $ stands for a word that follows the name.
var short = map[string]string{
	"page":  "META s3_key=$ revalidate_seconds=60 generated_at=$",
	"stale": "META s3_key=$ revalidate_seconds=1 generated_at=$",
	"to":    "META s3_key=body revalidate_seconds=60 current_sk=VER#$ generated_at=$",
	"lock":  "LOCK lease_token=$ lease_expires_at=$",
	"going": "call status=INPROGRESS expiration=9000 in_progress_expiration=$",
	"done":  "call status=COMPLETED expiration=$ data=$",
}

// long are the words of a row that may have a name of its own.
func long(words []string) []string {
	text := short[words[0]]
	if text == "" {
		return words
	}
	for words = words[1:]; strings.Contains(text, "$"); words = words[1:] {
		text = strings.Replace(text, "$", words[0], 1)
	}
	return append(strings.Fields(text), words...)
}

// Each story in testdata/stories.txt has a line with the key of its options and its name, then records, then the
// outcome that is expected of an audit. Some stories end with the expected numbers.
func TestStories(t *testing.T) {
	powertools, err := isr.SchemaNamed("powertools")
	if err != nil {
		t.Fatal(err)
	}
	second, half := invariant.Promise{MaxClockSkew: time.Second}, invariant.Promise{MaxClockSkew: time.Second / 2}
	options := map[string]audit.Options{
		"second": {Promise: second}, "half": {Promise: half}, "one": {Promise: second, Table: "pages"},
		"locks":   {Promise: second, Of: audit.Locks, Fence: "fence"},
		"results": {Promise: second, Of: audit.Calls},
		"calls":   {Promise: second, Of: audit.Calls, Rows: powertools},
	}
	text, err := os.ReadFile("testdata/stories.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, paragraph := range strings.Split(string(text), "\n\n")[1:] {
		title, story, _ := strings.Cut(paragraph, "\n")
		kind, name, _ := strings.Cut(title, ": ")
		said := strings.Split(strings.TrimSpace(story), "\n= ")
		t.Run(name, func(t *testing.T) {
			o, known := options[kind]
			key := inTable
			if kind == "calls" {
				key = func(row string) attr.Item { return attr.Item{"id": attr.S(row)} }
			}
			result := audited(t, o, told(t, said[0], key))
			got := []string{outcome(&result), operated(&result.Numbers)}[:len(said)-1]
			if !known || !slices.Equal(got, said[1:]) {
				t.Errorf("%s: got %q, want %q: %v", kind, got, said[1:], result.Findings)
			}
		})
	}
}

// What is gone for a day is forgotten, and nothing else is.
func TestForget(t *testing.T) {
	effort.OneAtATime(t)
	const day = 100_000
	var story strings.Builder
	fmt.Fprintf(&story, "1000 old/LOCK lease_token=a fence=9\n1000 late/LOCK lease_token=a fence=9\n"+
		"1000 kept/LOCK lease_token=a fence=9\n1001 old/LOCK\n%d late/LOCK\n", day/2)
	for i := range 1 << 16 {
		fmt.Fprintf(&story, "%d other/LOCK lease_token=a lease_expires_at=%d\n", day, i)
	}
	fmt.Fprintf(&story, "%[1]d old/LOCK lease_token=b fence=1\n"+
		"%[1]d lost late/LOCK lease_token=b fence=1\n%[1]d late/LOCK lease_token=b fence=2\n"+
		"%[1]d lost kept/LOCK lease_token=b fence=1\n%[1]d kept/LOCK lease_token=b fence=2\n", day+1)
	j, err := audit.New(audit.Options{Of: audit.Locks, Fence: "fence"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range told(t, story.String(), inTable) {
		j.Take(&r)
	}
	result := j.Result()
	var fell []string
	for _, f := range result.Findings {
		if f.Invariant == "guarded-write" {
			fell = append(fell, f.Key)
		}
	}
	if want := []string{"pages pk=late sk=LOCK", "pages pk=kept sk=LOCK"}; !slices.Equal(fell, want) {
		t.Errorf("tokens fell in %q, want %q", fell, want)
	}
	if result.Gaps() != 2 {
		t.Errorf("got %d gaps, want those of late and kept", result.Gaps())
	}
}

// A record that comes too late for the window is a gap, and not a theft.
func TestLateRecords(t *testing.T) {
	records := told(t, "1000 lock a 1010\n1011 lock b 1021\n1022 lock c 1032\n1033 lock d 1043\n1044 lock e 1054",
		inTable)
	for late, want := range map[int]string{2: "ok: lock-theft 4", 3: "unknown: lock-theft ? of 3, gaps 1, copies 1"} {
		moved := slices.Insert(slices.Clone(records), 1+late+1, records[1])
		moved = slices.Delete(moved, 1, 2)
		j, err := audit.New(audit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range audit.Merge(2, audit.Source{Entries: source(moved)}) {
			if err != nil {
				t.Fatal(err)
			}
			j.Take(e.Record)
		}
		if result := j.Result(); outcome(&result) != want {
			t.Errorf("a record that is %d late: got %q, want %q: %v", late, outcome(&result), want, result.Findings)
		}
	}
}

// Records of one time are in the order of their sequence numbers, whichever file they are in.
func TestOrderOfFiles(t *testing.T) {
	records := told(t, "1000 lock a 1010\n1000 lock a 1020\n1000 lock a 1030\n1000 LOCK", inTable)
	h := history{&spec.Scenario{}, nil}
	result := judged(t, h, []evidence.Record{records[1], records[3]}, []evidence.Record{records[0], records[2]})
	if got, want := outcome(&result), "ok: lock-theft 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWho(t *testing.T) {
	records := told(t, "1000.7 lock a 1010\n1005.2 lock b 1015", inTable)
	result := audited(t, audit.Options{}, records)
	write := func(at int64, row, actor string) evidence.Write {
		return evidence.Write{Table: "pages", Key: inTable(row), Time: time.Unix(at, 0), Operation: "PutItem",
			Actor: actor}
	}
	err := audit.Who(result.Findings, func(yield func(evidence.Write, error) bool) {
		for _, w := range []evidence.Write{
			write(1000, "LOCK", "ann"), write(1000, "LOCK", "ann"), write(1001, "LOCK", "after"),
			write(1003, "LOCK", "before"),
			write(1004, "LOCK", "bob"), write(1005, "LOCK", "cid"), write(1005, "META", "other"),
		} {
			if !yield(w, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	steps := result.Findings[0].Steps
	if got, want := []string{steps[0].Who, steps[1].Who},
		[]string{"PutItem of ann", "PutItem of bob or PutItem of cid"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
