package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/faults"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/base/words"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Fault is a fault of the store, of the body store or of the origin. A certain fault strikes whenever its predicates
// hold. A possible fault ("maybe") strikes if, in addition, the schedule chooses it.
type Fault struct {
	ddbfake.Fault
	// Dependency is a fault of the body store or of the origin; "" means a fault of the store. If it is set, the Fault
	// has no Kind, and no predicates except Actor, Nth and Times.
	Dependency string
	// CutOff says that no request arrives at the store, the body store or the origin. The Kind is then
	// FaultRequestLost, and there are no predicates except Actor, Nth and Times.
	CutOff bool
	// Latency, if positive, is the time from the effect of a request to the store until its answer arrives. If
	// LatencyUpTo is greater, the delay of each answer is drawn from the seed, between the two, in steps of a
	// millisecond. If Latency is positive, the Kind is 0.
	Latency, LatencyUpTo time.Duration
	// From and To are the window of the fault, in true time since the run began: it strikes a request that takes effect
	// at From or later, and before To. If To is 0 the window has no end; if both are 0 there is no window.
	From, To time.Duration
	Maybe    bool
}

// latencyKind is the kind of a fault of neither the store nor a dependency, like mark.CutOff.
const latencyKind = "latency"

// Name returns the kind of the fault as scenario files write it.
func (f Fault) Name() string {
	switch {
	case f.CutOff:
		return mark.CutOff
	case f.Latency > 0:
		return latencyKind
	case f.Dependency != "":
		return f.Dependency
	default:
		return f.Kind.String()
	}
}

// String returns the fault as scenario files write it.
func (f Fault) String() string {
	text := f.Name()
	if f.Latency > 0 {
		text += " " + f.Latency.String()
		if f.LatencyUpTo > f.Latency {
			text += "-" + f.LatencyUpTo.String()
		}
	}
	text += strings.TrimPrefix(f.Fault.String(), f.Kind.String())
	if f.Times == 1 && f.Lasts() {
		text += " times=1"
	}
	if f.windowed() {
		text += " from " + f.From.String()
	}
	if f.To > 0 {
		text += " to " + f.To.String()
	}
	if f.Maybe {
		return "maybe " + text
	}
	return text
}

// Kept says whether swarm testing leaves a possible fault on in the run of a seed. Each is on in half of the runs,
// independently of the others. A run with few kinds of faults tries these more deeply than a run in which all kinds get
// into each other's way. The draw depends on the fault's text, not on its place, so that it stays the same when other
// faults come and go.
//
// Source: Groce, Zhang, Eide, Chen, Regehr: Swarm testing (ISSTA 2012).
func (f Fault) Kept(seed uint64) bool { return sim.Stream(seed, "swarm "+f.String()).IntN(2) == 0 }

func (f *Fault) windowed() bool { return f.From > 0 || f.To > 0 }

// Lasts reports whether the fault strikes every time, unless Times limits it.
func (f *Fault) Lasts() bool { return f.windowed() || f.CutOff }

// Strikes is how often the fault strikes; ddbfake.Always means without end.
func (f *Fault) Strikes() int {
	if f.Times == ddbfake.Always || f.Times == 0 && f.Lasts() {
		return ddbfake.Always
	}
	return max(f.Times, 1)
}

// During says whether the time since the run began is within the fault's window.
func (f *Fault) During(since time.Duration) bool {
	return since >= f.From && (f.To == 0 || since < f.To)
}

// OfStore says whether the fault can strike calls to the store.
func (f *Fault) OfStore() bool { return f.Dependency == "" }

// faultKinds are the words for the kinds of faults. The kinds of the store's faults come first.
func faultKinds() []string {
	var known []string
	for _, k := range ddbfake.FaultKinds() {
		known = append(known, k.String())
	}
	return append(append(known, mark.DependencyFaults()...), mark.CutOff, latencyKind)
}

// parseFault reads a fault without the word maybe: a fault of the store, or another fault with its predicates. The hint
// may be empty.
func parseFault(text string) (f Fault, hint string, err error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	known, ofStore := faultKinds(), len(ddbfake.FaultKinds())
	i := slices.Index(known, kind)
	if i < 0 {
		return f, suggest.Hint(kind, known, ""),
			fmt.Errorf("fault %q: found %q, want a kind (%s)", text, kind, strings.Join(known, ", "))
	}
	predicates, err := f.takeWindow(rest)
	if err != nil {
		return f, "such as: " + kind + exampleOf(kind) + " from 10s to 20s", fmt.Errorf("fault %q: %w", text, err)
	}
	if kind == latencyKind {
		if predicates, err = f.takeLatency(predicates); err != nil {
			return f, "such as: latency 2s op=GetItem, or latency 100ms-2s", fmt.Errorf("fault %q: %w", text, err)
		}
	}
	// All faults have the predicates of the store's faults.
	as := kind
	if i >= ofStore {
		as = ddbfake.FaultThrottled.String()
	}
	// ParseFault does not know the operations of S3, so PutItem stands in for one.
	fields, _ := words.Split(predicates) // takeWindow has split them
	object := ""
	for i, field := range fields {
		if op, is := strings.CutPrefix(field, "op="); is && slices.Contains(faults.ObjectOperations, op) {
			fields[i], object = "op=PutItem", op
		}
	}
	window, parsed := f, strings.Join(append([]string{as}, fields...), " ")
	f.Fault, err = ddbfake.ParseFault(parsed)
	f.Op = cmp.Or(object, f.Op)
	f.From, f.To, f.Latency, f.LatencyUpTo = window.From, window.To, window.Latency, window.LatencyUpTo
	switch {
	case i < ofStore:
		return f, "", renamed(err, parsed, text)
	case kind == latencyKind:
		f.Kind = 0
		return f, "", renamed(err, parsed, text)
	case kind == mark.CutOff:
		f.CutOff, f.Kind = true, ddbfake.FaultRequestLost
	default:
		f.Dependency, f.Kind = kind, 0
	}
	if err != nil || f.Op+f.Table+f.Key != "" {
		return f, fmt.Sprintf("such as: %s actor=alice times=2", kind),
			fmt.Errorf("fault %q: found %q, want nothing but actor, nth, times, from and to behind %s", text,
				predicates, kind)
	}
	return f, "", nil
}

