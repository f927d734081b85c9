package pages

import (
	"context"
	"fmt"
	"maps"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// render reads the origin, and takes the time that the scenario gives to a rendering. It is the Renderer of the node's
// cache.
func render(
	ctx context.Context, n subject.Node, key string, keepAlive func(context.Context) error,
) ([]byte, error) {
	read := &originRead{Faults: n.Origin(), node: n, page: pageOf(n, key), partition: n.Partition(ctx)}
	read.request, _ = ctx.Value(requested{}).(isr.Request)
	if err := n.Do(ctx, read); err != nil {
		return nil, err
	}
	if read.fault != "" {
		return nil, read.Error(read.fault)
	}
	n.Got(n.Proc().Name() + subject.Rendering)
	c := n.World().Times()
	part := c.KeepAlive
	if part <= 0 {
		part = c.Render
	}
	for left := c.Render; left > 0; left -= part {
		if err := n.Sleep(ctx, min(part, left)); err != nil {
			return nil, err
		}
		if c.KeepAlive > 0 {
			if err := keepAlive(ctx); err != nil {
				return nil, err
			}
		}
	}
	return []byte(read.body), nil
}

// originRead is a request to the origin. The body names the version of the data, and usually the rendering. So an
// answer with this body shows when its data was read (the last time, if renderings have the same bytes).
type originRead struct {
	subject.Faults
	node subject.Node
	page subject.Key
	body string
	// request is the request for which the page is rendered, if there is one.
	request isr.Request
	// partition returns the partition of the page's rows, when the request takes effect.
	partition func(subject.Key) string
	fault     string
}

// Accesses implements sim.Request. The request also writes: a rendering gets a name and is recorded. Both belong to the
// node, so no other node writes them, and both stay if the node crashes.
func (r *originRead) Accesses(outcome int) []sim.Access {
	touched := []sim.Access{
		{Object: sim.ObjectNamed(originObject, r.page.String())},
		{Object: sim.ObjectNamed(originObject, r.page.String(), r.node.Proc().Name()), Write: true},
	}
	return r.Faults.Accesses(touched, outcome)
}

func (r *originRead) Apply(outcome int) {
	r.body = ""
	if r.fault = r.Strike(outcome); r.fault != "" {
		return
	}
	name := r.node.World().NextID(r.node.Proc().Name() + subject.Rendering)
	if r.node.World().Times().SameBytes && r.request.ID == "" {
		name = recorder.SameBytes
	}
	r.body = recorder.Rendering(r.page.String(), of(r.node).versions[r.page], name)
	r.node.Record(history.Event{
		Kind: history.Rendered, Key: r.page.Name, Body: r.body, Request: r.request.ID, Inputs: r.request.Hash,
		Partition: r.partition(r.page),
	})
}

// Asks implements sim.Remembered.
func (r *originRead) Asks() string { return fmt.Sprintf("the origin of %s for %+v", r.page, r.request) }

// Answer implements sim.Remembered.
func (r *originRead) Answer() any { return [2]string{r.body, r.fault} }

// Tell implements sim.Remembered.
func (r *originRead) Tell(answer any) (same bool) {
	a, is := answer.([2]string)
	r.body, r.fault = a[0], a[1]
	return is
}

func (r *originRead) AnswerFingerprint() (uint64, bool) {
	return r.print(func(text string) string { return text }), true
}

// AnswerUpToNames implements sim.UpToNames.
func (r *originRead) AnswerUpToNames() uint64 { return r.print(r.node.World().UpToNames) }

func (r *originRead) print(text func(string) string) uint64 {
	return uint64(fingerprint.Hash(0).Text(text(r.body)).Text(r.fault))
}

func (r *originRead) Describe(int) string {
	return "reads the origin of " + r.page.String() + r.printed(" for body ", " -> ")
}
func (r *originRead) DescribeAnswer() string { return r.printed("origin's data for body ", "") }

// printed is the answer in words.
func (r *originRead) printed(before, failed string) string {
	if r.fault != "" {
		return failed + r.Error(r.fault).Error()
	}
	return before + r.body
}

// originChange is the request of the script's command change.
type originChange struct {
	node subject.Node
	page subject.Key
}

func (*originChange) Outcomes() []int { return subject.Ordinary }

func (r *originChange) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(originObject, r.page.String()), Write: true}}
}

func (r *originChange) Apply(int) {
	s := of(r.node)
	now := maps.Clone(s.versions)
	if now == nil {
		now = map[subject.Key]int{}
	}
	now[r.page]++
	r.node.World().Changed(versionFingerprint(r.page, now[r.page]-1), versionFingerprint(r.page, now[r.page]))
	s.versions = now
	r.node.Record(history.Event{Kind: history.Changed, Key: r.page.Name})
}

func (*originChange) AnswerFingerprint() (uint64, bool) { return 0, true }

// Asks implements sim.Remembered.
func (r *originChange) Asks() string { return "a change of " + r.page.String() }

// Answer implements sim.Remembered.
func (*originChange) Answer() any { return nil }

// Tell implements sim.Remembered.
func (*originChange) Tell(any) (same bool) { return true }

func (r *originChange) Describe(int) string { return "changes the origin of " + r.page.String() }
func (r *originChange) DescribeAnswer() string {
	return "the origin of " + r.page.String() + " is changed"
}

// originObject names, in accesses, a page's data at the origin.
const originObject = "origin"

func versionFingerprint(p subject.Key, version int) fingerprint.Hash {
	return fingerprint.Hash(0).Text(originObject).Text(p.Tenant).Text(p.Name).Number(uint64(version))
}

var (
	_ sim.Fingerprinter = (*originRead)(nil)
	_ sim.Fingerprinter = (*originChange)(nil)
	_ sim.UpToNames     = (*originRead)(nil)
)
