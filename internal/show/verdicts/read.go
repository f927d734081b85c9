package verdicts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// documentFormat is the version of Document.
const documentFormat = 1

// ErrNoResults says that a file has no results of a command.
var ErrNoResults = errors.New("found no results of a command, expected what isr-sim wrote with --format json=FILE")

// Read reads what the format json writes. Its error is ErrNoResults if it is JSON of another kind.
func Read(in io.Reader) (*Document, error) {
	var d struct {
		Document
		Format  json.RawMessage `json:"format"`
		Results *[]Result       `json:"results"`
	}
	if err := json.NewDecoder(in).Decode(&d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoResults, err)
	}
	if d.Results == nil || d.Command == "" {
		return nil, ErrNoResults
	}
	if string(d.Format) != fmt.Sprint(documentFormat) {
		return nil, fmt.Errorf("found results of format %s, expected %d: another version of isr-sim has written them", d.Format, documentFormat)
	}
	d.Document.Format, d.Document.Results = documentFormat, *d.Results
	return &d.Document, nil
}
