package campaign

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// Search is a proof that was interrupted, as a file can keep it: see Prove.From. It holds everything that the rest of
// the proof depends on, so an interrupted proof has the same result as one without interruption.
//
// # Limits
//
// It belongs to one build of isr-sim: another build may number states and steps differently. For a program in another
// language, its file has the command and samples of runs. A changed program is noticed only if one of these samples, or
// a run that begins like the latest one, now differs.
type Search struct {
	Code string `json:"code"` // the SHA-256 of the program that searched
	subject
	Off    sim.Reduction `json:"off"` // the reductions that are off
	Repeat bool          `json:"repeat,omitempty"`
	// Against is Certificate.Sum of the certificate that is checked: states that this search has reached are not looked
	// up again.
	Against string `json:"against,omitempty"`

	Total  total             `json:"total"`
	Misfit string            `json:"misfit,omitempty"`
	Doubt  *schedule.Choices `json:"doubt,omitempty"` // of the first run without a verdict
	Judged map[string]bool   `json:"judged"`
	// Real lists the unsimulated things that a program used so far. The command that runs the program fills it.
	Real []string `json:"real,omitempty"`
	// Witnesses are runs of a program, which show whether it is still the same.
	Witnesses witnesses         `json:"witnesses,omitzero"`
	Ends      []triedEnd        `json:"ends,omitempty"`
	Reached   *exhaustive.Saved `json:"reached"`
	Sum       string            `json:"sum"` // the SHA-256 of the rest
}

// witnesses are evenly spaced runs, which the next part of the search repeats.
type witnesses struct {
	Every int // schedules
	Runs  []witness
}

type witness struct {
	Choices schedule.Choices
	Steps   int    `json:",omitempty"` // after which it was abandoned; 0 if it came to its end
	Sum     string // the SHA-256 of its trace
}

// mostWitnesses bounds the time that the next part takes to begin: a witness takes up to a tenth of a second.
const mostWitnesses = 64

// due reports whether the run with the given number, from 1, is to be a witness, and makes room for it.
func (w *witnesses) due(schedule int) bool {
	if w.Every = max(w.Every, 1); schedule%w.Every != 0 {
		return false
	}
	if len(w.Runs) == mostWitnesses {
		w.Every *= 2
		var half []witness
		for i := 1; i < len(w.Runs); i += 2 {
			half = append(half, w.Runs[i])
		}
		w.Runs = half
	}
	return schedule%w.Every == 0
}

// witness repeats a run for its trace, which has every request as it was sent.
func (v Prove) witness(ctx context.Context, choices schedule.Choices, steps int) (witness, error) {
	text := sha256.New()
	run := v.schedule(strategy.Replay(choices))
	run.Steps, run.Trace = steps, text
	_, err := run.Do(hooks.Afresh(ctx))
	return witness{slices.Clone(choices), steps, hex.EncodeToString(text.Sum(nil))}, err
}

// witnessed is the witness of a run of the search.
func (v Prove) witnessed(ctx context.Context, o *kernel.Outcome) (witness, error) {
	result := o.Result
	if result.End != sim.Abandoned {
		result.Steps = 0
	}
	return v.witness(ctx, result.Choices, result.Steps)
}

// sameProgram repeats the witnesses of a program. An error says that the program behaves differently now.
func (v Prove) sameProgram(ctx context.Context, known witnesses) error {
	for _, was := range known.Runs {
		is, err := v.witness(ctx, was.Choices, was.Steps)
		if _, diverged := errors.AsType[*sim.DivergedError](err); err != nil && !diverged {
			return err
		} else if diverged || is.Sum != was.Sum {
			return errors.New("found a search of a program that does something else now")
		}
	}
	return nil
}

// total is schedules.Total, with the number of each fault among those of the scenario.
type total struct {
	Schedules, Steps int
	Marks            schedules.MarkSet
	Unmet            []int
}

type triedEnd struct {
	hooks.End
	hooks.Tried
}

// search returns the search so far.
func (v Prove) search(x *exhaustive.Exploration, proof *Proof, ends hooks.Ends, code string) (*Search, error) {
	of, err := subjectOf(v.Scenario, v.Protocol.Name, v.Seed)
	if err != nil {
		return nil, err
	}
	s := &Search{
		Code: code, subject: of, Off: x.Off, Repeat: x.Repeat,
		Misfit: proof.Misfit, Judged: proof.judged, Reached: x.Save(), Witnesses: proof.witnesses,
	}
	if v.Against != nil {
		s.Against = v.Against.Sum
	}
	s.Total = total{Schedules: proof.total.Schedules, Steps: proof.total.Steps, Marks: proof.total.Marks}
	if proof.Doubt != nil {
		s.Doubt = &proof.Doubt.Result.Choices
	}
	for _, f := range proof.total.Unmet {
		s.Total.Unmet = append(s.Total.Unmet, slices.Index(v.Scenario.Faults, f))
	}
	s.Ends = sortedEnds(ends)
	return s, nil
}

