package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// counted counts how often the protocol's code is started.
func counted(p isr.Protocol, made *int) isr.Protocol {
	of := p.New
	p.New = func(cfg isr.Config) (isr.Handler, error) { *made++; return of(cfg) }
	return p
}

// both proves with memory and without, with the same reductions, and returns how often code was started.
func both(t *testing.T, v Prove) (with, without *Proof, started, plainly int) {
	t.Helper()
	search := func(forgetful bool, made *int) *Proof {
		own := v
		own.Protocol, own.Forgetful, own.off = counted(v.Protocol, made), forgetful, v.off|sim.UnreadDeadlines
		proof, err := own.Run(t.Context())
		if err != nil {
			t.Fatalf("%s under %s: %v", v.Scenario.Name, v.Protocol.Name, err)
		}
		return proof
	}
	with, without = search(false, &started), search(true, &plainly)
	return with, without, started, plainly
}

// all prints all that a proof has found, and the violation.
func all(p *Proof) string {
	if p.Failure == nil {
		return show(p)
	}
	return strings.Join(append(p.Failure.Violation.Lines, show(p), p.Failure.Violation.Why,
		p.Failure.Result.Choices.String(), p.Failure.Digest), "\n")
}

// Certificates and the files of interrupted searches do not depend on memory, so a search may go on without it.
func TestFilesDoNotDependOnMemory(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t, "name: small\ncache: {lease: 1s, attempts: 1, patience: 1}\nbounds: {ticks: 1}\n"+
		"actors: [{name: alice, script: [get /home]}, {name: bob, script: [change /home]}]\n")
	var certificates, searches [2][]byte
	var proofs [2]string
	for i := range certificates {
		v := Prove{Scenario: s, Forgetful: i == 1, Certify: true}
		v.MaxSchedules, v.Keep = 20, func(search func() (*Search, error), over bool) error {
			kept, err := search()
			if over && err == nil {
				searches[i], err = kept.Bytes()
			}
			return err
		}
		must.Done(t)(v.Run(t.Context()))
		from, err := ReadSearch(searches[i])
		must.OK(t, err)
		proof := scenariotest.Ran(t, Prove{Scenario: s, Forgetful: i == 0, Certify: true, From: from})
		c, err := proof.Certificate()
		if err == nil {
			certificates[i], err = c.Bytes()
		}
		must.OK(t, err)
		checked, err := Prove{Scenario: s, Forgetful: i == 0, Against: c}.Run(t.Context())
		if err != nil || !checked.Explored.Complete || checked.Verdict != invariant.OK {
			t.Errorf("forgetful %v: the certificate is refused: %v", i == 1, err)
		}
		proofs[i] = all(proof)
	}
	if !bytes.Equal(certificates[0], certificates[1]) || !bytes.Equal(searches[0], searches[1]) ||
		proofs[0] != proofs[1] {
		t.Errorf("the files differ with memory and without, or the proofs do:\n%s", cmp.Diff(proofs[0], proofs[1]))
	}
}

// shared is a cache whose nodes share memory in the process: once one of them has made a page, the others serve it.
type shared struct {
	isr.Handler
	pages *map[string]isr.Served
}

func (s shared) Get(ctx context.Context, key string) (isr.Served, error) {
	if page, known := (*s.pages)[key]; known {
		return page, nil
	}
	page, err := s.Handler.Get(ctx, key)
	if err == nil {
		(*s.pages)[key] = page
	}
	return page, err
}

// Nodes that share memory in the process see more than their inputs. Each run begins with that memory empty, so a
// search that remembers nothing finds nothing wrong with their runs. A search that remembers outputs finds that
// schedules differ when they are run again.
func TestNodesThatShareMemoryAreFound(t *testing.T) {
	for _, c := range []crew{{}, {alone: 1, size: 4, round: 10}} {
		nodesThatShareMemoryAreFound(t, c)
	}
}

