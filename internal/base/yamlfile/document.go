package yamlfile

import (
	"time"

	yaml "github.com/goccy/go-yaml"
)

// Document is a mapping under construction, in order.
type Document yaml.MapSlice

// Add adds a key with its value, if it is wanted.
func (d *Document) Add(key string, value any, wanted bool) {
	if !wanted {
		return
	}
	switch nested := value.(type) { // the library knows only its own type
	case Document:
		value = yaml.MapSlice(nested)
	case []Document:
		items := make([]yaml.MapSlice, len(nested))
		for i, d := range nested {
			items[i] = yaml.MapSlice(d)
		}
		value = items
	}
	*d = append(*d, yaml.MapItem{Key: key, Value: value})
}

// Text is the Document as a file.
func (d Document) Text() ([]byte, error) {
	return yaml.MarshalWithOptions(yaml.MapSlice(d), yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
}

// AddDuration adds a duration, unless it is what the key has by itself.
func (d *Document) AddDuration(key string, value, byItself time.Duration) {
	d.Add(key, value.String(), value != byItself)
}
