package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is a part of a campaign: the i-th of n shards runs every n-th schedule, beginning with the i-th. Together the
// shards run exactly the schedules of the campaign. The zero Shard is the whole campaign.
type Shard struct {
	Index int `json:"index"` // from 1
	Count int `json:"count"`
}

// ParseShard reads what String prints: 2/4 is the second of four.
func ParseShard(text string) (Shard, error) {
	index, count, _ := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errCount := strconv.Atoi(count)
	if errIndex != nil || errCount != nil || n < 1 || i < 1 || i > n {
		return Shard{}, fmt.Errorf("shard: found %q, expected i/n with i from 1 to n, such as 2/4", text)
	}
	return Shard{i, n}, nil
}

// String returns the shard as flags write it: 2/4.
func (s Shard) String() string {
	s = s.whole()
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// whole returns the shard 1/1 for the zero Shard, and any other shard as it is.
func (s Shard) whole() Shard {
	if s.Count < 1 {
		return Shard{1, 1}
	}
	return s
}

// partial reports whether there are other shards.
func (s Shard) partial() bool { return s.Count > 1 }

// size is the number of schedules in the shard, out of n.
func (s Shard) size(n int) int {
	s = s.whole()
	return (n - s.Index + s.Count) / s.Count
}

// schedule is the index of the shard's k-th schedule, both from 0.
func (s Shard) schedule(k int) int {
	s = s.whole()
	return s.Index - 1 + k*s.Count
}
