package property_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/property"
)

// turnstile is a lock by a team that has read only docs/CHECK.md: one row per lock, in a table with one key, with times
// in milliseconds. Each field is a bug unless it says otherwise.
type turnstile struct {
	property.Machine

	grabs          bool // it looks first, and then takes the lock without a condition
	openToAll      bool // a release does not check whose lock the row is
	early          bool // the lock counts as over a second before its end
	halfEarly      bool // it counts as over half a second before its end
	wholeSeconds   bool // the end of the lease is rounded down to a second: 10 s may become 9.1 s
	forgetsItself  bool // if the answer to its own earlier attempt was lost, it believes that another has the lock
	neverOver      bool // a lock that was not given back is never taken over
	neverGivesBack bool // a release does nothing
	sharedFence    bool // a takeover gets no new token
	fenceRestarts  bool // a release deletes the row, and so the count
	alwaysSure     bool // it says that it still holds the lock without reading the clock
	countsLate     bool // its lease begins with the answer, not with the request
	extendsAnyones bool // an extension does not check whose lock the row is
	otherUnit      bool // an extension writes the end of the lease in seconds
	dozes          bool // it waits as long as a lease before it says that the lock is taken
	swallowsErrors bool // a failed extension reports success
	countsBehind   bool // it reads its token from a replica, which may not have seen the passage
	heldAtTheEnd   bool // it still counts as held at the very end of its lease: <= instead of <
	releasesOld    bool // a release demands the end that the row had before its extension, and fails
	addsUp         bool // an extension adds a lease to the end of the lock, whenever that end is
	twiceAsLong    bool // its row says twice the lease
	foldsNames     bool // the lock's name is put into its row in small letters
	shortNames     bool // only the first letter of the lock's name is put into its row
	reservedWord   bool // an extension uses a reserved word as a name: DynamoDB refuses each as malformed

	looksBehind bool   // no bug: it asks a replica first, which may say for a while that the lock is taken
	purgedBy    string // the attribute by which TTL deletes its row, and so the count
}

// turnstileTable is the table that a turnstile needs.
var turnstileTable = &dynamodb.CreateTableInput{
	KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("gate"), KeyType: types.KeyTypeHash}},
	AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("gate"),
		AttributeType: types.ScalarAttributeTypeS}},
	BillingMode: types.BillingModePayPerRequest,
}

// newTurnstiles returns the function that makes such locks.
func newTurnstiles(bugs turnstile) func(property.Machine) (property.Lock, error) {
	return func(n property.Machine) (property.Lock, error) {
		lock := bugs
		lock.Machine = n
		return &lock, nil
	}
}

// passage is a lock that was taken.
type passage struct {
	of    *turnstile
	gate  string
	badge string
	until time.Time
	first types.AttributeValue // the end of its first lease
	count int64
}

var errTaken = errors.New("somebody else is in")

func (l *turnstile) key(gate string) map[string]types.AttributeValue {
	switch {
	case l.foldsNames:
		gate = strings.ToLower(gate)
	case l.shortNames:
		gate = gate[:1]
	}
	return map[string]types.AttributeValue{"gate": &types.AttributeValueMemberS{Value: gate}}
}

// end returns the end of a lease that begins now, and its form in rows.
func (l *turnstile) end(now time.Time) (time.Time, types.AttributeValue) {
	until := now.Add(l.Lease)
	if l.wholeSeconds {
		until = until.Truncate(time.Second)
	}
	if l.twiceAsLong {
		return until, num(until.Add(l.Lease).UnixMilli())
	}
	return until, num(until.UnixMilli())
}

