package ddbfake

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/base/words"
)

// Lag is the delay after which TTL deletes an expired row. AWS promises only "within a few days". Bugs hide at both
// extremes, so a test can choose either. Lags are comparable with ==.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
type Lag struct {
	kind      lagKind
	from, to  time.Duration
	attribute string
}

type lagKind uint8

const (
	lagManual lagKind = iota
	lagNever
	lagFixed       // from
	lagUniform     // from, to
	lagExponential // from is the mean
	lagPerItem     // attribute
)

// The lags that need no parameter.
var (
	// LagManual deletes nothing by itself: only Sweep and SweepExpired do. It is the zero Lag.
	LagManual = Lag{}
	// LagNever deletes nothing, even in Sweep.
	LagNever = Lag{kind: lagNever}
	// LagAtOnce deletes a row at the first instant at which it is expired.
	LagAtOnce = Lag{kind: lagFixed}
)

// LagFixed deletes a row d after it expired. A negative d counts as zero, which is LagAtOnce.
func LagFixed(d time.Duration) Lag { return Lag{kind: lagFixed, from: max(d, 0)} }

// LagUniform deletes a row after a random lag, uniform between least and most. So rows are not deleted in the order in
// which they expire. The lag of a row depends only on Options.Seed and on the row's table, key and ttl. A negative
// least counts as zero, and a most below least counts as least.
func LagUniform(least, most time.Duration) Lag {
	least = max(least, 0)
	return Lag{kind: lagUniform, from: least, to: max(least, most)}
}

// LagExponential deletes a row after a random lag with the given mean: short for most rows, long for a few, in whole
// milliseconds. The lag of a row depends on the same things as under LagUniform. A mean of zero or less is LagAtOnce.
func LagExponential(mean time.Duration) Lag {
	if mean <= 0 {
		return LagAtOnce
	}
	return Lag{kind: lagExponential, from: mean}
}

// LagPerItem deletes a row some seconds after it expired. A top-level attribute of the row is the number of seconds: a
// whole Number that is not negative. A row without such an attribute is left to Sweep.
func LagPerItem(attribute string) Lag { return Lag{kind: lagPerItem, attribute: attribute} }

// String returns a text that ParseLag accepts: "manual", "never", "at-once", "fixed 10m0s", "uniform 1m0s 48h0m0s",
// "exponential 10m0s" or "per-item lag_seconds".
func (l Lag) String() string {
	switch {
	case l.kind == lagNever:
		return "never"
	case l == LagAtOnce:
		return "at-once"
	case l.kind == lagFixed:
		return "fixed " + l.from.String()
	case l.kind == lagUniform:
		return "uniform " + l.from.String() + " " + l.to.String()
	case l.kind == lagExponential:
		return "exponential " + l.from.String()
	case l.kind == lagPerItem:
		return "per-item " + words.Quote(l.attribute)
	}
	return "manual"
}

// lagForms lists the forms that ParseLag accepts.
const lagForms = "manual, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name of " +
	"an attribute"

// ParseLag reads the text form of a lag: "manual", "never", "at-once"; "fixed", "uniform" or "exponential" with
// durations as time.ParseDuration reads them ("fixed 10m", "uniform 1m 48h", "exponential 10m"); or "per-item" with the
// name of an attribute ("per-item lag_seconds"), quoted if it has spaces.
func ParseLag(s string) (Lag, error) {
	fields, err := words.Split(s)
	if err != nil {
		return Lag{}, fmt.Errorf("ttl lag %q: %w", s, err)
	}
	kind, args := "", []string(nil)
	if len(fields) > 0 {
		kind, args = fields[0], fields[1:]
	}
	switch {
	case kind == "manual" && len(args) == 0:
		return LagManual, nil
	case kind == "never" && len(args) == 0:
		return LagNever, nil
	case kind == "at-once" && len(args) == 0:
		return LagAtOnce, nil
	case kind == "per-item" && len(args) == 1:
		name, err := words.Unquote(args[0])
		if err != nil || name == "" {
			return Lag{}, fmt.Errorf("ttl lag %q: %s names no attribute", s, args[0])
		}
		return LagPerItem(name), nil
	case kind == "fixed" && len(args) == 1, kind == "uniform" && len(args) == 2,
		kind == "exponential" && len(args) == 1:
	default:
		return Lag{}, fmt.Errorf("ttl lag %q: want %s", s, lagForms)
	}
	lags := make([]time.Duration, len(args))
	for i, text := range args {
		if lags[i], err = time.ParseDuration(text); err != nil {
			return Lag{}, fmt.Errorf("ttl lag %q: %q is not a duration such as 10m or 48h", s, text)
		}
		if lags[i] < 0 {
			return Lag{}, fmt.Errorf("ttl lag %q: %s is negative; want zero or more", s, text)
		}
	}
	switch kind {
	case "fixed":
		return LagFixed(lags[0]), nil
	case "uniform":
		if lags[1] < lags[0] {
			return Lag{}, fmt.Errorf("ttl lag %q: %s is less than %s; want the shortest lag first", s, args[1], args[0])
		}
		return LagUniform(lags[0], lags[1]), nil
	}
	if lags[0] == 0 {
		return Lag{}, fmt.Errorf("ttl lag %q: the mean is zero; want more, or at-once", s)
	}
	return LagExponential(lags[0]), nil
}

