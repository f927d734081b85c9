package rowmap

import (
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Instant returns an attribute of epoch seconds, which may have a fraction; false if it is missing, no number (N), or
// beyond int64. It is exact to the nanosecond.
func Instant(row attr.Item, name string) (time.Time, bool) {
	n, ok := row[name].(attr.N)
	if !ok {
		return time.Time{}, false
	}
	return instant(n)
}

func instant(n attr.N) (time.Time, bool) {
	if i, whole := n.Int64(); whole {
		return time.Unix(i, 0), true
	}
	whole, fraction, has := strings.Cut(n.String(), ".")
	if !has {
		return time.Time{}, false
	}
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
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
