package nodes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// version is the version of the protocol.
const version = 1

// maxLine bounds a line of a program's stdout.
const maxLine = 16 << 20

// The abilities that a hello may name, besides those of subjects.
const (
	canTimers  = "timers"  // it has a simulated clock: for people only, nothing depends on it
	canReset   = "reset"   // it forgets everything at a reset line between two commands
	canAbandon = "abandon" // and at a reset line within a command, whose requests are then never answered
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

// abilities returns all abilities, in the order in which errors list them. partOf says for some which ability they are
// a part of.
func abilities() (all []string, partOf map[string]string) {
	partOf = map[string]string{canQueue: canQuiet}
	for _, s := range list.Subjects() {
		wire := s.Wire()
		all = append(all, wire.Can...)
		maps.Copy(partOf, wire.PartOf)
	}
	return append(all, canTimers, canReset, canAbandon, canQuiet, canParallel, canQueue), partOf
}

// said is a line of a program. Fields that its type does not have are zero.
type said struct {
	Type string `json:"type"` // hello, ready, reply, quiet

	// hello
	Versions []int                       `json:"versions"`
	Can      []string                    `json:"can"`
	promises map[string]subject.Promises // by their member

	// ready, reply
	Later bool `json:"later,omitempty"` // timers are set that have not fired, other than the time limits of requests

	// reply
	ID int `json:"id"`
	subject.Reply

	// quiet
	Requests []int    `json:"requests"`       // the numbers of those under way
	Timer    int      `json:"timer"`          // the number of the first timer, or 0
	After    *float64 `json:"after"`          // milliseconds until it fires
	Also     []int    `json:"also,omitempty"` // the timers that may fire in its place, in the same millisecond
}

// own matches the parts of errors that differ between processes: a port, an address in memory, a line of stdin.
var own = regexp.MustCompile(`(127\.0\.0\.1)\D{1,9}\d+|(0x)[0-9a-f]{4,}|(<\S+> line) \d+`)

// embedded matches the names of types in the path of a member: encoding/json names embedded structs, too.
var embedded = regexp.MustCompile(`\b[A-Z]\w*\.`)

// parseLine reads a line of a program.
func parseLine(line []byte) (said, error) {
	var s said
	err := strictly(line, &s)
	if err != nil {
		err = s.promised(line, err)
	}
	kind, _ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		return s, fmt.Errorf("printed %s on stdout: %s", excerpt(line), strings.TrimPrefix(err.Error(), "json: "))
	case kind != nil:
		return s, fmt.Errorf("printed %s on stdout, where %s is a %s, expected %s", excerpt(line),
			cmp.Or(embedded.ReplaceAllString(kind.Field, ""), "a line"), kind.Value, inJSON(kind.Type))
	case err != nil:
		return s, fmt.Errorf("printed %s on stdout, expected a line of JSON", excerpt(line))
	}
	s.Error = own.ReplaceAllString(s.Error, "$1$2$3")
	return s, nil
}

// strictly reads a value of JSON whose members are all known.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	return err
}

// promised reads a line with unknown members again, and accepts the members with promises.
func (s *said) promised(line []byte, err error) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return err
	}
	again := said{promises: map[string]subject.Promises{}}
	for _, of := range list.Subjects() {
		wire := of.Wire()
		text, has := members[wire.Member]
		if !has || wire.Promises == nil {
			continue
		}
		delete(members, wire.Member)
		if string(text) != "null" {
			p := wire.Promises()
			if wrong := strictly(text, p); wrong != nil {
				if kind, is := errors.AsType[*json.UnmarshalTypeError](wrong); is {
					kind.Field = strings.TrimSuffix(wire.Member+"."+kind.Field, ".")
				}
				return wrong
			}
			again.promises[wire.Member] = p
		}
		err = nil
	}
	if err == nil {
		line, _ = json.Marshal(members) // it was JSON
		err = strictly(line, &again)
		*s = again
	}
	return err
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
	all, partOf := abilities()
	for _, can := range s.Can {
		if !slices.Contains(all, can) {
			return fmt.Errorf("says that it can %q, expected one of %v", can, all)
		}
		whole := partOf[can]
		if whole != "" && !slices.Contains(s.Can, whole) {
			return fmt.Errorf("says that it can %q, and not %q, of which that is a part", can, whole)
		}
	}
	for _, of := range list.Subjects() {
		if p := s.promises[of.Wire().Member]; p != nil {
			if err := p.Wrong(s.Can); err != nil {
				return err
			}
		}
	}
	return nil
}

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

// toldLine is a line to a program.
type toldLine struct {
	Type  string `json:"type"`            // init, command, wake, answer, reset, end
	Time  int64  `json:"time"`            // the node's own, in milliseconds since 1970, rounded down
	Timer int    `json:"timer,omitempty"` // of wake: the timer that fires
	*initial
	*subject.Line
	*response
}

// response has the members of an answer line besides type and time. Such a line answers a request that the program sent
// as a line.
type response struct {
	Number  int               `json:"number"`
	Status  int               `json:"status"` // 0 means a broken connection
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body,omitempty"` // base64, if it is not text
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

// configurationOf returns the configuration in the form of the init line.
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

// milliseconds returns a time in the form of lines and headers.
func milliseconds(t time.Time) int64 { return t.UnixMilli() }