func nodesThatShareMemoryAreFound(t *testing.T, c crew) {
	s := scenariotest.Embedded(t, "prove-three-writers")
	of := scenariotest.Protocol(t, s.Protocol)
	pages, nodes := map[string]isr.Served{}, 0
	p := isr.Protocol{Name: "shared", New: func(cfg isr.Config) (isr.Handler, error) {
		if nodes++; nodes%len(s.Actors) == 1 {
			clear(pages)
		}
		handler, err := of.New(cfg)
		return shared{handler, &pages}, err
	}}
	for _, sdk := range []bool{false, true} {
		_, err := Prove{
			Scenario: s, Protocol: p, Seed: 1, crew: c, Options: kernel.Options{SDK: sdk},
		}.Run(t.Context())
		unstable, is := errors.AsType[*kernel.NondeterminismError](err)
		if !is || unstable.Difference == "" {
			t.Errorf("with the SDK %v: got the error %v, expected that it is not deterministic", sdk, err)
		}
	}
}

// The state of a machine does not cover the clock or the tokens of another machine that it uses. So a search would take
// different states for the same one, and could hide a violation.
func TestTheClockOfAnotherIsRefused(t *testing.T) {
	s := scenariotest.Embedded(t, "prove-two-writers")
	of := scenariotest.Protocol(t, s.Protocol)
	for name, use := range map[string]func(made isr.Config, cfg *isr.Config){
		"clock":  func(made isr.Config, cfg *isr.Config) { cfg.Clock = made.Clock },
		"tokens": func(made isr.Config, cfg *isr.Config) { cfg.Tokens = made.Tokens },
	} {
		for _, sdk := range []bool{false, true} {
			var last isr.Config
			p := isr.Protocol{Name: "shared", New: func(cfg isr.Config) (isr.Handler, error) {
				own := cfg
				if last.Clock != nil {
					use(last, &cfg)
				}
				last = own
				return of.New(cfg)
			}}
			_, err := Prove{
				Scenario: s, Protocol: p, Seed: 1, Forgetful: true, Options: kernel.Options{SDK: sdk},
			}.Run(t.Context())
			// at the latest, in the audit of a run
			if !strings.Contains(fmt.Sprint(err), " used the client or the clock of ") {
				t.Errorf("%s, sdk %v: got the error %v, want one that says whose it was", name, sdk, err)
			}
		}
	}
}

// breaker is a cache that gives up once after three errors in a row, no matter on which nodes.
type breaker struct {
	isr.Handler
	failed *int
}

func (b breaker) Get(ctx context.Context, key string) (isr.Served, error) {
	if *b.failed >= 3 {
		*b.failed = 0
		return isr.Served{}, errors.New("open")
	}
	page, err := b.Handler.Get(ctx, key)
	if *b.failed++; err == nil {
		*b.failed = 0
	}
	return page, err
}

// State shared by foreign code may show in few schedules, and in even fewer with memory, because code runs less often.
// So a search as small as this one runs all of its schedules again.
func TestWhatNodesShareIsFoundInSmallSearches(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, revalidate: 20s, attempts: 1, patience: 1}\n"+
			"faults: [maybe response-lost]\nbounds: {ticks: 0}\n"+
			"actors:\n  - {name: alice, script: [get /home, sleep 21s, get /home]}\n"+
			"  - {name: bob, script: [sleep 21s, get /home]}\n")
	of, failed := scenariotest.Protocol(t, "recipe-a"), 0
	p := isr.Protocol{Name: "breaker", New: func(cfg isr.Config) (isr.Handler, error) {
		handler, err := of.New(cfg)
		return breaker{handler, &failed}, err
	}}
	_, err := Prove{Scenario: s, Protocol: p, Seed: 1, Options: kernel.Options{SDK: true}}.Run(t.Context())
	if unstable, is := errors.AsType[*kernel.NondeterminismError](err); !is || unstable.Difference == "" {
		t.Errorf("got the error %v, expected that it is not deterministic", err)
	}
}