func (l *turnstile) Acquire(ctx context.Context, gate string) (property.Held, error) {
	now := l.Clock.Now()
	until, end := l.end(now)
	p := &passage{of: l, gate: gate, badge: l.Tokens(), until: until, first: end}
	update := &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(gate), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression:    aws.String("SET badge = :mine, inside_until = :end ADD passages :one"),
		ConditionExpression: aws.String("attribute_not_exists(badge) OR inside_until <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge}, ":end": end, ":one": num(1),
			":now": num(now.UnixMilli()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if l.purgedBy != "" {
		update.UpdateExpression = aws.String("SET badge = :mine, inside_until = :end, " + l.purgedBy +
			" = :purge ADD passages :one")
		update.ExpressionAttributeValues[":purge"] = num(until.Add(time.Minute).Unix())
	}
	switch {
	case l.early:
		update.ExpressionAttributeValues[":now"] = num(now.Add(time.Second).UnixMilli())
	case l.halfEarly:
		update.ExpressionAttributeValues[":now"] = num(now.Add(time.Second / 2).UnixMilli())
	case l.neverOver:
		update.ConditionExpression = aws.String("attribute_not_exists(badge)")
		delete(update.ExpressionAttributeValues, ":now")
	case l.sharedFence:
		update.UpdateExpression = aws.String(
			"SET badge = :mine, inside_until = :end, passages = if_not_exists(passages, :one)",
		)
	case l.looksBehind:
		out, err := l.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &l.Table, Key: l.key(gate)})
		if err != nil {
			return nil, err
		}
		if until, ok := out.Item["inside_until"].(*types.AttributeValueMemberN); ok && out.Item["badge"] != nil &&
			milli(until).After(now) {
			return nil, errTaken
		}
	case l.grabs:
		out, err := l.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &l.Table, Key: l.key(gate), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, err
		}
		if until, ok := out.Item["inside_until"].(*types.AttributeValueMemberN); ok && milli(until).After(now) {
			return nil, errTaken
		}
		update.ConditionExpression = nil
		delete(update.ExpressionAttributeValues, ":now")
	}
	out, err := l.Client.UpdateItem(ctx, update)
	if taken, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if badge, ok := taken.Item["badge"].(*types.AttributeValueMemberS); ok && badge.Value == p.badge &&
			!l.forgetsItself {
			return p.in(taken.Item), nil // an earlier attempt of this call took it
		}
		if l.dozes {
			l.Clock.Sleep(l.Lease)
		}
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	if l.countsBehind {
		seen, err := l.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &l.Table, Key: l.key(gate)})
		if err != nil {
			return nil, err
		}
		return p.in(seen.Item), nil
	}
	if l.countsLate {
		p.until = l.Clock.Now().Add(l.Lease)
	}
	return p.in(out.Attributes), nil
}

// in takes the count of passages from the row.
func (p *passage) in(row map[string]types.AttributeValue) *passage {
	if n, ok := row["passages"].(*types.AttributeValueMemberN); ok {
		p.count, _ = strconv.ParseInt(n.Value, 10, 64)
	}
	return p
}

func milli(n *types.AttributeValueMemberN) time.Time {
	ms, _ := strconv.ParseInt(n.Value, 10, 64)
	return time.UnixMilli(ms)
}

func (p *passage) StillHeld(context.Context) (bool, error) {
	now := p.of.Clock.Now()
	return p.of.alwaysSure || now.Before(p.until) || p.of.heldAtTheEnd && now.Equal(p.until), nil
}

func (p *passage) Token() int64 { return p.count }

func (p *passage) Extend(ctx context.Context) error {
	l := p.of
	now := l.Clock.Now()
	until, end := l.end(now)
	if l.otherUnit {
		end = num(until.Unix())
	}
	update := &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(p.gate),
		UpdateExpression:    aws.String("SET inside_until = :end"),
		ConditionExpression: aws.String("badge = :mine AND inside_until > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge}, ":end": end, ":now": num(now.UnixMilli()),
		},
	}
	if l.extendsAnyones {
		update.ConditionExpression = aws.String("attribute_exists(badge)")
		delete(update.ExpressionAttributeValues, ":mine")
		delete(update.ExpressionAttributeValues, ":now")
	}
	if l.addsUp {
		update.UpdateExpression = aws.String("SET inside_until = inside_until + :end")
		update.ExpressionAttributeValues[":end"] = num(l.Lease.Milliseconds())
	}
	if l.reservedWord {
		update.UpdateExpression = aws.String("SET inside_until = :end, ttl = :end")
	}
	_, err := l.Client.UpdateItem(ctx, update)
	if err != nil && !l.swallowsErrors {
		return err
	}
	p.until = until
	return nil
}

