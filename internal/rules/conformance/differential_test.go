package conformance_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/rules/conformance/differential"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

var (
	differentialOps = flag.Int("differential.ops", 1000,
		"requests that TestDifferential sends to each store, at least")
	differentialSeed = flag.Int("differential.seed", 1,
		"seed of TestDifferential's first sequence, from 1; the others follow it")
	differentialSurvey = flag.Bool("differential.survey", false,
		"TestDifferential reports one example of each kind of difference, and goes on")
)

// campaign is the number of requests from which a run must reach every listed difference: those of a night. Some
// differences need more than half of them.
const campaign = 400_000

// TestDifferential sends random sequences of requests to the fake and to DynamoDB Local (or, with ISRSIM_AWS=1, to
// DynamoDB itself) and compares all answers and the remaining rows. See package differential.
func TestDifferential(t *testing.T) {
	tally := differential.NewTally()
	pairs := newPairs(t, tally)
	sequences := differential.Sequences()
	survey := newSurvey(pairs, *differentialSurvey)

	// Each sequence has its own seed, so that several can run at a time.
	var next atomic.Int64
	next.Store(int64(*differentialSeed))
	var failed atomic.Int64 // the seed of a sequence with a difference
	maxFlukes := 3 + int64(*differentialOps/50_000)
	var flukes atomic.Int64
	var wg sync.WaitGroup
	for _, p := range pairs {
		wg.Go(func() {
			for failed.Load() == 0 && tally.Requests() < *differentialOps && t.Context().Err() == nil {
				seed := next.Add(1) - 1
				sequence := sequences.Example(int(seed))
				f, err := p.Run(t.Context(), sequence)
				if (f != nil || err != nil) && !*differentialSurvey && t.Context().Err() == nil {
					// DynamoDB Local changes tables and streams in its own time, which is longer on a loaded machine.
					first := fmt.Sprint(f, err)
					for again := 0; again < 3 && (f != nil || err != nil); again++ {
						f, err = p.Run(t.Context(), sequence)
					}
					if f == nil && err == nil {
						t.Logf("seed %d differed at first, and then no more:\n%s", seed, first)
						if flukes.Add(1) > maxFlukes {
							t.Errorf("more than %d sequences differed at first, and then no more", maxFlukes)
							return
						}
					}
				}
				switch {
				case err != nil:
					t.Errorf("seed %d: %v", seed, err)
					return
				case f != nil:
					failed.CompareAndSwap(0, seed)
				}
			}
		})
	}
	wg.Wait()
	if seed := failed.Load(); seed != 0 && !t.Failed() {
		shrink(t, pairs[0], sequences, seed)
	}
	survey.report(t)
	t.Log(tally)
	if missing := tally.Vacuous(); !t.Failed() && missing != nil {
		t.Errorf("vacuous: nothing unlisted differs, but the run has not reached:\n%q", missing)
	}
	for _, k := range pairs[0].Known {
		switch {
		case k.Met() > 0:
		case tally.Requests() < campaign:
			t.Logf("not met in so short a run: %s", k)
		default:
			t.Errorf("a difference is listed that is not there: %s", k)
		}
	}
}

// shrink makes rapid reduce the sequence of a seed, and reports the result.
func shrink(t *testing.T, p *differential.Pair, sequences *rapid.Generator[differential.Sequence], seed int64) {
	t.Helper()
	//isrsim:unordered each by itself
	for name, value := range map[string]string{
		"rapid.seed": fmt.Sprint(seed), "rapid.checks": "1", "rapid.nofailfile": "true",
	} {
		must.OK(t, flag.Set(name, value))
	}
	var smallest *differential.Failure
	defer func() {
		if smallest == nil {
			t.Errorf("the sequence of seed %d differed once, and not again", seed)
			return
		}
		t.Logf("an unlisted difference:\n%s\n"+
			"replay: go test ./internal/rules/conformance -run '^TestDifferential$' -differential.seed=%d "+
			"-differential.ops=1", smallest, seed)
	}()
	rapid.Check(t, func(rt *rapid.T) {
		f, err := p.Run(t.Context(), sequences.Draw(rt, "sequence"))
		if err != nil {
			rt.Skip(err)
		}
		if f == nil || smallest != nil && f.Kind() != smallest.Kind() {
			return // another difference is not a smaller one
		}
		smallest = f
		rt.Fatal(f.Kind())
	})
}

// newPairs returns pairs of stores to compare. Two databases keep two processors busy.
func newPairs(t *testing.T, tally *differential.Tally) []*differential.Pair {
	t.Helper()
	var pairs []*differential.Pair
	if os.Getenv(differential.AWSEnv) == "1" {
		store := must.Of(differential.AWS(t.Context()))(t)
		pairs = []*differential.Pair{{Real: store, Words: true}}
	} else {
		for range 2 {
			local := ddblocal.ForTest(t)
			credentials := must.Of(local.Credentials().Retrieve(t.Context()))(t)
			pairs = append(pairs, &differential.Pair{Known: differential.Local, Real: differential.Store{
				Name: "dynamodb-local", Endpoint: local.Endpoint(),
				Sign: differential.Unsigned(credentials.AccessKeyID), Send: (&http.Client{}).Do,
			}})
		}
	}
	for _, p := range pairs {
		db := ddbfake.New(ddbfake.Options{Clock: fakeclock.New(fakeclock.Epoch)})
		p.Fake, p.Tally = differential.InProcess("fake", db.Handler()), tally
		t.Cleanup(func() {
			if err := p.Drop(); err != nil {
				t.Error(err)
			}
		})
		must.OK(t, p.Create(t.Context()))
	}
	return pairs
}

// survey collects one example of each kind of difference.
type survey struct {
	mu    sync.Mutex
	kinds []string
	count map[string]int
	first map[string]*differential.Failure
}

func newSurvey(pairs []*differential.Pair, on bool) *survey {
	s := &survey{count: map[string]int{}, first: map[string]*differential.Failure{}}
	for _, p := range pairs {
		if on {
			p.Survey = s.add
		}
	}
	return s
}

func (s *survey) add(f *differential.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := f.Kind()
	if s.count[kind]++; s.count[kind] == 1 {
		s.kinds = append(s.kinds, kind)
		s.first[kind] = f
	}
}

func (s *survey) report(t *testing.T) {
	t.Helper()
	for _, kind := range s.kinds {
		t.Errorf("%d times: %s\n%s", s.count[kind], kind, s.first[kind].Last())
	}
}
