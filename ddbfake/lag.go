package ddbfake

import (
	"fmt"
	"strings"
	"time"
)

// Lag says when TTL deletes a row that has expired. AWS promises only "within
// a few days"; both ends hide bugs, so both can be chosen. Lags are
// comparable with ==.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
type Lag struct {
	kind  lagKind
	after time.Duration
}

type lagKind uint8

const (
	lagManual lagKind = iota
	lagNever
	lagFixed
)

// The lags that need no parameter.
var (
	// LagManual deletes nothing by itself: only Sweep and SweepExpired do. It
	// is the zero Lag.
	LagManual = Lag{}
	// LagNever deletes nothing, and Sweep refuses to.
	LagNever = Lag{kind: lagNever}
	// LagAtOnce deletes a row at the first instant at which it is expired.
	LagAtOnce = Lag{kind: lagFixed}
)

// LagFixed deletes a row d after it expired. A negative d counts as zero,
// which is LagAtOnce.
func LagFixed(d time.Duration) Lag {
	return Lag{kind: lagFixed, after: max(d, 0)}
}

// String returns what ParseLag accepts: "manual", "never", "at-once", or
// "fixed 10m0s".
func (l Lag) String() string {
	switch {
	case l.kind == lagNever:
		return "never"
	case l == LagAtOnce:
		return "at-once"
	case l.kind == lagFixed:
		return "fixed " + l.after.String()
	}
	return "manual"
}

// ParseLag reads "manual", "never", "at-once", or "fixed" with a duration as
// time.ParseDuration reads it: "fixed 10m".
func ParseLag(s string) (Lag, error) {
	switch fields := strings.Fields(s); {
	case s == "manual":
		return LagManual, nil
	case s == "never":
		return LagNever, nil
	case s == "at-once":
		return LagAtOnce, nil
	case len(fields) == 2 && fields[0] == "fixed":
		d, err := time.ParseDuration(fields[1])
		if err != nil {
			return Lag{}, fmt.Errorf("ttl lag %q: %q is not a duration such as 10m or 48h", s, fields[1])
		}
		if d < 0 {
			return Lag{}, fmt.Errorf("ttl lag %q: %s is negative; want zero or more", s, fields[1])
		}
		return LagFixed(d), nil
	}
	return Lag{}, fmt.Errorf("ttl lag %q: want manual, never, at-once, or fixed with a duration (fixed 10m)", s)
}
