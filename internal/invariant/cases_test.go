package invariant

import (
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	wording "github.com/isr-sim/isr-sim/internal/base/words"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// stories has a file for each invariant, named after it. A paragraph is a case:
//
//	case a release of another's lock
//	with skew=1s recipe                         what the evidence promises
//	0s alice: LOCK lease_token=a1 lease_expires_at=t+30
//	30s sent 29s bob: META gone                 a change of a row, and when it was sent if that was earlier
//	+ bob: LOCK gone                            a further change of the same request
//	40s ttl: LOCK gone                          a deletion by TTL; "replica bob:" is a write of bob that has arrived
//	on - cache CACHE#2                          region, table and partition of the changes that follow; / is a page
//	50s alice rendered / body=1                 an event of the history
//	50s alice stores 1 1                        a body under a name; "removes" deletes it
//	=> violated changes 1 2 events 1            what the finding names; "violated harmless" is the rule of a recipe
//	says bob removed the lock of alice          a part of its reason
//
// Times count from the start. In rows, t is the start in epoch seconds. A case in testdata/memory has two pasts with
// "or" between them, and says whether an invariant may remember them alike, so long after the start: "=> same 30s" or
// "=> differ 30s".
//
//go:embed testdata/*.txt testdata/memory/*.txt
var stories embed.FS

// start is when the cases begin.
var start = time.Unix(2_000_000_000, 0).UTC()

// story is a case: its evidence, and the expected finding.
type story struct {
	name string
	Evidence
	want   Finding
	says   []string
	rows   map[[4]string]attr.Item
	region string
	table  string
	pk     string

	or   *story        // another past: see Past
	same bool          // both count as one
	at   time.Duration // at this time
}

var (
	verdictNames = map[string]Verdict{"ok": OK, "violated": Violated, "unknown": Unknown}
	servedNames  = map[string]history.ServedAs{"fresh": history.Fresh, "stale": history.Stale}
	kindNames    = map[string]history.Kind{
		"asks": mark.EventLockAsked, "takes": mark.EventLockTaken, "is-refused": mark.EventLockRefused,
		"checks": mark.EventLockChecking, "holds": mark.EventLockHeld, "loses": mark.EventLockLost,
		"extends": mark.EventLockExtending, "has-extended": mark.EventLockExtended,
		"releases": mark.EventLockReleasing, "has-released": mark.EventLockReleased,
		"writes": mark.EventGuardedWrite, "may-not-write": mark.EventGuardedRefused,
	}
)

func init() {
	for k := history.Asked; k <= history.RollingBack; k++ {
		kindNames[k.String()] = k
	}
}

// with sets the part of the evidence that a word names, as skew=1s or recipe.
func (s *story) with(word string) error {
	if s.Lock == nil {
		s.Lock = &promise.LockTerms{}
	}
	name, text, _ := strings.Cut(word, "=")
	flags := map[string]*bool{"recipe": &s.Recipe, "across": &s.AcrossNodes, "heartbeats": &s.Lock.Heartbeats}
	if yes := flags[name]; yes != nil {
		*yes = true
		return nil
	}
	if name == "bodies" { // somebody looked, and nothing was stored
		s.Bodies = []recorder.Body{}
		return nil
	}
	d, err := time.ParseDuration(text)
	of := map[string]*time.Duration{
		"skew": &s.MaxClockSkew, "revalidate": &s.Revalidate, "buffer": &s.TTLBuffer, "settle": &s.Settle,
		"max-age": &s.MaxAge, "held": &s.Held, "behind": &s.Behind, "margin": &s.Lock.Margin, "wait": &s.Lock.Wait,
		"takeover": &s.Lock.Takeover,
	}[name]
	if of == nil || err != nil {
		return fmt.Errorf("found %s, expected a promise", word)
	}
	*of = d
	return nil
}

// line reads a line of a case.
func (s *story) line(text string) error {
	first, rest, _ := strings.Cut(text, " ")
	all, err := wording.Split(rest)
	switch {
	case err != nil:
		return err
	case first == "with":
		for _, word := range all {
			if err := s.with(word); err != nil {
				return err
			}
		}
		return nil
	case first == "says":
		s.says = append(s.says, rest)
		return nil
	case first == "=>":
		return s.finding(all)
	case first == "on":
		s.region, s.table, s.pk = strings.Trim(all[0], "-"), all[1], all[2]
		if s.pk[0] == '/' {
			s.pk = isr.PartitionKey("", s.pk)
		}
		return nil
	case first == "+":
		last := s.Changes[len(s.Changes)-1]
		return s.change(ddbfake.Change{Request: last.Request, Time: last.Time, Sent: last.Sent}, all)
	}
	after, err := time.ParseDuration(first)
	if err != nil {
		return err
	}
	at, sent := start.Add(after), start.Add(after)
	if all[0] == "sent" {
		after, err = time.ParseDuration(all[1])
		sent, all = start.Add(after), all[2:]
	}
	if strings.HasSuffix(all[0], ":") || all[0] == "replica" {
		request := 1
		for _, c := range s.Changes {
			request = max(request, c.Request+1)
		}
		return s.change(ddbfake.Change{Request: request, Time: at, Sent: sent}, all)
	}
	if all[1] == "stores" || all[1] == "removes" {
		b := recorder.Body{Time: at, Actor: all[0], Name: all[2], Gone: all[1] == "removes", Change: len(s.Changes)}
		if !b.Gone {
			b.Body, err = wording.Unquote(all[3])
		}
		s.Bodies = append(s.Bodies, b)
		return err
	}
	return s.event(at, all)
}

// change adds a change of a row to the log: who made it, the row, and what is in it now.
func (s *story) change(c ddbfake.Change, all []string) error {
	if all[0] == "ttl:" || all[0] == "replica" {
		c.Request, c.Cause = 0, ddbfake.CauseTTL
		if all[0] == "replica" {
			c.Cause, all = ddbfake.CauseReplica, all[1:]
		}
	}
	if c.Cause != ddbfake.CauseTTL {
		c.Actor = strings.Trim(all[0], "-:")
	}
	at := [4]string{s.region, s.table, s.pk, all[1]}
	c.Seq, c.Region, c.Table, c.Before = len(s.Changes)+1, s.region, s.table, s.rows[at]
	c.Key = attr.Item{"pk": attr.S(s.pk), "sk": attr.S(all[1])}
	if name, text, is := strings.Cut(all[1], "="); is { // a row with another key
		v, err := value(text)
		if c.Key = (attr.Item{name: v}); err != nil {
			return err
		}
	}
	if !slices.Equal(all[2:], []string{"gone"}) {
		c.After = attr.Item{}
		for _, word := range all[2:] {
			name, text, _ := strings.Cut(word, "=")
			v, err := value(text)
			if err != nil {
				return err
			}
			c.After[name] = v
		}
	}
	s.rows[at] = c.After
	s.Changes = append(s.Changes, c)
	return nil
}

var isNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// value reads a number, a time such as t+30, bytes such as 0xff, null, or a text.
func value(text string) (attr.Value, error) {
	if text == "null" {
		return attr.NULL{}, nil
	}
	if after, is := strings.CutPrefix(text, "t"); is && (after == "" || after[0] == '+' || after[0] == '-') {
		n, err := strconv.ParseInt("0"+strings.TrimPrefix(after, "+"), 10, 64)
		if after != "" && after[0] == '-' {
			n, err = strconv.ParseInt(after, 10, 64)
		}
		return attr.Int(start.Unix() + n), err
	}
	if digits, is := strings.CutPrefix(text, "0x"); is {
		b, err := hex.DecodeString(digits)
		return attr.B(b), err
	}
	if isNumber.MatchString(text) {
		n, err := attr.ParseNumber(text)
		return attr.N{Number: n}, err
	}
	plain, err := wording.Unquote(text)
	return attr.S(plain), err
}

// event adds an event to the history: the actor, what happened, the key, and the event's fields.
func (s *story) event(at time.Time, all []string) (err error) {
	e := history.Event{Seq: len(s.History) + 1, Time: at, Actor: strings.Trim(all[0], "-"), Kind: kindNames[all[1]],
		Change: len(s.Changes)}
	if e.Kind == 0 {
		return fmt.Errorf("found %s, expected what happened", all[1])
	}
	if e.Kind >= mark.EventLockAsked {
		e.Hold = &history.Hold{}
	}
	for _, word := range all[2:] {
		name, text, is := strings.Cut(word, "=")
		if !is && name != "troubled" {
			e.Key = word
			continue
		}
		if text, err = wording.Unquote(text); err != nil {
			return err
		}
		switch name {
		case "as":
			e.As = servedNames[text]
		case "body":
			e.Body = text
		case "note":
			e.Note = text
		case "tenant":
			e.Tenant = text
		case "request":
			e.Request = text
		case "inputs":
			e.Inputs = text
		case "partition":
			e.Partition = text
		case "within":
			e.Within, err = time.ParseDuration(text)
		case "hold":
			e.Hold.ID = text
		case "token":
			e.Hold.Fenced = true
			e.Hold.Token, err = strconv.ParseInt(text, 10, 64)
		case "excused":
			e.Hold.Excused, err = time.ParseDuration(text)
		case "silent":
			e.Hold.Silent, err = time.ParseDuration(text)
		case "troubled":
			e.Hold.Troubled = true
		default:
			return fmt.Errorf("found %s, expected a field of an event", word)
		}
		if err != nil {
			return err
		}
	}
	s.History = append(s.History, e)
	return nil
}

// finding reads a verdict, and the changes and events that the finding names.
func (s *story) finding(all []string) error {
	if all[0] == "same" || all[0] == "differ" {
		at, err := time.ParseDuration(all[1])
		s.same, s.at = all[0] == "same", at
		return err
	}
	s.want.Verdict = verdictNames[all[0]]
	to := &s.want.Changes
	for _, word := range all[1:] {
		n, err := strconv.Atoi(word)
		switch {
		case word == "harmless":
			s.want.Rule = true
		case word == "changes":
		case word == "events":
			to = &s.want.Events
		case err != nil:
			return err
		default:
			*to = append(*to, n)
		}
	}
	return nil
}

// readStories reads the cases of a file. What stands before the first case holds for all.
func readStories(text string) (all []*story, err error) {
	var common []string
	var last *story
	for i, line := range strings.Split(text, "\n") {
		name, is := strings.CutPrefix(line, "case ")
		switch {
		case is, line == "or":
			s := &story{name: name, rows: map[[4]string]attr.Item{}, table: "cache", pk: isr.PartitionKey("", "/")}
			if is {
				all = append(all, s)
			} else {
				last.or = s
			}
			last = s
			for _, line := range common {
				err = errors.Join(err, s.line(line))
			}
		case line == "" || line[0] == '#':
		case all == nil:
			common = append(common, line)
		default:
			err = last.line(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return all, nil
}

func (s *story) check(t *testing.T, inv Invariant) {
	t.Helper()
	got := inv.Check(s.Evidence)
	if got.Verdict != s.want.Verdict || (got.Why == "") != (got.Verdict == OK) || strings.Contains(got.Why, "%!") {
		t.Fatalf("%v (%s), want %v", got.Verdict, got.Why, s.want.Verdict)
	}
	if harmless := got.Verdict == Violated && got.Harm() == 0; harmless != s.want.Rule {
		t.Errorf("harm %d, want none: %v", got.Harm(), s.want.Rule)
	}
	for _, part := range s.says {
		if !strings.Contains(got.Why, part) {
			t.Errorf("%q does not mention %q", got.Why, part)
		}
	}
	if diff := cmp.Diff([][]int{s.want.Changes, s.want.Events}, [][]int{got.Changes, got.Events}); diff != "" {
		t.Errorf("%s\nchanges and events named (-want +got):\n%s", got.Why, diff)
	}
}

// TestStories judges the cases of testdata. Each invariant of pages must be given rows of another shape than the
// schema's. It must judge the rows that it can read, and must not say ok of those that it cannot.
func TestStories(t *testing.T) {
	shapes := map[string]bool{} // invariants with rows of another shape than the schema's
	for _, file := range must.Of(stories.ReadDir("testdata"))(t) {
		if file.IsDir() {
			continue
		}
		name := strings.TrimSuffix(file.Name(), ".txt")
		all := slices.Concat(All(), OfLocks(), OfCalls())
		of := slices.IndexFunc(all, func(inv Invariant) bool { return inv.Name == name })
		cases, err := readStories(string(must.Of(stories.ReadFile(path.Join("testdata", file.Name())))(t)))
		if err != nil || of < 0 {
			t.Fatalf("testdata/%s: %v", file.Name(), err)
		}
		for _, s := range cases {
			shapes[name] = shapes[name] || strings.HasPrefix(s.name, "another shape: ")
			t.Run(name+"/"+s.name, func(t *testing.T) { s.check(t, all[of]) })
		}
	}
	for _, inv := range All() {
		if !shapes[inv.Name] {
			t.Errorf("%s is given no rows of another shape", inv.Name)
		}
	}
}

// A log may begin late: what was in a row before is known, and not who wrote it.
func TestALockFromBeforeTheLogBegan(t *testing.T) {
	all, err := readStories("case late\n0s alice: LOCK lease_token=a1 lease_expires_at=t+30\n0s bob: LOCK gone\n" +
		"=> unknown changes 2\nsays change 2\nsays began")
	must.OK(t, err)
	all[0].Changes = all[0].Changes[1:]
	all[0].check(t, Named("lock-theft"))
}

// Past is a case with two pasts, A and B. Equal says whether an invariant must remember the same of both, at the time
// At after their start. If it does, no later event can make its findings differ.
type Past struct {
	Name  string
	At    time.Duration
	A, B  Evidence
	Equal bool
}

// Pasts reads the cases of the memory of an invariant.
func Pasts(t *testing.T, name string) (all []Past) {
	t.Helper()
	read, err := readStories(string(must.Of(stories.ReadFile("testdata/memory/" + name + ".txt"))(t)))
	must.OK(t, err)
	for _, s := range read {
		all = append(all, Past{s.name, s.or.at, s.Evidence, s.or.Evidence, s.or.same})
	}
	return all
}