// Code that ends earlier when its history is replayed is detected like other code that is not deterministic, even if
// its input holds a ttl that it is assumed not to read.
func TestCodeThatEndsEarlierIsFound(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1, attempts: 1}\nbounds: {ticks: 0}\n"+
			"actors:\n  - {name: alice, script: [get /home], crashes: 1, restarts: 1}\n"+
			"  - {name: bob, script: [get /home]}\n")
	of := scenariotest.Protocol(t, "recipe-a")
	for most := range 20 {
		asked := 0
		p := isr.Protocol{Name: "tired", New: func(cfg isr.Config) (isr.Handler, error) {
			handler, err := of.New(cfg)
			return tired{handler, &asked, most + 2}, err
		}}
		proof, err := Prove{Scenario: s, Protocol: p, Seed: 1}.Run(t.Context())
		if unstable, is := errors.AsType[*kernel.NondeterminismError](err); !is || unstable.Difference == "" {
			t.Errorf("after %d questions: got %+v, error %v; want that it is not deterministic", most+2, proof, err)
		}
	}
}

// tired is a cache that stops answering after some number of questions to all nodes together.
type tired struct {
	isr.Handler
	asked *int
	most  int
}

func (h tired) Get(ctx context.Context, key string) (isr.Served, error) {
	if *h.asked++; *h.asked > h.most {
		return isr.Served{}, errors.New("no page is made")
	}
	return h.Handler.Get(ctx, key)
}

// recovers is a cache that takes each panic for an error.
type recovers struct{ isr.Handler }

func (r recovers) Get(ctx context.Context, key string) (page isr.Served, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
	}()
	return r.Handler.Get(ctx, key)
}

// Code that recovers from all panics goes on while a crash unwinds it. Its node is dead, so it must not tell a client
// anything. Remembered code is not unwound at all.
func TestDeadNodesSayNothing(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Parsed(t, "name: small\ncache: {lease: 10s, attempts: 1, patience: 1}\nbounds: {ticks: 0}\n"+
		"actors:\n  - {name: alice, script: [get /home], crashes: 1, restarts: 1}\n"+
		"  - {name: bob, script: [get /home]}\n")
	of := scenariotest.Protocol(t, "recipe-a")
	p := isr.Protocol{Name: "recovers", New: func(cfg isr.Config) (isr.Handler, error) {
		handler, err := of.New(cfg)
		return recovers{handler}, err
	}}
	for _, sdk := range []bool{false, true} {
		v := Prove{Scenario: s, Protocol: p, Seed: 1, MaxSchedules: effort.Fewer(300, 100), strict: true}
		v.SDK = sdk
		with, without, _, _ := both(t, v)
		if diff := cmp.Diff(all(without), all(with)); diff != "" {
			t.Errorf("with the SDK %v (-without memory +with):\n%s", sdk, diff)
		}
	}
}

// Code with a client of the SDK is remembered as other code is, and so are locks and calls. Each schedule is the same
// as from its beginning, and the search finds the same.
func TestMemoryChangesNoProofOfForeignCode(t *testing.T) {
	effort.Long(t)
	compare := func(s *spec.Scenario, p isr.Protocol, sdk bool) {
		v := Prove{Scenario: s, Protocol: p, Seed: 1, MaxSchedules: effort.Fewer(3000, 60), strict: true}
		v.SDK = sdk
		with, without, _, _ := both(t, v)
		if diff := cmp.Diff(all(without), all(with)); diff != "" {
			t.Errorf("%s under %s (-without memory +with):\n%s", s.Name, p.Name, diff)
		}
	}
	for _, protocol := range effort.Fewer([]string{"recipe-a", "guard-token-alone", "check-then-act-publish"},
		[]string{"guard-token-alone"}) {
		compare(scenariotest.Embedded(t, "prove-two-writers"), scenariotest.Protocol(t, protocol), true)
	}
	const two = "name: %s\ncache: {lease: 10s, retention: 60s, render: 1s, poll: 5s, patience: 3, attempts: 1}\n" +
		"settle: 60s\n" +
		"bounds: {ticks: %d}\nfaults: [%s]\nactors:\n  - {name: alice, script: [%s], crashes: 1%s}\n" +
		"  - {name: bob, script: [%[4]s]%[6]s}\n"
	bugs := func(of map[string][]string) []string {
		return append(slices.Concat(slices.Collect(maps.Values(of))...), "")
	}
	underAll := func(command, fault string, of func(bug string) isr.Protocol, all []string) {
		crash := scenariotest.Parsed(t, fmt.Sprintf(two, "crash", 0, fault, command, "", ""))
		tick := scenariotest.Parsed(t, fmt.Sprintf(two, "tick", 1, "maybe response-lost, maybe origin-failed", command,
			", restarts: 1", ", pauses: 1, events: [clock +2s at 3s]"))
		for _, bug := range effort.Fewer(all, []string{"", "takes over early"}) {
			compare(crash, of(bug), false)
			compare(tick, of(bug), bug == "")
		}
	}
	underAll("hold job for 6s", "", scenariotest.Lock, bugs(scenariotest.LockBugs))
	underAll("once pay with 7", "maybe origin-failed", scenariotest.Once, bugs(scenariotest.OnceBugs))
}

