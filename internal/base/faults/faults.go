// Package faults has what the faults on rows and on objects share: their text form, the list in which they wait for
// calls to hit, and the log of calls that shows which were hit.
package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/base/words"
)

// ObjectOperations are the operations of S3, as faults name them.
var ObjectOperations = []string{
	"AbortMultipartUpload", "CompleteMultipartUpload", "CopyObject", "CreateBucket", "CreateMultipartUpload",
	"DeleteBucket", "DeleteObject", "DeleteObjects", "GetBucketLocation", "GetBucketVersioning", "GetObject",
	"GetObjectTagging", "HeadBucket", "HeadObject", "ListBuckets", "ListMultipartUploads", "ListObjectVersions",
	"ListObjects", "ListObjectsV2", "ListParts", "PutObject", "UploadPart", "UploadPartCopy",
}

// Always is the Times of a fault that never stops.
const Always = -1

// Text is the text form of a fault: the kind, then the predicates in their order, nth and times.
type Text struct {
	Kind       string
	Predicates []Predicate
	Nth, Times *int
}

// Predicate is a name=value. Check, if it is not nil, returns why a value is not valid.
type Predicate struct {
	Name  string
	Value *string
	Check func(value string) error
}

// String leaves defaults out.
func (t Text) String() string {
	var b strings.Builder
	b.WriteString(t.Kind)
	for _, p := range t.Predicates {
		if *p.Value != "" {
			b.WriteString(" " + p.Name + "=" + words.Quote(*p.Value))
		}
	}
	if *t.Nth > 1 {
		b.WriteString(" nth=" + strconv.Itoa(*t.Nth))
	}
	switch {
	case *t.Times == Always:
		b.WriteString(" times=always")
	case *t.Times > 1:
		b.WriteString(" times=" + strconv.Itoa(*t.Times))
	}
	return b.String()
}

// Parse sets the kind, and the values to which the predicates, nth and times point. Errors have what was found and what
// was expected: aKind, such as "a kind", and the kinds.
func (t *Text) Parse(text, aKind string, kinds []string) error {
	fields, err := words.Split(text)
	if err != nil {
		return fmt.Errorf("fault %q: %w", text, err)
	}
	if len(fields) == 0 {
		return fmt.Errorf("fault %q is empty: want %s (%s)", text, aKind, strings.Join(kinds, ", "))
	}
	if !slices.Contains(kinds, fields[0]) {
		return fmt.Errorf("fault %q: found %q, want %s (%s)", text, fields[0], aKind, strings.Join(kinds, ", "))
	}
	t.Kind = fields[0]
	seen := map[string]bool{}
	for _, field := range fields[1:] {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return fmt.Errorf("fault %q: found %q, want name=value with a name of %s", text, field, t.names())
		}
		if seen[name] {
			return fmt.Errorf("fault %q: %s is given twice", text, name)
		}
		seen[name] = true
		if err := t.set(name, value); err != nil {
			return fmt.Errorf("fault %q: %w", text, err)
		}
	}
	return nil
}

func (t *Text) names() string {
	var names []string
	for _, p := range t.Predicates {
		names = append(names, p.Name)
	}
	return strings.Join(append(names, "nth", "times"), ", ")
}

func (t *Text) set(name, quoted string) error {
	value, err := words.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("%s=%s is not a well-formed quoted value", name, quoted)
	}
	if value == "" {
		return fmt.Errorf("%s has no value", name)
	}
	switch i := slices.IndexFunc(t.Predicates, func(p Predicate) bool { return p.Name == name }); {
	case i >= 0 && t.Predicates[i].Check != nil:
		err = t.Predicates[i].Check(value)
		fallthrough
	case i >= 0:
		*t.Predicates[i].Value = value
	case name == "nth":
		*t.Nth, err = count(name, value, "a whole number from 1")
	case name == "times" && value == "always":
		*t.Times = Always
	case name == "times":
		*t.Times, err = count(name, value, "a whole number from 1, or always")
	default:
		err = fmt.Errorf("found %q, want one of %s", name, t.names())
	}
	return err
}

func count(name, value, want string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("found %s=%s, want %s", name, value, want)
	}
	return n, nil
}

// Operation checks a predicate that must name one of the operations: a fault on another operation would never strike.
// The error ends with the parameter such.
func Operation(operations []string, such string) func(string) error {
	return func(value string) error {
		if slices.Contains(operations, value) {
			return nil
		}
		if meant, ok := suggest.Nearest(value, operations); ok {
			return fmt.Errorf("found op=%s, want a supported operation, perhaps %s", value, meant)
		}
		return fmt.Errorf("found op=%s, want a supported operation %s", value, such)
	}
}

// Waiting holds the faults that wait for a call to hit, in the order in which they were added.
type Waiting[F any] []waiting[F]

type waiting[F any] struct {
	fault F
	met   int // number of matching calls so far
	hit   bool
}

// Add adds faults. Each counts the calls that match it from now on.
func (w *Waiting[F]) Add(faults ...F) {
	for _, f := range faults {
		*w = append(*w, waiting[F]{fault: f})
	}
}

// All returns the faults as they were added.
func (w Waiting[F]) All() []F {
	all := make([]F, len(w))
	for i := range w {
		all[i] = w[i].fault
	}
	return all
}

// Idle returns the faults that have hit no call.
func (w Waiting[F]) Idle() (idle []F) {
	for i := range w {
		if !w[i].hit {
			idle = append(idle, w[i].fault)
		}
	}
	return idle
}

// Next returns the fault that hits a call, or nil. A fault is dropped once it has hit all its calls. match reports
// whether a fault matches the call. counts returns the number of the first matching call that the fault hits, and how
// many calls it hits; 0 means 1. A fault of an unknown kind is a mistake that must not be ignored: it hits every
// matching call, until it is cleared.
func (w *Waiting[F]) Next(match func(*F) bool, counts func(*F) (nth, times int, known bool)) *F {
	for i := range *w {
		f := &(*w)[i]
		if !match(&f.fault) {
			continue
		}
		hit := f.fault
		nth, times, known := counts(&hit)
		if !known {
			return &hit
		}
		f.met++
		first := max(nth, 1)
		if f.met < first {
			continue
		}
		f.hit = true
		if times != Always && f.met >= first+max(times, 1)-1 {
			*w = slices.Delete(*w, i, i+1)
		}
		return &hit
	}
	return nil
}

// Ring keeps the latest calls.
type Ring[R any] struct {
	Keep int // how many
	ring []R
	next int // index of the oldest call, once the ring is full
}

// Add adds a call, replacing the oldest one if the ring is full.
func (r *Ring[R]) Add(call R) {
	switch {
	case r.Keep == 0:
	case len(r.ring) < r.Keep:
		r.ring = append(r.ring, call)
	default:
		r.ring[r.next] = call
		r.next = (r.next + 1) % r.Keep
	}
}

// All returns the calls, oldest first.
func (r *Ring[R]) All() []R { return slices.Concat(r.ring[r.next:], r.ring[:r.next]) }
