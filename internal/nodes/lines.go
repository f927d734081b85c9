package nodes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// version is the version of the protocol.
const version = 1

// maxLine bounds a line of a program's stdout.
const maxLine = 16 << 20

// The abilities that a hello may name.
const (
	canGet        = "get"
	canInvalidate = "invalidate"
	canRegenerate = "regenerate"
	canRollback   = "rollback"
	canHold       = "hold"    // and release, too: the program has locks
	canHeld       = "held"    // a lock can be asked whether it is still held
	canExtend     = "extend"  // a lock's lease begins anew when it is asked to
	canWork       = "work"    // it spends time itself, under a lock or between commands, and its timers fire meanwhile
	canOnce       = "once"    // it is an idempotency layer, and asks for their effects
	canTimers     = "timers"  // it has a simulated clock: for people only, nothing depends on it
	canReset      = "reset"   // it forgets everything at a reset line between two commands
	canAbandon    = "abandon" // and at a reset line within a command, whose requests are then never answered
	// It may have several requests under way at a time. A line of type quiet says that it waits only for their answers
	// and its timers.
	canQuiet = "quiet"
	// It may have several requests under way at a time, and does not say when it is quiet: the simulator waits until it
	// has been silent for a while.
	canParallel = "parallel"
	// It accepts several lines at once, and takes the next one when it is quiet. It numbers its requests and timers
	// anew in each incarnation.
	canQueue = "queue"
)

var abilities = []string{
	canGet, canInvalidate, canRegenerate, canRollback, canHold, canHeld, canExtend, canWork, canOnce,
	canTimers, canReset, canAbandon, canQuiet, canParallel, canQueue,
}

// said is a line of a program. Fields that its type does not have are zero.
type said struct {
	Type string `json:"type"` // hello, ready, reply, quiet

	// hello
	Versions []int      `json:"versions"`
	Can      []string   `json:"can"`
	Lock     *lockTerms `json:"lock,omitempty"`
	Once     *onceTerms `json:"once,omitempty"`

	// ready, reply
	Later bool `json:"later,omitempty"` // timers are set that have not fired, other than the time limits of requests

	// reply
	ID    int    `json:"id"`
	Body  string `json:"body"`
	Fresh bool   `json:"fresh"`
	Error string `json:"error"`
	Held  bool   `json:"held,omitempty"`  // of held
	Token *int64 `json:"token,omitempty"` // of hold and extend: the fencing token
	Other bool   `json:"other,omitempty"` // of once, with an error: the key belongs to another payload

	// quiet
	Requests []int    `json:"requests"`       // that are under way, by their numbers
	Timer    int      `json:"timer"`          // the number of the first timer, or 0
	After    *float64 `json:"after"`          // milliseconds until it fires
	Also     []int    `json:"also,omitempty"` // the timers that may fire in its place, in the same millisecond
}

// own matches the parts of errors that differ between processes: a port, an address in memory, a line of stdin.
var own = regexp.MustCompile(`(127\.0\.0\.1)\D{1,9}\d+|(0x)[0-9a-f]{4,}|(<\S+> line) \d+`)

// parseLine reads a line of a program.
func parseLine(line []byte) (said, error) {
	var s said
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	kind, _ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		return s, fmt.Errorf("printed %s on stdout: %s", excerpt(line), strings.TrimPrefix(err.Error(), "json: "))
	case kind != nil:
		return s, fmt.Errorf("printed %s on stdout, where %s is a %s, expected %s", excerpt(line),
			cmp.Or(kind.Field, "a line"), kind.Value, inJSON(kind.Type))
	case err != nil || d.More():
		return s, fmt.Errorf("printed %s on stdout, expected a line of JSON", excerpt(line))
	}
	s.Error = own.ReplaceAllString(s.Error, "$1$2$3")
	return s, nil
}

