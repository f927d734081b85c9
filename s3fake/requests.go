package s3fake

import (
	"fmt"
	"strings"
	"time"
)

// Request is one call that reached the store, and its outcome.
type Request struct {
	// ID is the number of the call, counted from 1.
	ID int
	// Time is when the call was served.
	Time time.Time
	// Actor, Operation, Bucket and Keys are those of the Call.
	Actor, Operation, Bucket string
	Keys                     []string
	// Fault is the fault that hit the call; nil if none did.
	Fault *Fault
	// Status is the HTTP status of the answer; 0 if there was no answer. Code is the answer's error code; "" if it has
	// none.
	Status int
	Code   string
}

// String prints the request on one line:
//
//	7 alice PutObject bodies/home: 412 PreconditionFailed
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ", r.ID)
	if r.Actor != "" {
		b.WriteString(r.Actor + " ")
	}
	b.WriteString(Call{Operation: r.Operation, Bucket: r.Bucket, Keys: r.Keys}.String() + ": ")
	if r.Status == 0 {
		b.WriteString("no answer")
	} else {
		fmt.Fprintf(&b, "%d", r.Status)
	}
	if r.Code != "" {
		b.WriteString(" " + r.Code)
	}
	if r.Fault != nil {
		fmt.Fprintf(&b, " (%s)", r.Fault)
	}
	return b.String()
}

// Requests returns the latest requests, oldest first. Options.LogRequests says how many are kept.
func (s *Store) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served.All()
}