// extendFrom extends the lease if its number of extensions is nth, the number that the holder knows.
func (p *passage) extendFrom(ctx context.Context, nth int) error {
	l := p.of
	until, end := l.end(l.Clock.Now())
	_, err := l.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(p.gate),
		UpdateExpression:    aws.String("SET inside_until = :end, beats = :nth"),
		ConditionExpression: aws.String("badge = :mine AND (attribute_not_exists(beats) OR beats <> :nth)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge}, ":end": end,
			":nth": &types.AttributeValueMemberS{Value: p.badge + "#" + strconv.Itoa(nth)},
		},
	})
	if err == nil {
		p.until = until
	}
	return err
}

func (p *passage) Release(ctx context.Context) error {
	l := p.of
	if l.neverGivesBack {
		return nil
	}
	if l.fenceRestarts {
		_, err := l.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &l.Table, Key: l.key(p.gate), ConditionExpression: aws.String("badge = :mine"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":mine": &types.AttributeValueMemberS{Value: p.badge},
			},
		})
		return notMine(err)
	}
	update := &dynamodb.UpdateItemInput{
		TableName: &l.Table, Key: l.key(p.gate), UpdateExpression: aws.String("REMOVE badge, inside_until"),
	}
	if !l.openToAll {
		update.ConditionExpression = aws.String("badge = :mine")
		update.ExpressionAttributeValues = map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: p.badge},
		}
	}
	if l.releasesOld {
		update.ConditionExpression = aws.String("badge = :mine AND inside_until = :first")
		update.ExpressionAttributeValues[":first"] = p.first
	}
	_, err := l.Client.UpdateItem(ctx, update)
	if l.releasesOld {
		return err
	}
	return notMine(err)
}

// notMine turns the refusal of a release into nil: the lock was over, or an earlier attempt gave it back.
func notMine(err error) error {
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return nil
	}
	return err
}

// turnstiles are locks of that kind, by the names of their bugs.
func turnstiles() map[string]turnstile {
	return map[string]turnstile{
		"lock: correct":                    {},
		"lock: takes without a condition":  {grabs: true},
		"lock: releases anyone's":          {openToAll: true},
		"lock: over a second early":        {early: true},
		"lock: lease in whole seconds":     {wholeSeconds: true},
		"lock: own lock taken for another": {forgetsItself: true},
		"lock: never taken over":           {neverOver: true},
		"lock: never given back":           {neverGivesBack: true},
		"lock: one token for two":          {sharedFence: true},
		"lock: tokens begin anew":          {fenceRestarts: true},
		"lock: always sure":                {alwaysSure: true},
		"lock: counts from the answer":     {countsLate: true},
		"lock: extends anyone's":           {extendsAnyones: true},
		"lock: extends in seconds":         {otherUnit: true},
		"lock: dozes":                      {dozes: true},
		"lock: swallows errors":            {swallowsErrors: true},
		"lock: extends by a reserved word": {reservedWord: true},
		"lock: releases as before":         {releasesOld: true},
		"lock: extensions add up":          {addsUp: true},
		"lock: twice as long":              {twiceAsLong: true},
		"lock: names in small letters":     {foldsNames: true},
		"lock: names of one letter":        {shortNames: true},
		"lock: its token from a replica":   {countsBehind: true},
		"lock: held at the very end":       {heldAtTheEnd: true},
	}
}

// twoRows is a lock that keeps its holder in one row, and the end of the lease in another. It reads both with one
// BatchGetItem, and either may come back unprocessed.
type twoRows struct {
	turnstile
	// "gone": an unprocessed row counts as missing. "gives up", which is no bug: the lock is not taken
	bug string
}

func newTwoRows(bug string) func(property.Machine) (property.Lock, error) {
	return func(n property.Machine) (property.Lock, error) { return &twoRows{turnstile{Machine: n}, bug}, nil }
}

// read returns the rows by their keys, as they are at one moment.
func (l *twoRows) read(ctx context.Context, gate string) (map[string]map[string]types.AttributeValue, error) {
	both := []map[string]types.AttributeValue{l.key(gate), l.key(gate + " until")}
	for {
		out, err := l.Client.BatchGetItem(ctx,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				l.Table: {Keys: both, ConsistentRead: aws.Bool(true)},
			}})
		switch {
		case err != nil:
			return nil, err
		case len(out.UnprocessedKeys) > 0 && l.bug == "gives up":
			return nil, errors.New("the table is busy")
		case len(out.UnprocessedKeys) > 0 && l.bug != "gone":
			continue // rows from two answers do not belong together
		}
		rows := map[string]map[string]types.AttributeValue{}
		for _, row := range out.Responses[l.Table] {
			rows[text(row["gate"])] = row
		}
		return rows, nil
	}
}