// deletes reports whether rows are deleted by themselves under the lag.
func (l Lag) deletes() bool { return l.kind != lagManual && l.kind != lagNever }

// of returns a row's lag; false if the row is never deleted by itself.
func (l Lag) of(seed uint64, t *table, r *row) (time.Duration, bool) {
	switch l.kind {
	case lagFixed:
		return l.from, true
	case lagUniform:
		n, _ := bits.Mul64(draw(seed, t, r), uint64(l.to-l.from)+1)
		return l.from + time.Duration(n), true
	case lagExponential:
		// A random number of 53 bits, never zero. Processors differ in the last digit of a logarithm; rounding to
		// milliseconds hides that.
		u := (float64(draw(seed, t, r)>>11) + 0.5) / (1 << 53)
		ms := math.Round(-math.Log(u) * (float64(l.from) / float64(time.Millisecond)))
		return time.Duration(min(ms, maxTTLAgeSeconds*1000)) * time.Millisecond, true
	case lagPerItem:
		seconds, ok := r.record.Int(l.attribute)
		if !ok || seconds < 0 {
			return 0, false
		}
		return time.Duration(min(seconds, maxTTLAgeSeconds)) * time.Second, true
	}
	return 0, false
}

// ends returns the instant at which the lag of a row with a ttl ends; false if TTL never deletes the row by itself.
func (l Lag) ends(seed uint64, t *table, r *row) (time.Time, bool) {
	after, ok := l.of(seed, t, r)
	if !ok || after > (maxTTLAgeSeconds-1)*time.Second {
		return time.Time{}, false // TTL never deletes the row: its ttl would be too old by then
	}
	// TTL deletes a row only after the second that its ttl names.
	return time.Unix(r.due, 0).UTC().Add(after + time.Second), true
}

// draw returns a random number that depends only on the row, its ttl and the seed. It is the same in every process,
// whatever the order of calls.
func draw(seed uint64, t *table, r *row) uint64 {
	p := printer(binary.BigEndian.AppendUint64(make([]byte, 0, 256), seed))
	p.text(t.address())
	p.text(r.key.hash)
	p.text(r.key.sort)
	p = binary.BigEndian.AppendUint64(p, uint64(r.due))
	sum := sha256.Sum256(p)
	return binary.BigEndian.Uint64(sum[:8])
}

// SetReplicaLag changes Options.ReplicaLag. A negative one counts as zero.
func (db *DB) SetReplicaLag(d time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.replicaLag = max(d, 0)
}

// ReplicaLag returns the lag of eventually consistent reads: Options.ReplicaLag, or the argument of the latest
// SetReplicaLag.
func (db *DB) ReplicaLag() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.replicaLag
}

// eventually reports whether a call is an eventually consistent read. The reads of TransactGetItems never are.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
func eventually(in any) bool {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.QueryInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.ScanInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.BatchGetItemInput:
		//isrsim:unordered one of them is enough
		for _, t := range in.RequestItems {
			if !aws.ToBool(t.ConsistentRead) {
				return true
			}
		}
	case *dynamodb.ExecuteStatementInput:
		reads, _ := readsBy(in.Statement)
		return reads && !aws.ToBool(in.ConsistentRead)
	case *dynamodb.BatchExecuteStatementInput:
		for i := range in.Statements {
			s := &in.Statements[i]
			if reads, _ := readsBy(s.Statement); reads && !aws.ToBool(s.ConsistentRead) {
				return true
			}
		}
	}
	return false
}

// behind reports whether the replica that serves a read may lag behind.
func (db *DB) behind(r *request, consistentRead *bool) bool {
	return (db.replicaLag > 0 || r.stale) && !aws.ToBool(consistentRead)
}

// replica returns a table as seen by the replica that serves a read of some keys. The result must not be changed.
func (db *DB) replica(r *request, t *table, reads func(primaryKey) bool) *table {
	known := db.state.log.asOf(r.now.Add(-db.replicaLag), t.born)
	if r.stale {
		for seq, e := range db.state.log.backward {
			if seq <= known && e.of(t) && reads(e.row().key) {
				known = seq - 1
				break
			}
		}
	}
	return db.state.log.before(t, known)
}

// before returns the table as it was after the change with this Seq and before the next change.
func (l *changeLog) before(t *table, seq int) *table {
	was := t
	for at, e := range l.backward {
		if at <= seq {
			break
		}
		if !e.of(t) {
			continue
		}
		if was == t {
			was = t.copy()
		}
		now := was.get(e.row().key)
		switch {
		case e.before != nil:
			// This is a copy, because its due second may have been different in the past.
			was.put(now, e.before.image(e.before.record, e.before.sizeBytes), nil, e.time)
		case now != nil:
			was.remove(now, nil)
		}
	}
	return was
}
