package s3fake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/faults"
)

// Fault makes certain calls go wrong. Its text form is the kind followed by predicates, all of which must hold:
//
//	response-lost op=PutObject key=pages/* actor=alice nth=1
//	throttled bucket=bodies times=2
//
// A zero field and its explicit default mean the same (Nth 0 and 1, Times 0 and 1).
type Fault struct {
	// Kind is how the call goes wrong. The kinds are those of faults on rows:
	//
	//   - ddbfake.FaultThrottled: refused, SlowDown (503);
	//   - ddbfake.FaultRequestLost: no effect, no answer;
	//   - ddbfake.FaultResponseLost: the effect, but no answer;
	//   - ddbfake.FaultErrorBefore: no effect, InternalError (500);
	//   - ddbfake.FaultErrorAfter: the effect, and InternalError (500) in place of the answer;
	//   - ddbfake.FaultDuplicate: delivered twice in a row, and the caller gets the second answer;
	//   - ddbfake.FaultConflict: a PutObject, CopyObject, CompleteMultipartUpload or DeleteObject with a condition is
	//     refused, ConditionalRequestConflict (409). It matches no other call. SDKs do not retry it by themselves.
	//
	// Other kinds are only for rows. If such a fault hits a call, the call fails with an error that lists the kinds for
	// S3.
	Kind ddbfake.FaultKind
	// Op, Bucket and Actor are the names of an operation, a bucket and a caller; "" is any. The actor alice also
	// matches alice.2, a simulator's name for alice after a restart.
	Op, Bucket, Actor string
	// Key is the key of an object that the call names; a final * matches any suffix. "" is any key, and also matches
	// calls without a key.
	Key string
	// Nth is the number of the first matching call that is hit, counted from 1 since the fault was injected. Zero means
	// 1.
	Nth int
	// Times is the number of successive matching calls that are hit. Zero means 1. With ddbfake.Always there is no end.
	Times int
}

// kinds are the kinds that Fault.Kind may have.
var kinds = []ddbfake.FaultKind{
	ddbfake.FaultThrottled, ddbfake.FaultRequestLost, ddbfake.FaultResponseLost, ddbfake.FaultErrorBefore,
	ddbfake.FaultErrorAfter, ddbfake.FaultDuplicate, ddbfake.FaultConflict,
}

func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return names
}

// text is the fault's text form, for printing and parsing.
func (f *Fault) text() faults.Text {
	return faults.Text{
		Kind: f.Kind.String(), Nth: &f.Nth, Times: &f.Times,
		Predicates: []faults.Predicate{
			{Name: "op", Value: &f.Op, Check: faults.Operation(operationNames(),
				"("+strings.Join(operationNames(), ", ")+")")},
			{Name: "bucket", Value: &f.Bucket},
			{Name: "key", Value: &f.Key}, {Name: "actor", Value: &f.Actor},
		},
	}
}

// String returns the fault's text form. Defaults are left out.
func (f Fault) String() string { return f.text().String() }

// ParseFault reads the text form of a fault. Errors name what was found and what was expected.
func ParseFault(text string) (Fault, error) {
	var f Fault
	t, names := f.text(), kindNames()
	if err := t.Parse(text, "a kind of S3's", names); err != nil {
		return Fault{}, err
	}
	f.Kind = kinds[slices.Index(names, t.Kind)]
	return f, nil
}

// matches reports whether the fault's kind can hit a call and the predicates hold.
func (f *Fault) matches(c *Call) bool {
	switch {
	case f.Kind == ddbfake.FaultConflict && !c.conditional(),
		f.Op != "" && f.Op != c.Operation,
		f.Bucket != "" && f.Bucket != c.Bucket,
		f.Actor != "" && f.Actor != c.Actor && !strings.HasPrefix(c.Actor, f.Actor+"."):
		return false
	}
	return f.Key == "" || slices.ContainsFunc(c.Keys, func(key string) bool {
		prefix, any := strings.CutSuffix(f.Key, "*")
		return key == f.Key || any && strings.HasPrefix(key, prefix)
	})
}

// Inject adds waiting faults. From now on, each of them counts the calls that match it. A call tries the faults in the
// order of injection. If a fault hits the call, the faults after it do not count that call. A fault that has hit Times
// calls is dropped.
func (s *Store) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injected.Add(faults...)
}

// ClearFaults drops every waiting fault.
func (s *Store) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injected = nil
}

// Injected returns the waiting faults, in the order of injection. A fault that has already hit some calls is returned
// as it was injected.
func (s *Store) Injected() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.injected.All()
}

// Idle returns those faults of Injected that have hit no call.
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

// lostError is the caller's error for a lost request or a lost response. Its text does not tell which of the two was
// lost, because a real caller cannot know it either.
type lostError struct{ operation string }

// Error reports that the connection was lost.
func (e *lostError) Error() string {
	return "s3fake: " + e.operation + ": the connection was lost before a response was read"
}

// Timeout is true. Together with Temporary it makes the error a net.Error that SDKs retry.
func (e *lostError) Timeout() bool { return true }

// Temporary is true.
func (e *lostError) Temporary() bool { return true }