func (l *twoRows) Acquire(ctx context.Context, gate string) (property.Held, error) {
	now := l.Clock.Now()
	rows, err := l.read(ctx, gate)
	if err != nil {
		return nil, err
	}
	is := rows[gate]
	if until, ok := rows[gate+" until"]["inside_until"].(*types.AttributeValueMemberN); is["badge"] != nil && ok &&
		milli(until).After(now) {
		return nil, errTaken
	}
	until, end := l.end(now)
	p := (&passage{of: &l.turnstile, gate: gate, badge: l.Tokens(), until: until.Truncate(time.Millisecond)}).in(is)
	p.count++
	_, err = l.Client.TransactWriteItems(ctx,
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{
				TableName: &l.Table, Key: l.key(gate),
				UpdateExpression:    aws.String("SET badge = :mine, passages = :count"),
				ConditionExpression: aws.String("attribute_not_exists(passages) OR passages = :before"),
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":mine": str(p.badge), ":count": num(p.count), ":before": num(p.count - 1),
				},
			}},
			{Put: &types.Put{TableName: &l.Table, Item: map[string]types.AttributeValue{
				"gate": str(gate + " until"), "inside_until": end,
			}}},
		}})
	return struct { // without its Extend
		property.Held
		property.HeldChecker
		property.HeldFencer
	}{p, p, p}, err
}

// acquirer is a lock with nothing but Acquire.
type acquirer func(ctx context.Context, name string) (property.Held, error)

func (a acquirer) Acquire(ctx context.Context, name string) (property.Held, error) {
	return a(ctx, name)
}

// nothing is a held lock that does nothing.
type nothing struct{}

func (nothing) Release(context.Context) error { return nil }

// extendsElsewhere is a held lock that is extended in another table.
type extendsElsewhere struct {
	property.Held
	elsewhere *passage
}

func (h extendsElsewhere) Extend(ctx context.Context) error { return h.elsewhere.Extend(ctx) }

// extendingInNoTable makes a lock whose extensions name a missing table.
func extendingInNoTable(n property.Machine) (property.Lock, error) {
	lock, other := &turnstile{Machine: n}, &turnstile{Machine: n}
	other.Table = "the-real-one"
	return acquirer(func(ctx context.Context, gate string) (property.Held, error) {
		held, err := lock.Acquire(ctx, gate)
		if err != nil {
			return nil, err
		}
		elsewhere := *held.(*passage)
		elsewhere.of = other
		return extendsElsewhere{held, &elsewhere}, nil
	}), nil
}

// TestALockThatIsNeverExtended: a missing table is the lock's own fault, and no excuse for a loss.
func TestALockThatIsNeverExtended(t *testing.T) {
	t.Parallel()
	c := runChild(t, t.TempDir(), "lock: extends in no table",
		[]string{"-rapid.seed=1", "-rapid.checks=10", "-rapid.shrinktime=0s"})
	c.wantFailure(t, "violated: ", "kept-lease: ")
}

// badLocks are locks that a check must refuse.
func badLocks() map[string]func(property.Machine) (property.Lock, error) {
	answer := func(a acquirer) func(property.Machine) (property.Lock, error) {
		return func(property.Machine) (property.Lock, error) { return a, nil }
	}
	return map[string]func(property.Machine) (property.Lock, error){
		"lock: always refuses":  answer(func(context.Context, string) (property.Held, error) { return nil, errTaken }),
		"lock: neither nor":     answer(func(context.Context, string) (property.Held, error) { return nil, nil }),
		"lock: a lock for each": answer(func(context.Context, string) (property.Held, error) { return nothing{}, nil }),
		"lock: panics":          answer(func(context.Context, string) (property.Held, error) { panic("no such lock") }),
		"lock: in no table": func(n property.Machine) (property.Lock, error) {
			n.Table = "the-real-one"
			return &turnstile{Machine: n}, nil
		},
		"lock: with other keys": func(n property.Machine) (property.Lock, error) {
			return &turnstile{Machine: n}, nil
		},
		"lock: cannot be made": func(property.Machine) (property.Lock, error) { return nil, errors.New("no region") },
		"lock: is nil":         func(property.Machine) (property.Lock, error) { return nil, nil },
	}
}

