package rowmap

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// nanos is the suffix of an attribute of a translated row that holds a time's fraction, in nanoseconds. It follows the
// name of the time. Rows that are not translated hold whole seconds.
const nanos = ".nanos"

// times are the attributes of translated rows that hold times and lengths of time.
var times = []string{"generated_at", "revalidate_seconds", "fresh_until", "lease_expires_at"}

// Instant returns an attribute of epoch seconds, with its fraction if the row is translated. It returns false if the
// attribute is missing, no whole number (N), or too far away to calculate with.
func Instant(row attr.Item, name string) (time.Time, bool) {
	sec, whole := row.Int(name)
	if !whole || sec <= -farthest || sec >= farthest {
		return time.Time{}, false
	}
	fraction, _ := row.Int(nanosOf(name))
	return time.Unix(sec, fraction), true
}

// nanosOf is name + nanos, without an allocation for the names of times.
func nanosOf(name string) string {
	switch name {
	case "generated_at":
		return GeneratedNanos
	case "lease_expires_at":
		return "lease_expires_at" + nanos
	case "revalidate_seconds":
		return "revalidate_seconds" + nanos
	case "fresh_until":
		return "fresh_until" + nanos
	}
	return name + nanos
}

// GeneratedNanos is the attribute with the fraction of generated_at. Two pages may differ only in it.
const GeneratedNanos = "generated_at" + nanos

// IsFraction reports whether an attribute is the fraction of a time.
func IsFraction(name string) bool { return strings.HasSuffix(name, nanos) }

// farthest is a number of seconds. Below this bound, sums of a few times do not overflow.
const farthest = 1 << 59

// Times returns the top-level attributes of rows that hold times, each with its unit. It leaves out attributes that
// other rows use for something else, or in another unit, and attributes within a map. A nil Mapping has the times of
// META and LOCK.
func (m *Mapping) Times() map[string]string {
	if m == nil {
		return map[string]string{"generated_at": "s", "fresh_until": "s", "lease_expires_at": "s", "ttl": "s"}
	}
	units := map[string]string{}
	for i := range m.entries {
		e := &m.entries[i]
		for _, a := range e.attributes() {
			if !a.is() || a.path != nil {
				continue
			}
			u := ""
			switch {
			case a == &e.ttl:
				u = string(seconds)
			case a == &e.expires, a == &e.generated, a == &e.freshUntil, a == &e.invalidated:
				u = string(a.unit)
			}
			if old, known := units[a.name]; known && old != u {
				u = ""
			}
			units[a.name] = u
		}
	}
	maps.DeleteFunc(units, func(_, u string) bool { return u == "" })
	return units
}

// Parse reads a time in a unit that Times names, as text or as the digits of a number.
func Parse(text, of string) (time.Time, bool) {
	n, ok := (&attribute{name: "time", unit: unit(of)}).seconds(attr.Item{"time": attr.S(text)})
	if !ok {
		return time.Time{}, false
	}
	return instant(n)
}

// put puts a number of seconds into a translated row.
func put(row attr.Item, name string, n attr.N) {
	t, ok := instant(n)
	if !ok {
		row[name] = n
		return
	}
	row[name] = attr.Int(t.Unix())
	if t.Nanosecond() != 0 {
		row[nanosOf(name)] = attr.Int(int64(t.Nanosecond()))
	}
}

func instant(n attr.N) (time.Time, bool) {
	if i, whole := n.Int64(); whole {
		return time.Unix(i, 0), -farthest < i && i < farthest
	}
	whole, fraction, has := strings.Cut(n.String(), ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if !has || err != nil || sec <= -farthest || sec >= farthest {
		return time.Time{}, false
	}
	nano, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if strings.HasPrefix(whole, "-") {
		nano = -nano
	}
	return time.Unix(sec, nano), true
}
