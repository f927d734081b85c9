package policy

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Trace is a workload from a file, see [ReadTrace].
type Trace struct {
	reads   []Read
	changes [][]time.Duration // by key
}

// ReadTrace reads a workload from CSV, named name in errors. The first line names the columns. time is in seconds since
// the trace began and does not go back; key is any text. kind is read (the default) or change (of the key's data); size
// is the size of the row in bytes.
//
// An error names the line, and what was found and expected there.
func ReadTrace(name string, from io.Reader) (*Trace, error) {
	file := csv.NewReader(from)
	file.FieldsPerRecord = 0
	header, err := file.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: found an empty file, expected a first line such as time,key", name)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	columns := map[string]int{}
	for i, c := range header {
		c = strings.TrimSpace(c)
		switch c {
		case "time", "key", "kind", "size":
		default:
			return nil, fmt.Errorf("%s:1: found column %q, expected time, key, kind, size", name, c)
		}
		if _, twice := columns[c]; twice {
			return nil, fmt.Errorf("%s:1: found column %s twice, expected it once", name, c)
		}
		columns[c] = i
	}
	for _, c := range []string{"time", "key"} {
		if _, ok := columns[c]; !ok {
			return nil, fmt.Errorf("%s:1: found no column %s, expected time and key\n"+
				"hint: the first line names the columns: time,key,kind,size", name, c)
		}
	}
	t := &Trace{}
	keys := map[string]int{}
	var last time.Duration
	for {
		record, err := file.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := file.FieldPos(0)
		field := func(c string) string {
			i, ok := columns[c]
			if !ok {
				return ""
			}
			return strings.TrimSpace(record[i])
		}
		at, err := strconv.ParseFloat(field("time"), 64)
		if err != nil || !(at >= 0) || at > never.Seconds() {
			return nil, fmt.Errorf("%s:%d: found time %q, expected seconds since the trace began, such as 12.5",
				name, line, field("time"))
		}
		now := time.Duration(math.Round(at * float64(time.Second)))
		if now < last {
			return nil, fmt.Errorf("%s:%d: found time %s after %s, expected times that do not go back\n"+
				"hint: sort the file by time",
				name, line, field("time"), last)
		}
		last = now
		if field("key") == "" {
			return nil, fmt.Errorf("%s:%d: found no key, expected one", name, line)
		}
		key, ok := keys[field("key")]
		if !ok {
			key = len(keys)
			keys[field("key")] = key
			t.changes = append(t.changes, nil)
		}
		size := 0
		if s := field("size"); s != "" {
			if size, err = strconv.Atoi(s); err != nil || size < 0 {
				return nil, fmt.Errorf("%s:%d: found size %q, expected a number of bytes", name, line, s)
			}
		}
		switch kind := field("kind"); kind {
		case "", "read":
			t.reads = append(t.reads, Read{At: now, Key: key, Bytes: size})
		case "change":
			t.changes[key] = append(t.changes[key], now)
		default:
			return nil, fmt.Errorf("%s:%d: found kind %q, expected read or change", name, line, kind)
		}
	}
	if len(t.reads) == 0 {
		return nil, fmt.Errorf("%s: found no reads, expected at least one", name)
	}
	return t, nil
}

// Lasts returns the time of the last read.
func (t *Trace) Lasts() time.Duration { return t.reads[len(t.reads)-1].At }

// Begin implements Workload: a trace is the same for every seed.
func (t *Trace) Begin(_, _ *Random) Traffic { return &tracePlayer{trace: t, left: t.reads} }

type tracePlayer struct {
	trace *Trace
	left  []Read
}

func (p *tracePlayer) Read() (Read, bool) {
	if len(p.left) == 0 {
		return Read{}, false
	}
	next := p.left[0]
	p.left = p.left[1:]
	return next, true
}

func (p *tracePlayer) Changed(key int, after time.Duration) time.Duration {
	return firstAfter(p.trace.changes[key], after)
}