// TestLockPasses: a correct lock with its own rows and table passes.
func TestLockPasses(t *testing.T) {
	effort.OneAtATime(t)
	t.Parallel()
	all := []func(property.Machine) (property.Lock, error){
		newTurnstiles(turnstile{}), newTurnstiles(turnstile{looksBehind: true}), newTwoRows(""), newTwoRows("gives up"),
	}
	for _, lock := range effort.Quick(all, all[:1]) {
		property.LockCheck{Table: turnstileTable, Schedules: effort.Fewer(5, 2)}.Run(t, lock)
	}
}

// TestBugsOfLocksAreFound: a check with default settings finds each bug,
// whatever rapid's seed.
func TestBugsOfLocksAreFound(t *testing.T) {
	effort.Long(t)
	seeds := effort.Fewer(3, 1)
	first := map[string]int{ // seeds that find the bug soon; the others use 1
		"lock: extensions add up": 5, "lock: held at the very end": 10, "lock: counts from the answer": 6,
		"lock: always sure": 6, "lock: in part": 4, "lock: twice as long": 8,
	}
	// TestProveRefutes finds these bugs, or another lock has the same bug.
	proved := map[string]bool{
		"lock: takes without a condition": true, "lock: lease in whole seconds": true, "lock: in part": true,
		"lock: its token from a replica": true, "lock: always sure": true, "lock: extensions add up": true,
		"lock: names of one letter": true,
	}
	want := map[string]string{ // at least one of these invariants
		"lock: takes without a condition":  "mutual-exclusion kept-lease guarded-write",
		"lock: releases anyone's":          "mutual-exclusion kept-lease guarded-write",
		"lock: over a second early":        "mutual-exclusion kept-lease guarded-write",
		"lock: lease in whole seconds":     "mutual-exclusion kept-lease",
		"lock: own lock taken for another": "free-lock",
		"lock: never taken over":           "free-lock lock-liveness",
		"lock: never given back":           "free-lock lock-liveness",
		"lock: one token for two":          "guarded-write",
		"lock: tokens begin anew":          "guarded-write",
		"lock: always sure":                "mutual-exclusion",
		"lock: counts from the answer":     "mutual-exclusion",
		"lock: extends anyone's":           "mutual-exclusion guarded-write",
		"lock: extends in seconds":         "mutual-exclusion kept-lease guarded-write",
		"lock: dozes":                      "free-lock",
		"lock: swallows errors":            "mutual-exclusion guarded-write",
		"lock: extends by a reserved word": "kept-lease",
		"lock: releases as before":         "free-lock",
		"lock: extensions add up":          "free-lock lock-liveness",
		"lock: twice as long":              "free-lock lock-liveness",
		"lock: names in small letters":     "free-lock",
		"lock: names of one letter":        "free-lock",
		"lock: its token from a replica":   "guarded-write",
		"lock: held at the very end":       "mutual-exclusion",
		"lock: in part":                    "mutual-exclusion guarded-write",
	}
	for _, lock := range append(slices.Sorted(maps.Keys(turnstiles())), "lock: in part") {
		if lock == "lock: correct" {
			continue
		}
		t.Run(lock, func(t *testing.T) {
			if proved[lock] {
				effort.Nightly(t)
			}
			t.Parallel()
			for seed := max(1, first[lock]); seed < max(1, first[lock])+seeds; seed++ {
				c := runChild(t, t.TempDir(), lock,
					[]string{fmt.Sprintf("-rapid.seed=%d", seed), "-rapid.shrinktime=0s"})
				c.wantFailure(t, "violated: TestChild under lock-under-test", "scenario: "+failFile, "replay: ")
				if !slices.ContainsFunc(strings.Fields(want[lock]),
					func(inv string) bool { return strings.Contains(c.output, " "+inv+": ") }) {
					t.Errorf("seed %d: none of %q is said to be violated:\n%s", seed, want[lock], c.output)
				}
			}
		})
	}
}

