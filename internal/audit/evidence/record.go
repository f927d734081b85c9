package evidence

import (
	"cmp"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Record is one change of one row.
type Record struct {
	Table, Region string    // "" if the source does not tell
	Key           attr.Item // nil for a row of a full export without File.KeyNames
	Before, After attr.Item // the row's two images; nil means that there was no row
	// Images says that the source has both images. Without them the record only says that the row changed.
	Images bool
	// State says that the record is a row of a full export: After existed at Time, and nothing is known of the row
	// before. Time is zero if the export's manifest was not given.
	State bool
	// Net says that the record may stand for several changes of the row: Before is the image before the first of them,
	// After the image after the last. Incremental exports have such records.
	Net bool
	// Time is when the row changed, rounded down to Unit.
	Time time.Time
	Unit time.Duration
	// Sequence orders the changes of one row. It is empty if the source has no such number; then Time orders them.
	Sequence Sequence
	ID       string // the event's ID, which copies of one record share; "" if the source has none
	TTL      bool   // the service deleted the row after its ttl
	Place    Place
}

// Sequence is a sequence number of DynamoDB Streams: decimal digits, up to 40 of them.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
type Sequence string

// Compare orders sequence numbers. Leading zeros do not count.
func (s Sequence) Compare(other Sequence) int {
	a, b := s.digits(), other.digits()
	return cmp.Or(len(a)-len(b), cmp.Compare(a, b))
}

func (s Sequence) digits() string {
	for len(s) > 0 && s[0] == '0' {
		s = s[1:]
	}
	return string(s)
}

// Place says where a record stands.
type Place struct {
	File string
	Line int // the number of the record, from 1: its line, if each record has a line of its own
}

// String returns the place in the form file:line.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Gap is a part of the history that the source does not have.
type Gap struct {
	Table    string    // "" for all tables of the source
	From, To time.Time // the times of the records beside it; zero if there is none
	Why      string    // one sentence
	Place    Place
}

// Entry is the next thing that a source tells: a record, or a gap.
type Entry struct {
	Record *Record
	Gap    *Gap
}

// Write is a request that wrote a row, as CloudTrail tells it.
type Write struct {
	Table, Region string
	Key           attr.Item // numbers may be strings, because CloudTrail writes no types; nil if it is hidden
	Time          time.Time // whole seconds
	Operation     string    // as the API spells it
	// Actor tells callers apart: the access key, or the principal and the name of its session, with the address.
	Actor string
	Place Place
}
