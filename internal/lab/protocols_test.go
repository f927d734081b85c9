package lab_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestPoliciesOfTheLab checks that a protocol and the lab's policy of the same name render a page again at the same
// reads. It is here, and not with the protocols, because the imports of their tests are in the go.sum of every module
// that checks a cache.
func TestPoliciesOfTheLab(t *testing.T) {
	gaps := []int{1, 3, 4, 2, 5, 3, 3, 6, 2, 7, 1, 8, 1, 9, 1, 10, 4, 4, 4, 11, 2, 2, 2, 2, 2, 2, 5, 5, 5, 4, 3, 20, 9,
		9, 1}
	const window = 10 * time.Second
	for _, protocol := range policyprotocol.All() {
		if protocol.Name == "policy-jitter" {
			continue // it has its own draws
		}
		t.Run(protocol.Name, func(t *testing.T) {
			one, err := policy.Named(strings.TrimPrefix(protocol.Name, "policy-"), window)
			must.OK(t, err)
			clock := fakeclock.New(fakeclock.Epoch)
			db := ddbfake.New(ddbfake.Options{Clock: clock})
			must.Done(t)(db.As("setup").CreateTable(t.Context(), isr.TableInput("cache")))
			var rendered, lab []int
			trace, made := "time,key\n", 0.0
			second, tokens := 0, 0
			alice, err := protocol.New(isr.Config{
				Client: db.As("alice"), Clock: scenariotest.Sleepless{Clock: clock}, Bodies: scenariotest.Bodies{},
				Table: "cache", Revalidate: window,
				Tokens: func() string { tokens++; return fmt.Sprint("alice-", tokens) },
				Render: func(context.Context, string, func(context.Context) error) ([]byte, error) {
					rendered = append(rendered, second)
					return []byte("page"), nil
				},
			})
			must.OK(t, err)
			for _, gap := range append([]int{0}, gaps...) {
				second += gap
				clock.Advance(time.Duration(gap) * time.Second)
				must.Done(t)(alice.Get(t.Context(), "/home"))
				trace += fmt.Sprintf("%d,/home\n", second) // up to this read: it causes any further render
				reads := must.Of(policy.ReadTrace("gaps", strings.NewReader(trace)))(t)
				lasts := max(reads.Lasts(), 1)
				x := policy.Experiment{Policy: one, Workload: reads, Lasts: lasts}
				result := must.Of(x.Run(t.Context(), 1))(t)
				if renders := math.Round(result.Value(policy.Renders) * lasts.Seconds()); renders > made {
					made, lab = renders, append(lab, second)
				}
			}
			if len(lab) == 0 || !slices.Equal(rendered, lab) {
				t.Errorf("the protocol made pages at %v, the policy at %v", rendered, lab)
			}
		})
	}
}
