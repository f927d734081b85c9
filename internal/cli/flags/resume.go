package flags

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
)

// keepEvery is the longest interval between two writes of the file, so a killed process loses no more of its search.
// The first interval is keepFirst, and each is twice as long as the one before.
const keepFirst, keepEvery = 5 * time.Second, time.Minute

// Resume runs a proof that keeps its search in a file, and continues a search that is already there. It writes the file
// after five seconds, then at growing intervals of up to a minute, and when the proof ends early. It removes the file
// when nothing is left to search. Without a file name it only calls run. The list of unsimulated things that a program
// used is kept, too. A full disk does not end the search.
func (p *Program) Resume(
	run func(campaign.Prove) (*campaign.Proof, error), v campaign.Prove, file string, log io.Writer,
) (*campaign.Proof, error) {
	if file == "" {
		return run(v)
	}
	return p.resume(run, v, file, log, clockwork.NewRealClock())
}

func (p *Program) resume(run func(campaign.Prove) (*campaign.Proof, error), v campaign.Prove, file string,
	log io.Writer, clock clockwork.Clock) (*campaign.Proof, error) {
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		if v.From, err = campaign.ReadSearch(text); err != nil {
			return nil, mistake.New(fmt.Errorf("--resume %s: %w", file, err), "without the file the search begins anew")
		}
		if p.nodes != nil {
			p.nodes.Uses(v.From.Real...)
		}
		fmt.Fprintf(log, "%s: goes on after %d schedules and %d states\n", file, v.From.Reached.Schedules,
			len(v.From.Reached.States))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, mistake.New(fmt.Errorf("--resume: %w", err), "")
	}
	kept, every := clock.Now(), keepFirst
	early := false
	v.Keep = func(search func() (*campaign.Search, error), over bool) error {
		if early = over; !over && clock.Now().Sub(kept) < every {
			return nil
		}
		s, err := search()
		if s == nil && err == nil {
			return nil
		}
		if err == nil {
			if p.nodes != nil {
				s.Real = p.nodes.Real()
			}
			text, err = s.Bytes()
		}
		if err == nil {
			err = atomicfile.Write(file, text, 0o644)
		}
		kept, every = clock.Now(), min(2*every, keepEvery)
		switch {
		case err != nil && !over:
			fmt.Fprintf(log, "--resume: %v: the search goes on, and is kept in %v if it can be then\n", err, every)
		case err != nil: // a full disk is not the user's mistake
			return fmt.Errorf("--resume: %w: it takes twelve bytes a state", err)
		}
		return nil
	}
	proof, err := run(v)
	// otherwise the last repetitions of runs may be missing
	if err == nil && !early && (proof.Explored.Complete || proof.Failure != nil) {
		if lost := os.Remove(file); lost != nil && !errors.Is(lost, fs.ErrNotExist) {
			fmt.Fprintf(log, "--resume: %v: with it, the same command comes to the same end\n", lost)
		}
	}
	return proof, err
}

// Certify writes the certificate of a proof to a file, if the proof has one.
func Certify(out io.Writer, file string, proof *campaign.Proof) error {
	c, err := proof.Certificate()
	var text []byte
	if err == nil {
		c.NotProved = prose.NotProved(proof)
		text, err = c.Bytes()
	}
	if err == nil {
		err = atomicfile.Write(file, text, 0o644)
	}
	if err != nil {
		return cli.Unknown(fmt.Errorf("--certificate: %w", err), "")
	}
	fmt.Fprintf(out, "certificate: %s\n", file)
	return nil
}