// renewing takes a lock that others may have, and later extends it, counting from when it was last taken, which its row
// does not say.
func renewing(ctx context.Context, h doing, key string) error {
	row := pagecache.Key(isr.PartitionKey("", key), isr.SortLock)
	row["v"], row["for"] = &types.AttributeValueMemberS{Value: h.cfg.Tokens()}, &types.AttributeValueMemberN{
		Value: "10",
	}
	if err := h.put(ctx, h.cfg.Table, row); err != nil {
		return err
	}
	h.cfg.Clock.Sleep(5 * time.Second)
	_, err := h.cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &h.cfg.Table, Key: pagecache.Key(isr.PartitionKey("", key), isr.SortLock),
		UpdateExpression:         aws.String("SET #for = :longer"),
		ExpressionAttributeNames: map[string]string{"#for": "for"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":longer": &types.AttributeValueMemberN{Value: "20"},
		},
	})
	return err
}

// When a search returns to a moment, the translation of the cache's own rows is restored, too.
func TestMemoryKeepsWhatRowsMean(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: small\ninvariants: [freshness]\ncache: {lease: 10s, render: 0s, patience: 1}\nbounds: {ticks: 0}\n"+
			"rows:\n  - {partition: \"pk = {key}\", sort: sk = META, body: html, generated: at}\n"+
			"  - {partition: \"pk = {key}\", sort: sk = LOCK, token: v, lasts: for s, renews: v}\n"+
			"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [sleep 5s, get /home]}\n")
	for _, of := range []struct {
		p    isr.Protocol
		rows isr.Schema
	}{{does(renewing), s.Rows},
		{scenariotest.Renamed(scenariotest.Protocol(t, "recipe-a")), scenariotest.RenamedRows}} {
		s.Rows = of.rows
		with, without, started, plainly := both(t, Prove{Scenario: s, Protocol: of.p, Seed: 1, strict: true})
		if diff := cmp.Diff(all(without), all(with)); diff != "" || !with.Explored.Complete || started > plainly {
			t.Errorf("%s: complete %v, code was started %d times, and %d times without memory (-without memory "+
				"+with):\n%s",
				of.p.Name, with.Explored.Complete, started, plainly, diff)
		}
	}
}

// Code that depends on more than a node's inputs is not remembered: each of its runs starts from the beginning, and
// with the SDK each is repeated.
func TestCodeThatIsNotRemembered(t *testing.T) {
	effort.Long(t)
	pages := scenariotest.Embedded(t, "prove-two-writers")
	lock := scenariotest.Parsed(t,
		"name: two\ncache: {lease: 10s}\nbounds: {ticks: 1}\n"+
			"actors: [{name: alice, script: [hold job for 6s]}, {name: bob, script: [hold job for 6s]}]\n")
	before, seeded := func(uint64) {}, 0
	const most = 200 // schedules; the first ones are all run again
	for name, test := range map[string]struct {
		s     *spec.Scenario
		setup kernel.Setup
		sdk   bool
		want  int // starts of a machine in a schedule
	}{
		"it may draw":      {pages, kernel.Setup{Before: before}, false, 1},
		"it may draw, SDK": {pages, kernel.Setup{Before: before}, true, 2},
		"it draws": {pages,
			kernel.Setup{Before: func(uint64) { seeded++ }, Drew: func() bool { return true }}, true, 0},
		"it does not draw":     {pages, kernel.Setup{Before: before, Drew: func() bool { return false }}, true, 0},
		"a lock with the SDK":  {lock, kernel.Setup{}, true, 0},
		"a lock that may draw": {lock, kernel.Setup{Before: before}, true, 2},
		"a plain lock":         {lock, kernel.Setup{}, false, 0},
		"nobody asks for that": {pages, kernel.Setup{}, true, 0},
	} {
		made := 0
		protocol := scenariotest.Lock("")
		if test.s == pages {
			protocol = scenariotest.Protocol(t, pages.Protocol)
		}
		v := Prove{Scenario: test.s, Protocol: counted(protocol, &made), Seed: 1, MaxSchedules: most}
		v.SDK, v.Setup = test.sdk, test.setup
		written := false
		// as in a check of locks
		ctx := hooks.With(t.Context(), &hooks.Probe{OnWrite: func(attr.Item, attr.Item) { written = true }})
		_, err := v.Run(ctx)
		if !written {
			t.Errorf("%s: no write was seen", name)
		}
		if each := made / (most * len(test.s.Actors)); err != nil || min(each, 2) != test.want {
			t.Errorf("%s: code was started %d times in %d schedules, expected %d for each of %d machines; error %v",
				name, made, most, test.want, len(test.s.Actors), err)
		}
	}
	if seeded < 100 {
		t.Errorf("code that draws was seeded %d times, expected each time that it goes on", seeded)
	}
}

