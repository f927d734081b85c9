package concurrent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// How the nodes' caches are configured. Rows hold whole seconds, so the shortest possible lease is one second.
const (
	lease      = time.Second
	revalidate = time.Second
	render     = 30 * time.Millisecond // at most this long
	roundTime  = 8 * time.Second
	keysARound = 8
)

// Slack is how late a node's reading of the clock may be. It is e in the statements of the invariants.
const Slack = time.Second

// Invariants returns the invariants that are judged.
func Invariants() []invariant.Invariant {
	return []invariant.Invariant{invariant.Named("freshness"), invariant.Named("linearizable")}
}

// Run is one run. All fields but Seed and Progress are required.
type Run struct {
	Protocol isr.Protocol
	// Client reaches the store; all nodes share it. The run creates a table with the name Table, and deletes it at the
	// end.
	Client *dynamodb.Client
	Table  string
	// Clock is the clock of this machine.
	Clock  clockwork.Clock
	Actors int
	// For is the time for which the nodes run. It is cut into rounds of some seconds, each with its own pages. Each
	// round is judged before the next one begins, and the first violation ends the run.
	For  time.Duration
	Seed uint64
	// Progress, if set, is called after each round with the number of requests for pages so far.
	Progress func(asked int)
}

// Outcome is the result of a run.
type Outcome struct {
	Rounds, Asked, Operations int
	// Paused counts the writes that were sent after a pause of more than a lease, Taken the leases that went to another
	// node after their end, and Abandoned the requests whose client stopped waiting.
	Paused, Abandoned, Taken int
	Verdict                  invariant.Verdict
	Violated                 invariant.Invariant // if violated
	Why                      string              // for anything but ok
	Lines                    []string            // the events of the violation, in order of time
	Finding                  invariant.Finding   // the finding of the violation
	Began                    time.Time           // when the last round began
	Seen                     invariant.Evidence  // the evidence of the last round; its operations can be visualized
}

// Do carries out the run, and always deletes its table. A cancelled context ends the run with the verdict unknown. An
// error says that the store could not be used.
func (r Run) Do(ctx context.Context) (o *Outcome, err error) {
	if r.Client == nil || r.Clock == nil || r.Protocol.New == nil || r.Table == "" || r.Actors < 1 || r.For <= 0 {
		return nil, errors.New("concurrent: Run needs Protocol, Client, Table, Clock, Actors and For")
	}
	if _, err := r.Client.CreateTable(ctx, isr.TableInput(r.Table)); err != nil {
		return nil, fmt.Errorf("concurrent: create table %s: %w", r.Table, err)
	}
	defer func() {
		_, cleanupErr := r.Client.DeleteTable(context.WithoutCancel(ctx),
			&dynamodb.DeleteTableInput{TableName: aws.String(r.Table)})
		if err == nil && cleanupErr != nil {
			err = fmt.Errorf("concurrent: delete table %s: %w", r.Table, cleanupErr)
		}
	}()
	o = &Outcome{Verdict: invariant.OK}
	for end := r.Clock.Now().Add(r.For); o.Verdict == invariant.OK; {
		left := end.Sub(r.Clock.Now())
		if left <= 0 {
			break
		}
		if err := r.round(ctx, min(left, roundTime), o); err != nil {
			return nil, err
		}
		if ctx.Err() != nil && o.Verdict == invariant.OK {
			o.Verdict, o.Why = invariant.Unknown, "interrupted"
		}
		if r.Progress != nil {
			r.Progress(o.Asked)
		}
	}
	if o.Verdict == invariant.OK && o.Paused*o.Taken == 0 {
		o.Verdict = invariant.Unknown
		o.Why = fmt.Sprintf("%d writes came after a pause and %d leases were taken over: too few to say anything",
			o.Paused, o.Taken)
	}
	return o, nil
}

// round runs all nodes for a while and judges their observations.
func (r Run) round(ctx context.Context, length time.Duration, o *Outcome) error {
	w := &witness{clock: r.Clock, number: o.Rounds, bodies: map[string][]byte{}}
	until := r.Clock.Now().Add(length)
	failed := make(chan error, r.Actors)
	var nodes sync.WaitGroup
	for i := range r.Actors {
		n := newNode(ctx, r, w, i, until)
		nodes.Go(func() {
			if err := n.run(ctx); err != nil {
				failed <- err
			}
		})
	}
	nodes.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	o.Rounds++
	o.Asked += w.asked
	o.Paused += w.paused
	o.Abandoned += w.abandoned
	o.Began = until.Add(-length)
	operations := w.operations.All()
	o.Seen = invariant.Evidence{
		Record:     invariant.Record{History: w.log.Events(), MaxClockSkew: Slack, Revalidate: revalidate},
		Operations: operations,
	}
	o.Operations += len(operations)
	o.Taken += taken(operations)
	for _, inv := range Invariants() {
		f := inv.Check(o.Seen)
		switch {
		case f.Verdict == invariant.Violated:
			o.Verdict, o.Violated, o.Why, o.Finding, o.Lines = f.Verdict, inv, f.Why, f, lines(o.Seen, f, o.Began)
			return nil
		case f.Verdict == invariant.Unknown && o.Verdict == invariant.OK:
			o.Verdict, o.Why = f.Verdict, inv.Name+": "+f.Why
		}
	}
	return nil
}

// taken counts takeovers: leases whose predecessor on the same key was neither released nor ended by a publish.
func taken(operations []storeop.Operation) (n int) {
	held := map[string]string{} // by key
	for _, op := range operations {
		switch {
		case op.Result != storeop.Done:
		case op.Verb == storeop.Acquire:
			if held[op.Key] != "" {
				n++
			}
			held[op.Key] = op.Token
		case op.Verb == storeop.Publish, op.Verb == storeop.Release:
			if held[op.Key] == op.Token {
				held[op.Key] = ""
			}
		}
	}
	return n
}
