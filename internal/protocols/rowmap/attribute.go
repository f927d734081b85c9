package rowmap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// unit is the unit of a number, or the form of a text.
type unit string

const (
	seconds  unit = "s"
	iso8601  unit = "iso8601"
	duration unit = "duration"
)

var (
	unitsOfTime   = []unit{seconds, "ms", "us", "ns", iso8601}
	unitsOfLength = []unit{seconds, "ms", "us", "ns", duration}
)

// digits is the number of decimal places between a second and the unit.
func (u unit) digits() int {
	switch u {
	case "ms":
		return 3
	case "us":
		return 6
	case "ns":
		return 9
	default:
		return 0
	}
}

// resolution is the smallest step of times in the unit.
func (u unit) resolution() time.Duration {
	switch u {
	case seconds:
		return time.Second
	case "us", "ns":
		return time.Microsecond // time stops at these steps, and no trace shows smaller ones
	default:
		return time.Millisecond
	}
}

// attribute is an attribute that a schema names; the zero attribute means none.
type attribute struct {
	name string
	unit unit
	path []string // the path of a name with dots
}

// parseAttribute reads a name and, if units has any, one of them. The first unit is the default.
func parseAttribute(text string, units []unit) (attribute, error) {
	name, rest, spaced := strings.Cut(strings.TrimSpace(text), " ")
	a := attribute{name: name}
	if units != nil {
		a.unit = units[0]
	}
	if strings.Contains(name, ".") {
		a.path = strings.Split(name, ".")
	}
	rest = strings.TrimSpace(rest)
	switch {
	case !spaced:
	case units == nil:
		return a, fmt.Errorf("found %q after the attribute %s, expected its name alone", rest, name)
	case !slices.Contains(units, unit(rest)):
		return a, fmt.Errorf("found the unit %q after the attribute %s, expected one of %s", rest, name, join(units))
	default:
		a.unit = unit(rest)
	}
	return a, nil
}

func join(units []unit) string {
	texts := make([]string, len(units))
	for i, u := range units {
		texts[i] = string(u)
	}
	return strings.Join(texts, ", ")
}

func (a *attribute) is() bool { return a.name != "" }

// String names the attribute with its unit, for use in a sentence.
func (a *attribute) String() string {
	if a.unit == "" || a.unit == seconds {
		return a.name
	}
	return a.name + " (" + string(a.unit) + ")"
}

// in returns the attribute's value in a row, or nil.
func (a *attribute) in(row attr.Item) attr.Value {
	if v := row[a.name]; v != nil || a.path == nil {
		return v
	}
	within := row
	for _, name := range a.path[:len(a.path)-1] {
		m, ok := within[name].(attr.M)
		if !ok {
			return nil
		}
		within = attr.Item(m)
	}
	return within[a.path[len(a.path)-1]]
}

// top is the name of the top-level attribute of the row that contains this one.
func (a *attribute) top() string {
	if a.path == nil {
		return a.name
	}
	return a.path[0]
}

// text returns the attribute as text, or false if it is missing or empty.
func (a *attribute) text(row attr.Item) (string, bool) {
	switch v := a.in(row).(type) {
	case attr.S:
		return string(v), v != ""
	case attr.N:
		return v.String(), true
	case attr.B:
		return string(v), len(v) > 0
	default:
		return "", false
	}
}

// seconds returns the attribute (a time or a length of time) in seconds, or false if its value does not fit its unit.
func (a *attribute) seconds(row attr.Item) (attr.N, bool) {
	value := a.in(row)
	text, isText := value.(attr.S)
	switch a.unit {
	case iso8601:
		t, ok := parseTime(string(text))
		return secondsOf(t), isText && ok
	case duration:
		d, err := time.ParseDuration(string(text))
		return scaled(attr.Int(int64(d)), 9), isText && err == nil
	}
	n, ok := value.(attr.N)
	if isText {
		number, err := attr.ParseNumber(string(text))
		n, ok = attr.N{Number: number}, err == nil
	}
	return scaled(n, a.unit.digits()), ok
}

func (a *attribute) length(row attr.Item) (time.Duration, bool) {
	n, ok := a.seconds(row)
	if !ok {
		return 0, false
	}
	t, ok := instant(n)
	return t.Sub(time.Unix(0, 0)), ok
}

// timeForms are the forms of ISO 8601 that programs write, besides that of RFC 3339. In each, the seconds may have a
// fraction.
var timeForms = []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05", "20060102T150405Z0700"}

func parseTime(text string) (time.Time, bool) {
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// secondsOf returns a time as epoch seconds.
func secondsOf(t time.Time) attr.N {
	if t.Nanosecond() == 0 {
		return attr.Int(t.Unix())
	}
	nano, err := attr.ParseNumber(fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()))
	if t.Unix() < 0 || err != nil {
		return scaled(attr.Int(t.UnixNano()), 9)
	}
	return attr.N{Number: nano}
}

// scaled returns a number with the decimal point moved to the left by the given places.
func scaled(n attr.N, places int) attr.N {
	if places == 0 {
		return n
	}
	if i, whole := n.Int64(); whole {
		power := int64(1)
		for range places {
			power *= 10
		}
		if i%power == 0 {
			return attr.Int(i / power)
		}
	}
	less, err := attr.ParseNumber(n.String() + "E-" + strconv.Itoa(places))
	if err != nil {
		return n // beyond the numbers of DynamoDB, and so no time
	}
	return attr.N{Number: less}
}