// inJSON is JSON's name for a value of the type.
func inJSON(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// hello checks the first line of a program.
func (s said) hello() error {
	switch {
	case s.Type != "hello":
		return fmt.Errorf("began with a line of type %q, expected hello", s.Type)
	case !slices.Contains(s.Versions, version):
		return fmt.Errorf("speaks versions %v of the protocol, expected %d among them", s.Versions, version)
	}
	for _, can := range s.Can {
		if !slices.Contains(abilities, can) {
			return fmt.Errorf("says that it can %q, expected one of %v", can, abilities)
		}
		whole := map[string]string{canHeld: canHold, canExtend: canHold, canQueue: canQuiet}[can]
		if whole != "" && !slices.Contains(s.Can, whole) {
			return fmt.Errorf("says that it can %q, and not %q, of which that is a part", can, whole)
		}
	}
	return cmp.Or(s.Lock.wrong(s.Can), s.Once.wrong(s.Can))
}

// lockTerms are the promises of a program's locks (promise.LockTerms), in seconds. A member that is left out has its
// default.
type lockTerms struct {
	Heartbeats bool    `json:"heartbeats"`
	Margin     float64 `json:"margin"`
	waits
}

// onceTerms are the promises of a program's calls (promise.OnceTerms).
type onceTerms struct {
	Payload bool `json:"payload"`
	waits
}

// waits are the promises that locks and calls have in common.
type waits struct {
	Wait     float64 `json:"wait"`
	Takeover float64 `json:"takeover"`
}

// wrong says why a program that can so much cannot promise the terms.
func (t *lockTerms) wrong(can []string) error {
	if t == nil {
		return nil
	}
	if !slices.Contains(can, canHold) {
		return fmt.Errorf("has terms of a lock, and does not say that it can %q", canHold)
	}
	if t.Heartbeats && !slices.Contains(can, canWork) {
		return fmt.Errorf("has a lock with heartbeats, and does not say that it can %q: without it no heart beats "+
			"while a lock is held", canWork)
	}
	return cmp.Or(t.waits.wrong("a lock"), seconds("a lock", "margin", t.Margin))
}

// wrong says why a program that can so much cannot promise the terms.
func (t *onceTerms) wrong(can []string) error {
	if t == nil {
		return nil
	}
	if !slices.Contains(can, canOnce) {
		return fmt.Errorf("has terms of calls, and does not say that it can %q", canOnce)
	}
	return t.waits.wrong("calls")
}

func (t waits) wrong(of string) error {
	return cmp.Or(seconds(of, "wait", t.Wait), seconds(of, "takeover", t.Takeover))
}

func seconds(of, name string, found float64) error {
	const most = 365 * 24 * 60 * 60
	if !(found >= 0 && found <= most) {
		return fmt.Errorf("has %s whose %s is %v, expected seconds from 0 to those of a year", of, name, found)
	}
	return nil
}

// of returns the terms of a lock with the given lease.
func (t *lockTerms) of(lease time.Duration) promise.LockTerms {
	t = cmp.Or(t, &lockTerms{})
	wait, takeover := t.waits.of(hooks.DefaultTakeover(lease))
	return promise.LockTerms{Heartbeats: t.Heartbeats, Margin: duration(t.Margin), Wait: wait, Takeover: takeover}
}

// of returns the terms of calls that count as in progress for the given time.
func (t *onceTerms) of(inProgress time.Duration) promise.OnceTerms {
	t = cmp.Or(t, &onceTerms{})
	wait, takeover := t.waits.of(inProgress)
	return promise.OnceTerms{Payload: t.Payload, Wait: wait, Takeover: takeover}
}

// of returns the promises; one more is the takeover that is promised by default.
func (t waits) of(more time.Duration) (wait, takeover time.Duration) {
	return cmp.Or(duration(t.Wait), hooks.DefaultWait), cmp.Or(duration(t.Takeover), more)
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// excerpt quotes the beginning of a text.
func excerpt(text []byte) string {
	const most = 80
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}

// request is a line about a request of a program: the request itself (instead of HTTP), the note that the program no
// longer waits for it, or the note that its time limit is over although the answer is still expected. A note about an
// unsimulated thing has the same members.
type request struct {
	Type    string            `json:"type"` // request, left, late, real
	Number  int               `json:"number"`
	Quiet   bool              `json:"quiet"` // the program waits for nothing else: see headerAlone
	Method  string            `json:"method"`
	Target  string            `json:"target"` // path and query
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"` // base64
	Text    string            `json:"text"` // or the body as it is

	What string `json:"what"` // of real: see Program.Real
}

// told is a line to a program.
type toldLine struct {
	Type  string `json:"type"`            // init, command, wake, answer, reset, end
	Time  int64  `json:"time"`            // the node's own, in milliseconds since 1970, rounded down
	Timer int    `json:"timer,omitempty"` // of wake: the timer that fires
	*initial
	*command
	*response
}

// response has the members of an answer line besides type and time. Such a line answers a request that the program sent
// as a line.
type response struct {
	Number  int               `json:"number"`
	Status  int               `json:"status"` // 0 is a broken connection
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body,omitempty"` // base64, where it is no text
	Text    string            `json:"text,omitempty"`
}

// initial has the members of an init line besides its type.
type initial struct {
	Version     int           `json:"version"`
	Actor       string        `json:"actor"` // the actor, with its incarnation after a restart: alice, alice.2
	Tenant      string        `json:"tenant"`
	Endpoint    string        `json:"endpoint"`
	Region      string        `json:"region"`
	Credentials credentials   `json:"credentials"`
	Table       string        `json:"table"`
	Bucket      string        `json:"bucket"` // the bucket of the bodies, in S3
	Seed        uint64        `json:"seed"`   // below 2^53
	Config      configuration `json:"config"`
}

type credentials struct {
	AccessKeyID     string `json:"accessKeyId"` // the actor
	SecretAccessKey string `json:"secretAccessKey"`
}

// configuration is the scenario's cache. Durations are in seconds.
type configuration struct {
	Lease      float64 `json:"lease"`
	Revalidate float64 `json:"revalidate"`
	Retention  float64 `json:"retention"`
	TTLBuffer  float64 `json:"ttlBuffer"`
	Poll       float64 `json:"poll"`
	Patience   int     `json:"patience"`
	Attempts   int     `json:"attempts"` // of an SDK, for each request
	Skew       float64 `json:"maxClockSkew"`
	Contention string  `json:"contention"` // wait or serve-stale
	Failure    string  `json:"failure"`    // serve-last or fail
}

// command has the members of a command line besides its type.
type command struct {
	ID      int    `json:"id"`
	Verb    string `json:"verb"`
	Key     string `json:"key"`
	Request string `json:"request,omitempty"` // of regenerate: the idempotency key
	Inputs  string `json:"inputs,omitempty"`  // and the hash of its inputs

	For     float64 `json:"for,omitempty"`     // of work: how long, in seconds
	Payload string  `json:"payload,omitempty"` // of once
}

func (c command) String() string { return c.Verb + " " + c.Key }

// configurationOf is the configuration as the line says it.
func configurationOf(c isr.Config, attempts int) configuration {
	told := configuration{
		Lease: c.Lease.Seconds(), Revalidate: c.Revalidate.Seconds(), Retention: c.Retention.Seconds(),
		TTLBuffer: c.TTLBuffer.Seconds(), Poll: c.Poll.Seconds(), Patience: c.Patience, Attempts: attempts,
		Skew: c.MaxClockSkew.Seconds(), Contention: "serve-stale", Failure: "serve-last",
	}
	if c.Contention == isr.Wait {
		told.Contention = "wait"
	}
	if c.Failure == isr.Fail {
		told.Failure = "fail"
	}
	return told
}

// milliseconds is a time as lines and headers say it.
func milliseconds(t time.Time) int64 { return t.UnixMilli() }
