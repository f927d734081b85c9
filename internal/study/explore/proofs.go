package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/scenario"
)

// SearchEnding ends the names of the files of searches.
const SearchEnding = ".search"

// ProofPart is a part of a proof, from a file.
type ProofPart struct {
	*campaign.Search

	name     string
	scenario *scenario.Scenario
}

func readProofPart(name string, text []byte) (p ProofPart, err error) {
	p = ProofPart{name: name}
	if p.Search, err = campaign.ReadSearch(text); err != nil {
		return p, err
	}
	if p.Part().Parts == 0 {
		return p, errors.New("found a whole search, expected a part that isr-sim prove --shard has kept")
	}
	p.scenario, err = scenario.Parse(name, []byte(p.Text))
	return p, err
}

// String prints the part's identity, for errors.
func (p ProofPart) String() string {
	return fmt.Sprintf("part %d of %d of %s under %s", p.Part().Part, p.Part().Parts, p.scenario.Name, p.Protocol)
}

// differs names the first thing in which a part is not of the proof of another; "" if there is none.
func (p ProofPart) differs(from ProofPart) (what string, got, want any) {
	return firstDifference([]trait{
		{"scenario digest", p.Scenario, from.Scenario},
		{"seed", p.Seed, from.Seed},
		{"number of parts", p.Part().Parts, from.Part().Parts},
		{"build of isr-sim", p.Code, from.Code},
		{"list of subtrees", p.Part().Tops, from.Part().Tops},
	})
}

// proofs are the parts, those of one scenario under one protocol together, and sorted.
func (s *Shards) proofs() (all [][]ProofPart) {
	order := func(a, b ProofPart) int {
		return cmp.Or(cmp.Compare(a.scenario.Name, b.scenario.Name), cmp.Compare(a.Protocol, b.Protocol))
	}
	parts := slices.Clone(s.Searches)
	slices.SortStableFunc(parts,
		func(a, b ProofPart) int { return cmp.Or(order(a, b), cmp.Compare(a.Part().Part, b.Part().Part)) })
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && order(parts[0], parts[n]) == 0 {
			n++
		}
		all, parts = append(all, parts[:n]), parts[n:]
	}
	return all
}

// wrongProofs says what keeps the parts from being proofs, and what runs the rest.
func (s *Shards) wrongProofs() (wrong []string, again []remedy) {
	for _, parts := range s.proofs() {
		first, left, next := parts[0], []int(nil), 1
		for _, p := range parts {
			what, got, want := p.differs(first)
			n := p.Part().Part
			switch {
			case what != "":
				wrong = append(wrong,
					fmt.Sprintf("%s: found %s with the %s %v, expected %v as in %s: they are not of one proof", p.name,
						p, what, got, want, first.name))
				continue
			case n < next:
				wrong = append(wrong, fmt.Sprintf("%s: found %s, which is there twice", p.name, p))
				continue
			case !p.Ended():
				wrong = append(wrong, fmt.Sprintf(
					"%s: found %s before its end, expected it complete: the command that began it goes on with it",
					p.name, p,
				))
			}
			for ; next < n; next++ {
				left = append(left, next)
			}
			next++
		}
		for ; next <= first.Part().Parts; next++ {
			left = append(left, next)
		}
		if len(left) == 0 {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("found no part %s of %d of the proof of %s under %s, expected all of them",
			numbers(left, "%d-%d"), first.Part().Parts, first.scenario.Name, first.Protocol))
		again = append(again, remedy{
			form:  "prove %s --shard %s/%d --resume missing-%d-%s" + SearchEnding + " %s",
			which: numbers(left, "$(seq %d %d)"), flags: fmt.Sprintf("--seed %d --protocol %s", first.Seed,
				first.Protocol), of: first.Part().Parts, files: []string{shell.Quote(first.File)},
		})
	}
	return wrong, again
}

// Proof is a proof whose parts were added up, and how the reader names its scenario.
type Proof struct {
	*campaign.Proof

	File string
}

// Proofs are the proofs of which Searches has the parts, after a Merge that has found nothing wrong. A proof says the
// same as one that was not split; only its schedules are those of the parts.
func (s *Shards) Proofs(ctx context.Context) (proofs []Proof, err error) {
	for _, parts := range s.proofs() {
		searches := make([]*campaign.Search, len(parts))
		for i, p := range parts {
			searches[i] = p.Search
		}
		protocol, err := scenario.ProtocolNamed(parts[0].Protocol)
		if err != nil {
			return nil, err
		}
		whole := campaign.Sum(searches)
		proof, err := campaign.Prove{
			Scenario: parts[0].scenario, Protocol: protocol, Seed: whole.Seed, Certify: true, From: whole,
		}.Run(ctx)
		if err != nil {
			if m, ok := errors.AsType[*mistake.Error](err); ok {
				return nil, mistake.New(fmt.Errorf("merge: %s: %w", parts[0].name, m.Err),
					"the program that has run the parts adds them up: the same file of it")
			}
			return nil, err
		}
		proofs = append(proofs, Proof{proof, whole.File})
	}
	return proofs, nil
}