func sortedEnds(ends hooks.Ends) (all []triedEnd) {
	//isrsim:unordered sorted below
	for end, tried := range ends {
		all = append(all, triedEnd{end, tried})
	}
	slices.SortFunc(all,
		func(a, b triedEnd) int { return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Actor, b.Actor)) })
	return all
}

// Bytes is the search as a file: a line of JSON, and twelve bytes for each state.
func (s *Search) Bytes() ([]byte, error) {
	var states []byte
	for i, state := range s.Reached.States {
		states = binary.LittleEndian.AppendUint64(states, state)
		states = binary.LittleEndian.AppendUint32(states, s.Reached.Asleep[i])
	}
	s.Sum = ""
	head, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	s.Sum = sum(append(head, states...))
	head, err = json.Marshal(s)
	return append(append(head, '\n'), states...), err
}

// ReadSearch reads what Bytes has written.
func ReadSearch(file []byte) (*Search, error) {
	head, states, _ := bytes.Cut(file, []byte("\n"))
	s := &Search{}
	if err := json.Unmarshal(head, s); err != nil {
		return nil, fmt.Errorf("line 1: found no JSON (%w), expected the head of an interrupted search", err)
	}
	if s.Reached == nil {
		return nil, errors.New(
			"line 1: found JSON without the member reached, expected the head of an interrupted search",
		)
	}
	for rest := states; len(rest) >= 12; rest = rest[12:] {
		s.Reached.States = append(s.Reached.States, binary.LittleEndian.Uint64(rest))
		s.Reached.Asleep = append(s.Reached.Asleep, binary.LittleEndian.Uint32(rest[8:]))
	}
	expected := s.Sum
	if again, err := s.Bytes(); err != nil || !bytes.Equal(again, file) {
		return nil, fmt.Errorf(
			"found the SHA-256 %q, expected %q: the file is cut off, was changed, or is of another build of isr-sim",
			s.Sum, expected,
		)
	}
	return s, nil
}

// resume puts the exploration and the proof in the state of the search v.From.
func (v Prove) resume(
	ctx context.Context, x *exhaustive.Exploration, proof *Proof, tried hooks.Ends, code string,
) error {
	s := v.From
	of, err := subjectOf(v.Scenario, v.Protocol.Name, v.Seed)
	switch {
	case err != nil:
		return err
	case s.Code != code:
		return errors.New("found a search by another build of isr-sim, which may number states otherwise")
	case s.Scenario != of.Scenario:
		return fmt.Errorf("found a search of another scenario than %s as it is now", v.Scenario.Name)
	case s.subject != of:
		return fmt.Errorf("found a search of %s under seed %d, expected %s under seed %d", s.Protocol, s.Seed,
			v.Protocol.Name, v.Seed)
	case s.Off != x.Off || s.Repeat != x.Repeat:
		return errors.New("found a search with other reductions, such as one for a certificate")
	case v.Against != nil && s.Against != v.Against.Sum:
		return errors.New("found the check of another certificate")
	}
	if err := v.sameProgram(ctx, s.Witnesses); err != nil {
		return err
	}
	proof.witnesses = s.Witnesses
	x.Resume(s.Reached)
	proof.total = schedules.Total{Schedules: s.Total.Schedules, Steps: s.Total.Steps, Marks: s.Total.Marks}
	for _, n := range s.Total.Unmet {
		proof.total.Unmet = append(proof.total.Unmet, v.Scenario.Faults[n])
	}
	proof.Misfit = s.Misfit
	proof.sum()
	maps.Copy(proof.judged, s.Judged)
	for _, e := range s.Ends {
		tried[e.End] = e.Tried
	}
	if s.Doubt != nil {
		if proof.Doubt, err = v.replay(ctx, *s.Doubt); err != nil {
			return err
		}
		proof.Verdict, proof.Why = invariant.Unknown, proof.Doubt.Why
	}
	return nil
}

// build returns the SHA-256 of this program's file.
func build() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.ReadFile(name)
	return sum(file), err
}