// The visit after each schedule asks for every page. Its code is remembered as well: it runs only for new inputs, and
// what is remembered of it does not grow with the schedules. (To find out whether it reads the ttl of locks, it would
// run three more times for each.)
func TestVisitsAreRemembered(t *testing.T) {
	effort.Long(t)
	s := scenariotest.Embedded(t, "prove-lost-answer")
	made := 0
	proof, err := Prove{
		Scenario: s, Protocol: counted(scenariotest.Protocol(t, "recipe-a"), &made), Seed: 1, off: sim.UnreadDeadlines,
		crew: crew{alone: 1 << 20}, // with one memory
	}.Run(t.Context())
	if err != nil || !proof.Explored.Complete {
		t.Fatal(proof, err)
	}
	if made*4 > proof.Schedules { // 1,195 of 5,068; with a memory for each visit 1,677
		t.Errorf("code was started %d times in %d schedules, expected a quarter", made, proof.Schedules)
	}
}

// small is a team for small proofs.
var small = crew{alone: 50, size: 3, round: 20}

// A proof that goes on as a team says what it says alone, but for how many schedules and states there were on the way.
// It says the same on any number of processors, and with memory and without.
func TestATeamProvesTheSame(t *testing.T) {
	effort.Long(t)
	says := func(p *Proof) string {
		if p.Failure != nil {
			return p.Summary() // which schedule is the first one depends on the order
		}
		return fmt.Sprint(p.Summary(), p.Explored.Complete, p.Proved(), p.NothingToJudge(), p.LeftToCampaigns(),
			p.Reached(), p.Missing, p.Unmet, p.Deadlines, p.States)
	}
	run := func(v Prove, processors int) *Proof {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		p, err := v.Run(t.Context())
		if err != nil {
			t.Fatalf("%s under %s: %v", v.Scenario.Name, v.Protocol.Name, err)
		}
		return p
	}
	violated := 0
	for _, name := range effort.Fewer([]string{"prove-two-writers", "prove-crashed-writer", "prove-lost-answer"},
		[]string{"prove-lost-answer"}) {
		s := scenariotest.Embedded(t, name)
		for _, protocol := range []string{s.Protocol, "guard-token-alone"} {
			v := Prove{Scenario: s, Protocol: scenariotest.Protocol(t, protocol), Seed: 1}
			alone := run(v, 1)
			v.crew = small
			team, other := run(v, 1), run(v, 4)
			if diff := cmp.Diff(says(alone), says(team)); diff != "" {
				t.Errorf("%s under %s (-alone +team):\n%s", name, protocol, diff)
			}
			if diff := cmp.Diff(all(team), all(other)); diff != "" {
				t.Errorf("%s under %s (-one processor +four):\n%s", name, protocol, diff)
			}
			if alone.Explored == team.Explored {
				t.Errorf("%s under %s: the very same search, %+v: there was no team", name, protocol, team.Explored)
			}
			if alone.Failure != nil {
				violated++
				if team.FailedAt != team.Schedules {
					t.Errorf("%s under %s: violated in schedule %d, and schedules after it count: %d", name, protocol,
						team.FailedAt, team.Schedules)
				}
			}
		}
	}
	if violated == 0 {
		t.Error("nothing was violated")
	}
	v := Prove{Scenario: scenariotest.Parsed(t, interruptible), Protocol: scenariotest.Protocol(t, "recipe-a"),
		Seed: 1, crew: crew{alone: 10, size: 3, round: 3}}
	with, without, _, _ := both(t, v)
	if diff := cmp.Diff(all(with), all(without)); diff != "" {
		t.Errorf("a team (-with memory +without):\n%s", diff)
	}
}

