package s3fake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/internal/words"
)

// Fault makes certain calls go wrong. Its text form is the kind followed by predicates, all of which must hold:
//
//	response-lost op=PutObject key=pages/* actor=alice nth=1
//	throttled bucket=bodies times=2
//
// The zero and the explicit form of a default mean the same (Nth 0 and 1, Times 0 and 1).
type Fault struct {
	// Kind says how the call goes wrong, as it does for rows:
	//
	//   - ddbfake.FaultThrottled: refused, SlowDown (503);
	//   - ddbfake.FaultRequestLost: no effect, no answer;
	//   - ddbfake.FaultResponseLost: the effect, but no answer;
	//   - ddbfake.FaultErrorBefore: no effect, InternalError (500);
	//   - ddbfake.FaultErrorAfter: the effect, and InternalError (500) in place of the answer;
	//   - ddbfake.FaultDuplicate: delivered twice in a row, and the caller gets the second answer;
	//   - ddbfake.FaultConflict: a PutObject or DeleteObject with a condition is refused, ConditionalRequestConflict (409).
	//     It matches no other call. SDKs do not retry it by themselves.
	//
	// Other kinds are of rows alone. A call that one of them hits fails, with an error that names the kinds.
	Kind ddbfake.FaultKind
	// Op is the name of an operation, Bucket that of a bucket, Actor that of the caller; "" is any. alice matches alice.2
	// as well, the name that a simulator gives to alice after a restart.
	Op, Bucket, Actor string
	// Key is the key of an object that the call names; a final * matches any rest. "" is any, and calls without a key.
	Key string
	// Nth is the first of the matching calls that is hit, counted from 1 since the fault was injected. Zero means 1.
	Nth int
	// Times is the number of matching calls in a row that are hit. Zero means 1, ddbfake.Always has no end.
	Times int
}

// kinds are those of Fault.Kind.
var kinds = []ddbfake.FaultKind{
	ddbfake.FaultThrottled, ddbfake.FaultRequestLost, ddbfake.FaultResponseLost, ddbfake.FaultErrorBefore,
	ddbfake.FaultErrorAfter, ddbfake.FaultDuplicate, ddbfake.FaultConflict,
}

func kindList() string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// String returns the fault's text form. Defaults are left out.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	for _, p := range []struct{ name, value string }{
		{"op", f.Op}, {"bucket", f.Bucket}, {"key", f.Key}, {"actor", f.Actor},
	} {
		if p.value != "" {
			b.WriteString(" " + p.name + "=" + words.Quote(p.value))
		}
	}
	if f.Nth > 1 {
		b.WriteString(" nth=" + strconv.Itoa(f.Nth))
	}
	switch {
	case f.Times == ddbfake.Always:
		b.WriteString(" times=always")
	case f.Times > 1:
		b.WriteString(" times=" + strconv.Itoa(f.Times))
	}
	return b.String()
}

// ParseFault reads the text form of a fault. Errors name what was found and what was expected.
func ParseFault(text string) (Fault, error) {
	fields, err := words.Split(text)
	if err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	if len(fields) == 0 {
		return Fault{}, fmt.Errorf("fault %q is empty: want a kind (%s)", text, kindList())
	}
	i := slices.IndexFunc(kinds, func(k ddbfake.FaultKind) bool { return k.String() == fields[0] })
	if i < 0 {
		return Fault{}, fmt.Errorf("fault %q: found %q, want a kind of S3's (%s)", text, fields[0], kindList())
	}
	f := Fault{Kind: kinds[i]}
	seen := map[string]bool{}
	for _, field := range fields[1:] {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return Fault{}, fmt.Errorf("fault %q: found %q, want name=value with a name of %s", text, field, predicates)
		}
		if seen[name] {
			return Fault{}, fmt.Errorf("fault %q: %s is given twice", text, name)
		}
		seen[name] = true
		if err := f.setPredicate(name, value); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	return f, nil
}

const predicates = "op, bucket, key, actor, nth, times"

func (f *Fault) setPredicate(name, quoted string) error {
	value, err := words.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("%s=%s is not a well-formed quoted value", name, quoted)
	}
	if value == "" {
		return fmt.Errorf("%s has no value", name)
	}
	switch name {
	case "op":
		if names := Operations(); !slices.Contains(names, value) {
			if meant, ok := suggest.Nearest(value, names); ok {
				return fmt.Errorf("found op=%s, want a supported operation, perhaps %s", value, meant)
			}
			return fmt.Errorf("found op=%s, want a supported operation (%s)", value, strings.Join(names, ", "))
		}
		f.Op = value
	case "bucket":
		f.Bucket = value
	case "key":
		f.Key = value
	case "actor":
		f.Actor = value
	case "nth":
		f.Nth, err = count(value)
	case "times":
		if value == "always" {
			f.Times = ddbfake.Always
			return nil
		}
		f.Times, err = count(value)
	default:
		return fmt.Errorf("found %q, want one of %s", name, predicates)
	}
	if err != nil {
		return fmt.Errorf("found %s=%s, want a whole number from 1", name, value)
	}
	return nil
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	return n, err
}

// matches reports whether the kind can befall a call, and the predicates hold.
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
