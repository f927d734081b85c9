package explore

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// census counts distinct things by their hashes, in bounded memory. When there are too many, it keeps those whose hash
// is in the lower half of the range; then those in the lowest quarter, and so on. What it keeps is a fair sample, from
// which the total is estimated. With k things kept, the estimate is off by a share of about 1/sqrt(k). Before the first
// halving it is exact.
//
// Source: Flajolet: On adaptive sampling (Computing 43, 1990), after Wegman.
type census struct {
	halved int // how often the range was halved
	seen   map[uint64]sighting
}

// sighting is the record of one thing.
type sighting struct {
	first int  // the schedule that saw it first, from 0
	again bool // another schedule has seen it, too
}

// The bounds of a census: in memory, and in a file.
const (
	censusInMemory = 1 << 20
	censusInFile   = 1 << 12
)

// add notes that a schedule has seen a thing.
func (c *census) add(hash uint64, schedule int) {
	c.put(hash, sighting{first: schedule})
	c.shrink(censusInMemory)
}

func (c *census) put(hash uint64, s sighting) {
	if !c.keeps(hash) {
		return
	}
	if c.seen == nil {
		c.seen = map[uint64]sighting{}
	}
	if before, known := c.seen[hash]; known {
		s = sighting{min(before.first, s.first), true}
	}
	c.seen[hash] = s
}

func (c *census) keeps(hash uint64) bool { return hash>>(64-c.halved) == 0 }

// shrink halves the range until no more than most things are kept.
func (c *census) shrink(most int) {
	for len(c.seen) > most {
		c.halved++
		maps.DeleteFunc(c.seen, func(hash uint64, _ sighting) bool { return !c.keeps(hash) })
	}
}

// merge adds the sightings of another census.
func (c *census) merge(o *census) {
	if c.halved < o.halved {
		c.halved = o.halved
		maps.DeleteFunc(c.seen, func(hash uint64, _ sighting) bool { return !c.keeps(hash) })
	}
	//isrsim:unordered put takes the least of what it is given
	for hash, s := range o.seen {
		c.put(hash, s)
	}
	c.shrink(censusInMemory)
}

// count estimates how many distinct things have a sighting s for which is(s) returns true.
func (c *census) count(is func(sighting) bool) int {
	n := 0
	//isrsim:unordered a count
	for _, s := range c.seen {
		if is(s) {
			n++
		}
	}
	return int(math.Ldexp(float64(n), c.halved))
}

// String encodes a sample of the census for a file.
func (c *census) String() string { return c.text(censusInFile) }

// text encodes a sample with the given number of things at most.
func (c *census) text(most int) string {
	sample := census{halved: c.halved, seen: maps.Clone(c.seen)}
	sample.shrink(most)
	data := binary.BigEndian.AppendUint64(nil, uint64(sample.halved))
	for _, hash := range slices.Sorted(maps.Keys(sample.seen)) {
		s := sample.seen[hash]
		first := uint64(s.first) << 1
		if s.again {
			first |= 1
		}
		data = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(data, hash), first)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// parseCensus reads what String prints.
func parseCensus(text string) (*census, error) { return parseText(text, censusInFile) }

// parseText reads the output of text, with the given number of things at most.
func parseText(text string, most int) (*census, error) {
	if text == "" {
		return &census{}, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data)%16 != 8 || len(data) > 8+16*most {
		return nil, fmt.Errorf("coverage: found a sample that cannot be read, expected what isr-sim explore writes")
	}
	c := &census{halved: int(min(binary.BigEndian.Uint64(data), 63)), seen: map[uint64]sighting{}}
	for data = data[8:]; len(data) > 0; data = data[16:] {
		hash, first := binary.BigEndian.Uint64(data), binary.BigEndian.Uint64(data[8:])
		c.seen[hash] = sighting{int(first >> 1), first&1 == 1}
	}
	return c, nil
}
