package explore

import (
	"encoding/json"
	"fmt"
)

// Summed is a file with these explorations and the right sum.
func Summed(explorations json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"format":%q,"version":%d,"sum":%q,"explorations":%s}`, explorationFormat,
		explorationVersion, explorationFile{Explorations: explorations}.sum(), explorations)
}

// AddLine is Add for one file, of which the first line is known.
func (b *Board) AddLine(name, line string, read func() ([]byte, error)) error {
	return b.add(name, read, func() origin { return parseOrigin(line) })
}
