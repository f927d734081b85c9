package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scenario returns a scenario file in which a violation can happen as it was seen. It has a machine for each token,
// whose client asks for the page or lock when the lock was taken; each machine but the last may pause once, for longer
// than the story. The schedule is a reconstruction: rows do not say when a machine read or waited, so isr-sim run looks
// for a schedule that breaks the same promise. The error says why there is nothing to rebuild.
func (f Finding) Scenario(of Kind, revalidate time.Duration) ([]byte, error) {
	r := rebuilt{of: of, key: "/page", revalidate: revalidate}
	for _, s := range f.Steps {
		r.see(s)
	}
	if len(r.machines) == 0 {
		return nil, fmt.Errorf("the finding about %s shows no lock that was taken, so there are no machines to rebuild",
			f.Key)
	}
	return []byte(r.file(f)), nil
}

// rebuilt is a scenario under way.
type rebuilt struct {
	of                        Kind
	key                       string
	began, ended              time.Time
	lease, revalidate, render time.Duration
	machines                  []*machine
}

// machine is the holder of a token.
type machine struct {
	token string
	taken []time.Time
	last  time.Time
}

// see takes in a step of the finding.
func (r *rebuilt) see(s Step) {
	if r.began.IsZero() {
		r.began = s.Time
	}
	r.ended = s.Time
	switch s.Verb {
	case Taken, TakenOver, Renewed:
		m := r.machine(s.Token)
		if s.Verb != Renewed {
			m.taken = append(m.taken, s.Time)
		}
		m.last = s.Time
		r.lease = max(r.lease, s.Until.Sub(s.Time))
	case GivenBack, Removed, Deleted:
		if s.Token != "" {
			r.machine(s.Token).last = s.Time
		}
	case Published:
		if !s.Until.IsZero() && !s.Read.IsZero() {
			r.revalidate = cmp.Or(r.revalidate, s.Until.Sub(s.Read))
		}
		if !s.Read.IsZero() {
			if took := s.Time.Sub(s.Read); r.render == 0 || took < r.render {
				r.render = took
			}
		}
	default:
	}
}

func (r *rebuilt) machine(token string) *machine {
	for _, m := range r.machines {
		if m.token == token {
			return m
		}
	}
	m := &machine{token: token}
	r.machines = append(r.machines, m)
	return m
}

// command is the command of a client at the time when its lock was taken.
func (r *rebuilt) command() string {
	switch r.of {
	case Locks:
		return "hold /lock for " + max(r.render, time.Second).String()
	case Calls:
		return "once /call with a"
	default:
		return "get " + r.key
	}
}

// file is the text of the scenario.
func (r *rebuilt) file(f Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: audit-%s\nabout: |\n  Rebuilt from the history of %s: %s\n", f.Invariant, f.Key, f.Why)
	for _, s := range f.Steps {
		fmt.Fprintf(&b, "    %s\n", s)
	}
	b.WriteString("  The rows show neither reads nor pauses, so the schedule is a reconstruction.\n")
	lease, window := max(r.lease, time.Second), cmp.Or(r.revalidate, time.Minute)
	fmt.Fprintf(&b, "cache: {lease: %v, revalidate: %v, render: %v}\nactors:\n", lease, window, max(r.render, 0))
	for i, m := range r.machines {
		fmt.Fprintf(&b, "  - name: machine-%d # token %q\n", i+1, m.token)
		at := r.began
		var script []string
		sleep := func(until time.Time) {
			if d := until.Sub(at); d > 0 {
				script, at = append(script, "sleep "+d.String()), until
			}
		}
		for _, taken := range m.taken {
			sleep(taken)
			if i > 0 && r.of == Pages {
				script = append(script, "change "+r.key)
			}
			script = append(script, r.command())
		}
		if len(m.taken) == 0 {
			script = append(script, r.command())
		}
		if i == len(r.machines)-1 && r.of == Pages { // the last client asks for the page at the end
			sleep(r.ended.Add(time.Second))
			script = append(script, r.command())
		}
		fmt.Fprintf(&b, "    script: [%s]\n", strings.Join(script, ", "))
		if i < len(r.machines)-1 {
			pause := max(r.ended.Sub(slices.Concat(m.taken, []time.Time{r.began})[0]), lease) + time.Second
			fmt.Fprintf(&b, "    pauses: 1\n    pause-for: %v\n", pause)
		}
	}
	b.WriteString("bounds: {ticks: 2}\n")
	return b.String()
}
