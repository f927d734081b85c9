package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
)

// Certificate is the set of all states that a scenario can reach, as a proof has found them: see Prove.Certify.
//
// Prove.Against checks one. This check visits the states in another order, and takes each possible step of each state
// once. So a mistake in sleep sets, in persistent sets, or in their notion of independent steps cannot hide anything
// from the check. It refuses the certificate if a step leads out of the set, if no step leads to a state of the set, or
// if a run violates an invariant.
//
// # Limits
//
// The parts that the check shares with the proof are trusted: which states count as equal ([sim.Sim.Fingerprint]), the
// engine, and the invariants. Another version of isr-sim may number states differently.
type Certificate struct {
	subject
	Sum string `json:"sum"` // the SHA-256 of the states
	// NotProved says, in sentences, what the proof says nothing about.
	NotProved []string `json:"not_proved,omitempty"`
	States    []uint64 `json:"-"` // ascending
}

// subject identifies what a proof covers.
type subject struct {
	Scenario string `json:"scenario"` // the SHA-256 of its text
	Protocol string `json:"protocol"`
	Seed     uint64 `json:"seed"`
}

func subjectOf(s *spec.Scenario, protocol string, seed uint64) (subject, error) {
	text, err := s.YAML()
	return subject{sum(text), protocol, seed}, err
}

// Certificate returns the proof's certificate. The proof must be complete, and Prove.Certify must have been set.
func (p *Proof) Certificate() (*Certificate, error) {
	if !p.Explored.Complete || !p.Passed() || p.States == nil {
		return nil, errors.New("campaign: found a proof that is not complete, not ok, or without its states, " +
			"expected one by Prove.Certify")
	}
	of, err := subjectOf(p.Scenario, p.Protocol.Name, p.Seed)
	if err != nil {
		return nil, err
	}
	c := &Certificate{subject: of, States: p.States}
	c.Sum = sum(c.numbers())
	return c, nil
}

func sum(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

func (c *Certificate) numbers() (text []byte) {
	for _, state := range c.States {
		text = binary.LittleEndian.AppendUint64(text, state)
	}
	return text
}

// Bytes is the certificate as a file: a line of JSON, and eight bytes for each state.
func (c *Certificate) Bytes() ([]byte, error) {
	head, err := json.Marshal(c)
	return append(append(head, '\n'), c.numbers()...), err
}

// ReadCertificate reads what Bytes has written.
func ReadCertificate(file []byte) (*Certificate, error) {
	head, numbers, _ := bytes.Cut(file, []byte("\n"))
	c := &Certificate{}
	if err := json.Unmarshal(head, c); err != nil {
		return nil, fmt.Errorf("line 1: found no JSON (%w), expected the head of a certificate", err)
	}
	for i := 0; i+8 <= len(numbers); i += 8 {
		c.States = append(c.States, binary.LittleEndian.Uint64(numbers[i:]))
	}
	if found := sum(numbers); found != c.Sum || !slices.IsSorted(c.States) || len(c.States) == 0 {
		return nil, fmt.Errorf("found %d states with the SHA-256 %q, expected %q: it is cut off, or was changed",
			len(c.States), found, c.Sum)
	}
	return c, nil
}

// Of returns an error unless the certificate belongs to this scenario, protocol and seed.
func (c *Certificate) Of(s *spec.Scenario, protocol string, seed uint64) error {
	of, err := subjectOf(s, protocol, seed)
	switch {
	case err != nil:
		return err
	case c.Scenario != of.Scenario:
		return fmt.Errorf(
			"found the certificate of another scenario than %s as it is now, or of one that has changed since", s.Name,
		)
	case c.subject != of:
		return fmt.Errorf("found the certificate of %s under seed %d, expected %s under seed %d", c.Protocol, c.Seed,
			protocol, seed)
	}
	return nil
}

// checker compares the states that a search reaches with those of a certificate. A checker without a certificate finds
// nothing.
type checker struct {
	certificate *Certificate
	strange     bool             // the certificate does not have the latest state
	last        schedule.Choices // the choices of the latest run
}

func (c *checker) visit(state uint64) bool {
	_, known := slices.BinarySearch(c.certificate.States, state)
	c.strange = !known
	return known
}

// incomplete returns a sentence if a complete search has not reached all states of the certificate; otherwise "".
func (c *checker) incomplete(met int) string {
	if c.certificate == nil || met == len(c.certificate.States) {
		return ""
	}
	return fmt.Sprintf("the certificate has %d states, of which %d are reachable", len(c.certificate.States), met)
}

// stranger says how the search reached the state that the certificate lacks; "" if it lacks none.
func (c *checker) stranger(p *Proof) string {
	if !c.strange {
		return ""
	}
	return fmt.Sprintf("the certificate lacks state %d of those that this search came to, at the end of --seed %d "+
		"--choices %s",
		p.Explored.States+1, p.Seed, c.last)
}