// Here searchers run at the same time, which the race detector looks at.
func TestATeamCertifiesTheSame(t *testing.T) {
	run := func(v Prove) (*Proof, string) {
		p := scenariotest.Ran(t, v)
		return p, fmt.Sprint(p.Summary(), p.Proved(), p.Reached(), p.Unmet, p.Deadlines, p.States)
	}
	v := Prove{
		Scenario: scenariotest.Parsed(t, interruptible), Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1,
		Certify: true,
	}
	alone, said := run(v)
	v.crew = crew{alone: 10, size: 3, round: 3}
	for bound, seen := 20, 0; bound < 60; bound += 20 {
		v.MaxStates = bound
		p, _ := run(v)
		if want := fmt.Sprintf("the bound of %d states was met", bound); p.Why != want ||
			p.Verdict != invariant.Unknown || p.Explored.States <= seen {
			t.Errorf("%v %q, with %d states; want %q, and more than %d", p.Verdict, p.Why, p.Explored.States, want,
				seen)
		}
		seen = bound
	}
	v.MaxStates = 0
	var heard exhaustive.Explored
	v.Progress = func(e exhaustive.Explored) {
		if e.Schedules < heard.Schedules || e.States < heard.States || e.Share < heard.Share {
			t.Errorf("heard of %+v after %+v", e, heard)
		}
		heard = e
	}
	if team, says := run(v); said != says || len(team.States) == 0 ||
		alone.Explored.Schedules == team.Explored.Schedules {
		t.Errorf("a certificate of %d states in %d schedules, and by a team of %d in %d",
			len(alone.States), alone.Explored.Schedules, len(team.States), team.Explored.Schedules)
	} else if team.Explored != heard {
		t.Errorf("heard of %+v last, expected %+v", heard, team.Explored)
	}
}

// Code under test is not called by the searchers of a team, but in the goroutine that Setup.Beside says.
func TestATeamRunsForeignCodeInOneGoroutine(t *testing.T) {
	var teams, calls int
	var within atomic.Bool
	protocol := scenariotest.Protocol(t, "recipe-a")
	v := Prove{Scenario: scenariotest.Parsed(t, interruptible), Protocol: protocol, Seed: 1,
		Options: kernel.Options{SDK: true}}
	alone := scenariotest.Ran(t, v)
	v.Protocol.New = func(cfg isr.Config) (isr.Handler, error) {
		if teams > 0 {
			if calls++; !within.Load() {
				t.Error("a searcher made a node")
			}
		}
		return protocol.New(cfg)
	}
	v.crew = crew{alone: 10, size: 3, round: 3}
	v.Setup.Beside = func(work func(in func(call func()))) {
		teams++
		work(func(call func()) {
			defer within.Store(within.Swap(true))
			call()
		})
	}
	team := scenariotest.Ran(t, v)
	if team.Summary() != alone.Summary() || !team.Explored.Complete || team.Explored == alone.Explored {
		t.Errorf("%s in %+v, and as a team %s in %+v", alone.Summary(), alone.Explored, team.Summary(), team.Explored)
	}
	if teams == 0 || calls == 0 {
		t.Errorf("%d teams made %d nodes, expected some", teams, calls)
	}
}