// exampleOf returns what follows the kind in an example of a fault.
func exampleOf(kind string) string {
	if kind == latencyKind {
		return " 2s"
	}
	return ""
}

// renamed changes an error about a part of the text into an error about the whole text.
func renamed(err error, part, text string) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.Replace(err.Error(), fmt.Sprintf("fault %q", part), fmt.Sprintf("fault %q", text), 1))
}

// takeWindow reads "from TIME" and "to TIME", and returns the other words.
func (f *Fault) takeWindow(text string) (rest string, err error) {
	all, err := words.Split(text)
	if err != nil {
		return "", err
	}
	var others []string
	given := map[string]bool{}
	for i := 0; i < len(all); i++ {
		name := all[i]
		to := map[string]*time.Duration{"from": &f.From, "to": &f.To}[name]
		switch {
		case strings.HasPrefix(name, "from=") || strings.HasPrefix(name, "to="):
			return "", fmt.Errorf("found %s, want a space in place of =", name)
		case to == nil:
			others = append(others, name)
			continue
		case given[name]:
			return "", fmt.Errorf("%s is given twice", name)
		case i+1 == len(all):
			return "", fmt.Errorf("found nothing behind %s, want a time such as 10s", name)
		}
		given[name] = true
		i++
		if *to, err = parseTime(all[i]); err != nil {
			return "", fmt.Errorf("found %s %s, want %w", name, all[i], err)
		}
	}
	switch {
	case given["to"] && f.To <= f.From:
		return "", fmt.Errorf("found a window from %v to %v, want one that ends after it begins", f.From, f.To)
	case given["from"] && !f.windowed():
		return "", errors.New("found from 0s without an end, want to with a time, or times=always")
	}
	return strings.Join(others, " "), nil
}

// takeLatency reads how long an answer is delayed, and returns the other words.
func (f *Fault) takeLatency(text string) (rest string, err error) {
	first, rest, _ := strings.Cut(text, " ")
	least, most, drawn := strings.Cut(first, "-")
	f.Latency, err = parseTime(least)
	if drawn && err == nil {
		f.LatencyUpTo, err = parseTime(most)
	}
	if err != nil || f.Latency == 0 || drawn && f.LatencyUpTo <= f.Latency {
		return "", fmt.Errorf("found %q, want how long the answer is under way, such as 2s or 100ms-2s",
			cmp.Or(first, "nothing"))
	}
	return rest, nil
}

// fault reads a fault. If there are mistakes in the actors or the tables, their names may not be known.
func (p *parse) fault(n yamlNode, actorsKnown, tablesKnown bool) {
	text := p.Text(n)
	if p.Shape != nil {
		p.DescribeWords(`(maybe\s+)?`, faultKinds(),
			[]string{"throttled op=PutItem key=LOCK times=2", "maybe response-lost op=TransactWriteItems actor=alice",
				"throttled op=PutItem from 10s to 20s", "cut-off actor=alice from 10s to 20s",
				"latency 100ms-2s op=GetItem"})
	}
	if p.Err != nil {
		return
	}
	rest, maybe := strings.CutPrefix(strings.TrimSpace(text), "maybe ")
	f, hint, err := parseFault(rest)
	if err != nil {
		p.Fail(n, cmp.Or(hint, "such as: maybe response-lost op=TransactWriteItems actor=alice"), "%v", err)
		return
	}
	f.Maybe = maybe
	var actors []string
	for _, a := range p.s.Actors {
		if !slices.Contains(actors, a.Name) { // a duplicate name is reported elsewhere
			actors = append(actors, a.Name)
		}
	}
	switch {
	case actorsKnown && f.Actor != "" && !slices.Contains(actors, f.Actor):
		p.Fail(n, suggest.Hint(f.Actor, actors, ""), "found a fault of actor %q, expected one of %s", f.Actor,
			strings.Join(actors, ", "))
	case f.Op != "" && !slices.Contains(ddbfake.Operations(), f.Op) && !slices.Contains(faults.ObjectOperations, f.Op):
		p.Fail(n, suggest.Hint(f.Op, ddbfake.Operations(), ""), "found a fault of operation %q, expected one of %s",
			f.Op, strings.Join(ddbfake.Operations(), ", "))
	case maybe && f.Nth > 0:
		p.Fail(n, "leave out nth, or leave out maybe",
			"found nth=%d in a fault that strikes when the schedule says so", f.Nth)
	case tablesKnown && f.Table != "" && !slices.Contains(TableNames(p.s.Rows), f.Table):
		p.Fail(n, "leave the table out", "found a fault of table %q, but the only table is %s", f.Table,
			oneOf(TableNames(p.s.Rows)))
	}
	p.s.Faults = append(p.s.Faults, f)
}
