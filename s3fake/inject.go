package s3fake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Inject adds faults to the waiting faults. From now on, each of them counts the calls that match it. A call tries the
// faults in the order of injection. If a fault hits the call, the faults after it do not see the call. A fault that has
// hit Times calls is dropped.
func (s *Store) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injected.Add(faults...)
}

// ClearFaults drops every fault that waits.
func (s *Store) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injected = nil
}

// Injected returns the faults that wait, in the order of injection. A fault that has already hit some calls is returned
// unchanged, as it was injected.
func (s *Store) Injected() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.injected.All()
}

// Idle returns those of Injected that have hit no call.
func (s *Store) Idle() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.injected.Idle()
}

// faultOf returns the fault that hits a call: its own, or an injected one; nil if there is none.
func (s *Store) faultOf(c *Call) (*Fault, error) {
	fault := c.Fault
	if fault == nil {
		fault = s.nextFault(c)
	}
	switch {
	case fault == nil:
		return nil, nil
	case !slices.Contains(kinds, fault.Kind):
		return nil, fmt.Errorf("s3fake: found a fault of the kind %s, expected one of %s", fault.Kind,
			strings.Join(kindNames(), ", "))
	case fault.Kind == ddbfake.FaultConflict && !c.conditional():
		return nil, nil
	}
	hit := *fault
	return &hit, nil
}

func (s *Store) nextFault(c *Call) *Fault {
	return s.injected.Next(
		func(f *Fault) bool { return f.matches(c) },
		func(f *Fault) (nth, times int, known bool) { return f.Nth, f.Times, slices.Contains(kinds, f.Kind) },
	)
}

// serveFaulty runs the operation of a call. If a fault hits the call, the fault decides how often: once, twice, or not
// at all.
func (s *Store) serveFaulty(op *operation, c *Call, f *Fault) (*Answer, error) {
	if f == nil {
		return s.attempt(op, c), nil
	}
	switch f.Kind {
	case ddbfake.FaultThrottled:
		return refused(errSlowDown), nil
	case ddbfake.FaultRequestLost:
		return nil, &lostError{c.Operation}
	case ddbfake.FaultResponseLost:
		s.attempt(op, c) // the outcome is lost
		return nil, &lostError{c.Operation}
	case ddbfake.FaultErrorBefore:
		return refused(errInternal), nil
	case ddbfake.FaultErrorAfter:
		s.attempt(op, c) // the outcome is lost
		return refused(errInternal), nil
	case ddbfake.FaultConflict:
		return refused(errConflict), nil
	case ddbfake.FaultDuplicate:
		s.attempt(op, c) // the outcome is lost
	}
	return s.attempt(op, c), nil
}

// lostError is the caller's error for a lost request or a lost response. Its text does not say which of the two was
// lost, because a real caller cannot know it either.
type lostError struct{ operation string }

// Error says that the connection was lost.
func (e *lostError) Error() string {
	return "s3fake: " + e.operation + ": the connection was lost before a response was read"
}

// Timeout is true. Together with Temporary it makes the error a net.Error that SDKs retry.
func (e *lostError) Timeout() bool { return true }

// Temporary is true.
func (e *lostError) Temporary() bool { return true }