// Some searches stay alone: those with a bound of schedules, which is exact; those whose order or whose states matter
// to others; and those of code that runs again and again.
func TestWhichSearchesGoOnAsATeam(t *testing.T) {
	recipe := scenariotest.Protocol(t, "recipe-a")
	now, later := crew{size: 2, round: 1}, crew{alone: 1, size: 2, round: 1}
	for name, test := range map[string]struct {
		v    Prove
		want bool
	}{
		"a search":          {Prove{Protocol: recipe, crew: now}, true},
		"without memory":    {Prove{Protocol: recipe, crew: now, Forgetful: true}, true},
		"a bound of states": {Prove{Protocol: recipe, crew: now, MaxStates: 1}, true},
		"too early":         {Prove{Protocol: recipe, crew: later}, false},
		"much too early":    {Prove{Protocol: recipe}, false},
		"a bound":           {Prove{Protocol: recipe, crew: now, MaxSchedules: 1}, false},
		"a check":           {Prove{Protocol: recipe, crew: now, Against: &Certificate{}}, false},
		"one that is told":  {Prove{Protocol: recipe, crew: now, onWorld: func(uint64) {}}, false},
		"code with the SDK": {Prove{Protocol: recipe, crew: now, Options: kernel.Options{SDK: true}}, false},
		"code that never ran": {Prove{Protocol: recipe, crew: now, Options: kernel.Options{
			SDK: true, Setup: kernel.Setup{Beside: func(func(func(func()))) {}}}}, false},
		"one of a program": {Prove{Protocol: isr.Protocol{Name: "exec node cache.js"}, crew: now}, false},
	} {
		if got := test.v.divides(&exhaustive.Exploration{}); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// What any searcher tries counts. Without memory, no code runs at the same time as other code.
func TestATeamGathersAndTakesTurns(t *testing.T) {
	alice, bob := hooks.End{Page: "/home", Actor: "alice"}, hooks.End{Page: "/home", Actor: "bob"}
	to := &hooks.Probe{Ends: hooks.Ends{alice: {Before: true}}, Judged: map[string]bool{"freshness": true}}
	gather(to, &hooks.Probe{Ends: hooks.Ends{alice: {After: true}, bob: {At: true}}, Judged: map[string]bool{
		"liveness": true, "freshness": false,
	}})
	if diff := cmp.Diff(hooks.Ends{alice: {Before: true, After: true}, bob: {At: true}}, to.Ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"freshness": true, "liveness": true}, to.Judged); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	of := scenariotest.Protocol(t, "recipe-a")
	var running, most atomic.Int32
	taking := isr.Protocol{Name: of.Name, New: func(cfg isr.Config) (isr.Handler, error) {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		for range 20 {
			runtime.Gosched()
		}
		return of.New(cfg)
	}}
	for _, forgetful := range []bool{true, false} {
		v := Prove{Scenario: scenariotest.Parsed(t, interruptible), Protocol: taking,
			crew: crew{alone: 1, size: 3, round: 3}, Forgetful: forgetful}
		if p, err := v.Run(t.Context()); err != nil || !p.Explored.Complete || most.Load() != 1 {
			t.Errorf("forgetful %v: the code of %d nodes ran at the same time; %v, error %v", forgetful, most.Load(), p,
				err)
		}
	}
}

// The caller's own invariants may remember what they have seen, so they judge one run at a time.
func TestATeamJudgesOneAtATime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var judging, most, judged atomic.Int32
	own := invariant.Invariant{Name: "own", Statement: "it judges alone",
		Check: func(invariant.Evidence) invariant.Finding {
			if n := judging.Add(1); n > 1 {
				most.Store(n)
			}
			for range 20 { // so that others may start
				runtime.Gosched()
			}
			judging.Add(-1)
			judged.Add(1)
			return invariant.Finding{Verdict: invariant.OK}
		}}
	v := Prove{Scenario: scenariotest.Embedded(t, "prove-lost-answer"), Protocol: scenariotest.Protocol(t, "recipe-a"),
		Seed: 1, MaxStates: 1000, crew: small}
	v.Invariants = []invariant.Invariant{own}
	if p, err := v.Run(t.Context()); err != nil || p.Explored.States < 1000 {
		t.Fatalf("%v, expected a thousand states", err)
	}
	if most.Load() > 0 || judged.Load() == 0 {
		t.Errorf("%d runs were judged, %d of them at the same time, expected one after the other",
			judged.Load(), most.Load())
	}
}