// TestLockReplays: a lock's failure is shrunk, left in a file, and replayed
// with the same text. A lock without the bug passes on the same file.
func TestLockReplays(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	const lock = "lock: lease in whole seconds"
	dir := t.TempDir()
	c := runChild(t, dir, lock, []string{"-rapid.seed=1", "-rapid.shrinktime=" + effort.Fewer("3s", "1s")})
	c.wantFailure(t, "violated: TestChild under lock-under-test", "scenario: "+failFile,
		"replay: property.LockCheck{}.Replay(t, \""+failFile+"\", newLock), with the check's own fields")
	text := string(readFile(t, c.file()))
	_, violates, _ := strings.Cut(text, "\n  violates: ")
	violates = strings.TrimSpace(violates)
	if violates != "kept-lease" && violates != "mutual-exclusion" { // whichever rapid's seed finds first
		t.Fatalf("the file does not say what it violates:\n%s", text)
	}
	shown := []string{"effect", "violated: TestChild under lock-under-test", violates + ": "}
	runChild(t, dir, lock, nil).wantFailure(t, shown...)
	runChild(t, t.TempDir(), lock, nil, replayEnv+"="+c.file()).wantFailure(t, shown...)
	property.LockCheck{Table: turnstileTable}.Replay(t, c.file(), newTurnstiles(turnstile{}))

	other := strings.Replace(text, "violates: "+violates, "violates: free-lock", 1)
	runChild(t, t.TempDir(), lock, nil, replayEnv+"="+fileOf(t, other)).wantFailure(t, violates+": ",
		"the file records a violation of free-lock, which this run")
}

// TestTheStoryOfALateExtension: bob sleeps for longer than his lease, and alice takes the lock, rightly. The report
// says that bob's extension is the late one, and shows what it did to the row. That holds even if carol's many writes
// to another row leave no room for everything that happened in between.
func TestTheStoryOfALateExtension(t *testing.T) {
	t.Parallel()
	world := `name: late-extension
cache: {lease: 10s}
actors:
  - name: bob
    script: [hold job for 20s]
    events: [pause at 4s for 12600ms]
  - name: alice
    script: [sleep 10100ms, hold job for 9s]
  - name: carol
    script: [sleep 5s` + strings.Repeat(", hold mail for 100ms", 12) + `]
bounds: {schedules: 20}
`
	runChild(t, t.TempDir(), "lock: extends anyone's", []string{"-rapid.shrinktime=0s"}, replayEnv+"="+
		fileOf(t, world)).wantFailure(t,
		"bob was told that it has extended lock job, although alice had taken it 6.5s before\n",
		"  +0s         bob       takes lock job (bob-hold-1, token 1)\n",
		"  +4s         bob       paused: for 12.6s\n",
		"  +10.1s      alice     asks for lock job (alice-hold-1)\n",
		`  +10.1s      alice     {gate: "job"}: {badge: "bob-1", gate: "job", inside_until: 2208988810000, passages: 1} => {badge: "alice-1", `,
		"  +10.1s      alice     takes lock job (alice-hold-1, token 2)\n",
		"  +16.6s      bob       resumed\n",
		"  +16.6s      bob       asks to extend lock job (bob-hold-1, token 1)\n",
		`  +16.6s      bob       {gate: "job"}: {badge: "alice-1", gate: "job", inside_until: 2208988826100, passages: 2} => {badge: "alice-1", `,
		"  +16.6s      bob       has extended lock job (bob-hold-1, token 1)\n",
	)
}

