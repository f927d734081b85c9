package awsjson

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// RecordOutput is the SDK's output of a GetItem that goes over a wire, except for the item. The item is still the
// record that the engine keeps, at a fraction of the cost of the SDK's maps.
type RecordOutput struct {
	*dynamodb.GetItemOutput
	Record *packed.Record
}

// writeRecord writes the item.
func (out *RecordOutput) writeRecord(e *encoder) {
	e.begin(schemas.GetItemOutput_Item)
	e.open('{', frame{})
	for name, v := range out.Record.All {
		e.entry(name)
		e.value(v)
	}
	e.close('}')
}

// entry writes the key of an object's next member.
func (e *encoder) entry(name string) {
	f := &e.frames[len(e.frames)-1]
	if f.comma {
		e.buf = append(e.buf, ',')
	}
	f.comma = true
	e.quote(name)
	e.buf = append(e.buf, ':')
}

// value writes an attribute value of the engine, with the same bytes as the SDK's value.
func (e *encoder) value(v attr.Value) {
	switch v := v.(type) {
	case attr.S: // nearly all values are strings or numbers
		e.buf = append(e.buf, `{"S":`...)
		e.quote(string(v))
	case attr.N:
		e.buf = append(e.buf, `{"N":`...)
		e.digits(v.Number)
	default:
		e.buf = append(e.buf, `{"`...)
		e.buf = append(e.buf, string(attr.KindOf(v))...)
		e.buf = append(e.buf, `":`...)
		e.rare(v)
	}
	e.buf = append(e.buf, '}')
}

// rare writes the content of a value that is neither a string nor a number.
func (e *encoder) rare(v attr.Value) {
	switch v := v.(type) {
	case attr.B:
		e.base64(v)
	case attr.BOOL:
		e.buf = strconv.AppendBool(e.buf, bool(v))
	case attr.NULL:
		e.buf = append(e.buf, "true"...)
	case attr.M:
		e.open('{', frame{})
		for _, name := range slices.Sorted(maps.Keys(v)) {
			e.entry(name)
			e.value(v[name])
		}
		e.close('}')
	case attr.L:
		elements(e, v, e.value)
	case attr.SS:
		elements(e, v, e.quote)
	case attr.NS:
		elements(e, v, e.digits)
	case attr.BS:
		elements(e, v, e.base64)
	}
}

func (e *encoder) digits(n attr.Number) {
	e.buf = append(e.buf, '"')
	e.buf = n.Append(e.buf)
	e.buf = append(e.buf, '"')
}

func (e *encoder) base64(b []byte) {
	e.buf = append(e.buf, '"')
	e.buf = base64.StdEncoding.AppendEncode(e.buf, b)
	e.buf = append(e.buf, '"')
}

func elements[E any](e *encoder, list []E, write func(E)) {
	e.buf = append(e.buf, '[')
	for i, element := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		write(element)
	}
	e.buf = append(e.buf, ']')
}
