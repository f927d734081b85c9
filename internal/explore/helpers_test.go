package explore_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// parsed reads a scenario given as text.
func parsed(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// embedded returns an embedded scenario.
func embedded(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// protocolNamed returns a protocol.
func protocolNamed(t testing.TB, name string) isr.Protocol {
	t.Helper()
	p, err := scenario.ProtocolNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// trace runs once and returns what the run prints.
func trace(t testing.TB, r scenario.Run) (string, *scenario.Outcome) {
	t.Helper()
	var b bytes.Buffer
	r.Trace = &b
	o, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), o
}

const lonely = `
name: lonely
actors:
  - name: alice
    script: [get /home]
`

// touchy panics when its publish fails.
func touchy(t testing.TB) isr.Protocol {
	p := protocolNamed(t, "recipe-a")
	return isr.Protocol{Name: "touchy", New: func(c isr.Config) (isr.Handler, error) {
		handler, err := p.New(c)
		return panicky{handler}, err
	}}
}

// fickle is broken in every other run: each run of the scenario makes as many nodes.
func fickle(t testing.TB, nodes int64) isr.Protocol {
	good, bad := protocolNamed(t, "recipe-a"), protocolNamed(t, "lease-in-milliseconds")
	var made atomic.Int64
	return isr.Protocol{Name: "fickle", New: func(c isr.Config) (isr.Handler, error) {
		if (made.Add(1)-1)/nodes%2 == 0 {
			return bad.New(c)
		}
		return good.New(c)
	}}
}

type panicky struct{ isr.Handler }

func (p panicky) Get(ctx context.Context, key string) (isr.Served, error) {
	served, err := p.Handler.Get(ctx, key)
	if err != nil {
		panic(err)
	}
	return served, nil
}