// TestLocksOfNothing: a lock that shows nothing does not pass.
func TestLocksOfNothing(t *testing.T) {
	for lock, want := range map[string][]string{
		"lock: always refuses": {"lock-under-test", "free-lock: "},
		"lock: in no table": {"vacuous: ", "requests was an error, such as: ", "ResourceNotFoundException",
			"it asked for the table the-real-one; the world has isr-cache", "lock-liveness: "},
		"lock: with other keys": {"vacuous: ", "requests was an error, such as: ", "ValidationException",
			"does LockCheck.Table have the lock's keys?", "lock-liveness: "},
		"lock: neither nor":     {"free-lock: ", "the lock returned neither a hold nor an error"},
		"lock: cannot be made":  {"broken: newStore: no region"},
		"lock: is nil":          {"broken: newStore: it returned neither a lock nor an error"},
		"lock: panics":          {"broken: the store under test: actor ", "panicked: no such lock"},
		"lock: a lock for each": {"mutual-exclusion: "},
	} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			runChild(t, t.TempDir(), lock, []string{"-rapid.seed=1", "-rapid.shrinktime=0s"}).wantFailure(t, want...)
		})
	}
	const alone = "name: alone\nprotocol: lock-under-test\nactors: [{name: alice, script: [hold job for 9s]}]\n" +
		"bounds: {schedules: 3}\n"
	runChild(t, t.TempDir(), "lock: a lock for each", nil, replayEnv+"="+fileOf(t, alone)).
		wantFailure(t, "vacuous: nothing was violated", "no request reached the node's Client")
}

// TestLocksWithTTLPass: TTL may delete the rows, by an attribute of any name. A lock passes if no write relies on its
// count. If the table has no TTL, it also passes with writes that do.
func TestLocksWithTTLPass(t *testing.T) {
	effort.Long(t)
	withFlag(t, "rapid.checks", effort.Fewer("55", "11"))
	schedules := effort.Fewer(5, 2)
	purged := newTurnstiles(turnstile{purgedBy: "purge_at"})
	property.LockCheck{Table: turnstileTable, TTL: property.NoTTL, Schedules: schedules}.Run(t, purged)
	reach := append(property.LockReach(), mark.TTLDeletion)
	property.LockCheck{Table: turnstileTable, TTL: "purge_at", Schedules: schedules, Reach: reach}.Run(t,
		func(n property.Machine) (property.Lock, error) {
			lock, err := purged(n)
			return acquirer(func(ctx context.Context, name string) (property.Held, error) {
				held, err := lock.Acquire(ctx, name)
				if err != nil {
					return nil, err
				}
				return struct { // without its Token
					property.Held
					property.HeldChecker
					property.HeldExtender
				}{held, held.(property.HeldChecker), held.(property.HeldExtender)}, nil
			}), err
		})
}

// beatingTurnstile is a lock whose holder has a goroutine that extends it. Like a lock client, the goroutine holds a
// mutex during each request. Each field is a bug unless it says otherwise.
type beatingTurnstile struct {
	throwsAway bool // if a heartbeat took effect but its answer was lost, its retry makes the lock count as lost
	revives    bool // a release does not wait for the heartbeat, which does not check whose lock the row is
	neverOver  bool // the lock of a machine that has died is never taken over
	hopeful    bool // a heartbeat that failed counts as an extension
	faints     bool // after a heartbeat that failed, there are no more
	waits      bool // no bug: after a heartbeat that failed, the next one comes half a lease later
	silent     bool // there are no heartbeats, and the holder cannot ask whether it still holds the lock
}

// beatingLeases are long enough for a heartbeat.
var beatingLeases = []time.Duration{10 * time.Second, 3 * time.Second, 30 * time.Second}

func beatingTurnstiles() map[string]beatingTurnstile {
	return map[string]beatingTurnstile{
		"lock: beats":             {},
		"lock: beats, throws":     {throwsAway: true},
		"lock: beats and revives": {revives: true},
		"lock: beats never":       {silent: true},
		"lock: beats, hopeful":    {hopeful: true},
		"lock: beats, faints":     {faints: true},
		"lock: beats, waits":      {waits: true},
		"lock: beats, never over": {neverOver: true},
	}
}

// beating is a beatingTurnstile that runs on a machine.
type beating struct {
	turnstile
	bugs   beatingTurnstile
	once   sync.Once
	closed chan struct{}
}

func newBeatingTurnstiles(bugs beatingTurnstile) func(property.Machine) (property.Lock, error) {
	return func(n property.Machine) (property.Lock, error) {
		return &beating{turnstile: turnstile{
			Machine: n, extendsAnyones: bugs.revives, neverOver: bugs.neverOver,
		}, bugs: bugs, closed: make(chan struct{})}, nil
	}
}

// Close ends the heartbeats.
func (l *beating) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// beatingPassage is a lock that was taken. It has no method Extend: it extends
// itself.
type beatingPassage struct {
	of       *beating
	released chan struct{}

	mu      sync.Mutex // held during each request
	passage *passage
	lost    bool
	beats   int
}

