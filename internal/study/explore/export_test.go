package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Summed is a file with these explorations and the correct sum.
func Summed(explorations json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"format":%q,"version":%d,"sum":%q,"explorations":%s}`, explorationFormat,
		explorationVersion, explorationFile{Explorations: explorations}.sum(), explorations)
}

// SummedNight is the file of a night with the correct sum.
func SummedNight(night string) []byte {
	var n Night
	err := json.Unmarshal([]byte(night), &n)
	if err == nil {
		n.Sum, err = n.sum()
	}
	data, errData := json.Marshal(n)
	if err = cmp.Or(err, errData); err != nil {
		panic(err)
	}
	return data
}

// AddLine is Add for one file whose first line is known.
func (b *Board) AddLine(name, line string, read func() ([]byte, error)) error {
	return b.add(name, read, func() origin { return parseOrigin(line) })
}