func (l *beating) Acquire(ctx context.Context, gate string) (property.Held, error) {
	taken, err := l.turnstile.Acquire(ctx, gate)
	if err != nil {
		return nil, err
	}
	p := &beatingPassage{of: l, released: make(chan struct{}), passage: taken.(*passage)}
	if l.bugs.silent {
		return struct{ property.Held }{p}, nil // nor can it be asked
	}
	go p.beat(ctx)
	return p, nil
}

func (p *beatingPassage) beat(ctx context.Context) {
	ticker := p.of.Clock.NewTicker(p.of.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-p.released:
			return
		case <-p.of.closed:
			return
		case <-ctx.Done():
			return
		case <-ticker.Chan():
			switch err := p.extend(ctx); {
			case err != nil && p.of.bugs.faints:
				return
			case err != nil && p.of.bugs.waits:
				ticker.Reset(p.of.Lease / 2)
			default:
				ticker.Reset(p.of.Lease / 3)
			}
		}
	}
}

func (p *beatingPassage) extend(ctx context.Context) error {
	if p.of.bugs.revives {
		return p.passage.Extend(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost {
		return nil
	}
	badge := p.passage.badge
	if p.of.bugs.throwsAway {
		// The condition of the retry has the number that the holder knew, and the first attempt has already changed
		// that number.
		p.beats++
		if err := p.passage.extendFrom(ctx, p.beats); err != nil {
			p.lost = notMine(err) == nil || p.lost
		}
		return nil
	}
	err := p.passage.Extend(ctx)
	switch {
	case err != nil && notMine(err) == nil && p.passage.badge == badge:
		p.lost = true
	case err != nil && p.of.bugs.hopeful:
		p.passage.until = p.of.Clock.Now().Add(p.of.Lease)
	}
	return err
}

func (p *beatingPassage) StillHeld(ctx context.Context) (bool, error) {
	if p.of.bugs.revives {
		return p.passage.StillHeld(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := p.passage.StillHeld(ctx)
	return held && !p.lost, err
}

func (p *beatingPassage) Token() int64 { return p.passage.Token() }

func (p *beatingPassage) Release(ctx context.Context) error {
	close(p.released)
	if !p.of.bugs.revives {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	p.lost = true
	return p.passage.Release(ctx)
}

// TestLockWithHeartbeatsPasses: a check also works, slowly, if a mutex is held during a request.
func TestLockWithHeartbeatsPasses(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	few := []string{"-rapid.seed=1", "-rapid.checks=" + effort.Fewer("20", "10")}
	c := runChild(t, t.TempDir(), "lock: beats", few)
	if !c.passed {
		t.Errorf("a correct lock is accused:\n%s", c.output)
	}
	if waits := effort.Fewer(true, false); waits {
		if c := runChild(t, t.TempDir(), "lock: beats, waits", few); !c.passed {
			t.Errorf("a correct lock is accused:\n%s", c.output)
		}
	}
	said := regexp.MustCompile(`(\d+) worlds, .* hold-taken-over (\d+)`).FindStringSubmatch(c.output)
	if len(said) < 3 || 4*atoi(said[2]) < atoi(said[1]) {
		t.Errorf("the lock is taken over in too few worlds:\n%s", c.output)
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// TestBugsOfHeartbeatsAreFound has the bugs that only heartbeats have. The first worlds of these seeds are small: a
// world with many heartbeats under a mutex takes minutes.
func TestBugsOfHeartbeatsAreFound(t *testing.T) {
	effort.Long(t)
	for lock, want := range map[string]string{
		"lock: beats, throws": "kept-lease: ", "lock: beats and revives": "lock-under-test",
		"lock: beats, hopeful": "mutual-exclusion: ", "lock: beats, faints": "kept-lease: ",
		"lock: beats never": "kept-lease: ", "lock: beats, never over": "lock-under-test",
	} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			seed := "-rapid.seed=4"
			if strings.HasSuffix(lock, "revives") {
				seed = "-rapid.seed=7"
			}
			runChild(t, t.TempDir(), lock, []string{seed, "-rapid.shrinktime=0s"}).wantFailure(t,
				"violated: TestChild under ", want)
		})
	}
}
