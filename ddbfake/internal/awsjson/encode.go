package awsjson

import (
	"bytes"
	"encoding/base64"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Shape is a struct of the SDK that can describe itself to a serializer: every output, every error and every nested
// struct.
type Shape interface {
	SerializeMembers(smithy.ShapeSerializer)
}

// Append appends the JSON of an output to dst, or of an input as the SDK sends it. The SDK's metadata is not part of
// the shape, so it cannot leak.
func Append(dst []byte, out Shape) []byte {
	e := newEncoder(dst)
	e.open('{', frame{})
	out.SerializeMembers(e)
	writeZeroMembers(e, out)
	if read, ok := out.(*RecordOutput); ok {
		read.writeRecord(e)
	}
	e.close('}')
	return e.release()
}

// writeZeroMembers writes members that DynamoDB's answers have even if they are zero or empty, and that the SDK's
// structs leave out.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
func writeZeroMembers(e *encoder, out Shape) {
	count := func(schema *smithy.Schema, n int32) {
		if n == 0 {
			e.WriteInt32(schema, 0)
		}
	}
	empty := func(schema *smithy.Schema, absent bool) {
		if absent {
			e.WriteMap(schema)
			e.CloseMap()
		}
	}
	switch out := out.(type) {
	case *dynamodb.QueryOutput:
		count(schemas.QueryOutput_Count, out.Count)
		count(schemas.QueryOutput_ScannedCount, out.ScannedCount)
	case *dynamodb.ScanOutput:
		count(schemas.ScanOutput_Count, out.Count)
		count(schemas.ScanOutput_ScannedCount, out.ScannedCount)
	case *dynamodb.BatchGetItemOutput:
		empty(schemas.BatchGetItemOutput_Responses, out.Responses == nil)
		empty(schemas.BatchGetItemOutput_UnprocessedKeys, out.UnprocessedKeys == nil)
	case *dynamodb.BatchWriteItemOutput:
		empty(schemas.BatchWriteItemOutput_UnprocessedItems, out.UnprocessedItems == nil)
	}
}

// encoder is a smithy.ShapeSerializer that appends JSON to a buffer. The SDK's generated code walks the shapes. Unlike
// the SDK's own serializer, it sorts the members of a map, so that equal answers have equal bytes.
type encoder struct {
	buf     []byte
	frames  []frame
	entries []entry
	scratch []byte
	// keyed means that a key was just written, so that the next value needs neither key nor comma.
	keyed bool
}

// frame is an object or an array that is still open.
type frame struct {
	array bool
	comma bool
	// For a map, entries-1 is the index of its first entry in encoder.entries; otherwise entries is zero.
	entries int
}

// entry is one member of an open map: buf[start:end], without its comma.
type entry struct {
	key        string
	start, end int
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func newEncoder(dst []byte) *encoder {
	e, _ := encoders.Get().(*encoder)
	e.buf = dst
	e.frames = e.frames[:0]
	e.entries = e.entries[:0]
	e.keyed = true // the outermost value has no key
	return e
}

// release returns the written bytes and returns the encoder to the pool.
func (e *encoder) release() []byte {
	out := e.buf
	e.buf = nil
	clear(e.entries[:cap(e.entries)]) // the callers' strings must not be kept alive
	encoders.Put(e)
	return out
}

// begin writes the beginning of a value: a comma, a key, both or neither.
func (e *encoder) begin(schema *smithy.Schema) {
	if e.keyed {
		e.keyed = false
		return
	}
	f := &e.frames[len(e.frames)-1]
	if f.comma {
		e.buf = append(e.buf, ',')
	}
	f.comma = true
	if !f.array {
		e.name(schema.MemberName())
	}
}

// name writes the key of a member whose name needs no escape.
func (e *encoder) name(name string) {
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, '"', ':')
}

// member writes a string member that no schema names.
func (e *encoder) member(name, value string) {
	f := &e.frames[len(e.frames)-1]
	if f.comma {
		e.buf = append(e.buf, ',')
	}
	f.comma = true
	e.name(name)
	e.quote(value)
}

func (e *encoder) open(bracket byte, f frame) {
	e.keyed = false
	e.buf = append(e.buf, bracket)
	e.frames = append(e.frames, f)
}

func (e *encoder) close(bracket byte) {
	e.keyed = false
	e.buf = append(e.buf, bracket)
	e.frames = e.frames[:len(e.frames)-1]
}

func (e *encoder) quote(s string) {
	start := len(e.buf)
	e.buf = append(e.buf, '"')
	for rest := s; ; {
		n := plainPrefix(rest)
		e.buf = append(e.buf, rest[:n]...)
		if n == len(rest) {
			e.buf = append(e.buf, '"')
			return
		}
		if c := rest[n]; c != '"' && c != '\\' {
			break
		}
		e.buf = append(e.buf, '\\', rest[n])
		rest = rest[n+1:]
	}
	// Invalid UTF-8 becomes U+FFFD. The error would only report that.
	e.buf, _ = jsontext.AppendQuote(e.buf[:start], s)
}

// WriteStruct opens a structure.
func (e *encoder) WriteStruct(schema *smithy.Schema) {
	e.begin(schema)
	e.open('{', frame{})
}

// CloseStruct closes it.
func (e *encoder) CloseStruct() { e.close('}') }

// WriteUnion opens a union and writes the key of its one member.
func (e *encoder) WriteUnion(schema, variant *smithy.Schema) {
	e.begin(schema)
	e.open('{', frame{})
	e.name(variant.MemberName())
	e.keyed = true
}

// CloseUnion closes it.
func (e *encoder) CloseUnion() { e.close('}') }

// WriteList opens a list.
func (e *encoder) WriteList(schema *smithy.Schema) {
	e.begin(schema)
	e.open('[', frame{array: true})
}

// CloseList closes it.
func (e *encoder) CloseList() { e.close(']') }

// WriteMap opens a map.
func (e *encoder) WriteMap(schema *smithy.Schema) {
	e.begin(schema)
	e.open('{', frame{entries: len(e.entries) + 1})
}

// WriteKey writes the key of the map's next value.
func (e *encoder) WriteKey(_ *smithy.Schema, key string) {
	f := &e.frames[len(e.frames)-1]
	if f.comma {
		e.entries[len(e.entries)-1].end = len(e.buf)
		e.buf = append(e.buf, ',')
	}
	f.comma = true
	e.entries = append(e.entries, entry{key: key, start: len(e.buf)})
	e.quote(key)
	e.buf = append(e.buf, ':')
	e.keyed = true
}

// CloseMap closes the map and puts its entries in order: the SDK's code writes them in the random order of a Go map.
func (e *encoder) CloseMap() {
	first := e.frames[len(e.frames)-1].entries - 1
	entries := e.entries[first:]
	byKey := func(a, b entry) int { return strings.Compare(a.key, b.key) }
	if len(entries) > 1 {
		entries[len(entries)-1].end = len(e.buf)
		if !slices.IsSortedFunc(entries, byKey) {
			start := entries[0].start
			slices.SortFunc(entries, byKey)
			e.scratch = append(e.scratch[:0], e.buf[start:]...)
			e.buf = e.buf[:start]
			for i, entry := range entries {
				if i > 0 {
					e.buf = append(e.buf, ',')
				}
				e.buf = append(e.buf, e.scratch[entry.start-start:entry.end-start]...)
			}
		}
	}
	e.entries = e.entries[:first]
	e.close('}')
}

// WriteString writes a string.
func (e *encoder) WriteString(schema *smithy.Schema, v string) {
	e.begin(schema)
	e.quote(v)
}

// WriteBlob writes standard base64.
func (e *encoder) WriteBlob(schema *smithy.Schema, v []byte) {
	e.begin(schema)
	e.base64(v)
}

// WriteBool writes true or false.
func (e *encoder) WriteBool(schema *smithy.Schema, v bool) {
	e.begin(schema)
	e.buf = strconv.AppendBool(e.buf, v)
}

// WriteInt8 writes a number.
func (e *encoder) WriteInt8(schema *smithy.Schema, v int8) { e.WriteInt64(schema, int64(v)) }

// WriteInt16 writes a number.
func (e *encoder) WriteInt16(schema *smithy.Schema, v int16) { e.WriteInt64(schema, int64(v)) }

// WriteInt32 writes a number.
func (e *encoder) WriteInt32(schema *smithy.Schema, v int32) { e.WriteInt64(schema, int64(v)) }

// WriteInt64 writes a number.
func (e *encoder) WriteInt64(schema *smithy.Schema, v int64) {
	e.begin(schema)
	e.buf = strconv.AppendInt(e.buf, v, 10)
}

// WriteFloat32 writes a number.
func (e *encoder) WriteFloat32(schema *smithy.Schema, v float32) { e.WriteFloat64(schema, float64(v)) }

// WriteFloat64 writes a number. Whole numbers end with ".0", as at the service.
func (e *encoder) WriteFloat64(schema *smithy.Schema, v float64) {
	e.begin(schema)
	e.buf = strconv.AppendFloat(e.buf, v, 'f', -1, 64)
	if v == math.Trunc(v) {
		e.buf = append(e.buf, '.', '0')
	}
}

// WriteTime writes epoch seconds with up to three decimals.
func (e *encoder) WriteTime(schema *smithy.Schema, v time.Time) {
	e.WriteFloat64(schema, float64(v.UnixMilli())/1e3)
}

// WriteNil writes null.
func (e *encoder) WriteNil(schema *smithy.Schema) {
	e.begin(schema)
	e.buf = append(e.buf, "null"...)
}

// WriteDocument writes null: no shape of DynamoDB has documents.
func (e *encoder) WriteDocument(schema *smithy.Schema, _ document.Value) { e.WriteNil(schema) }

// WriteBigInt writes null: no shape of DynamoDB has big integers.
func (e *encoder) WriteBigInt(schema *smithy.Schema, _ *big.Int) { e.WriteNil(schema) }

// WriteBigFloat writes null: no shape of DynamoDB has big decimals.
func (e *encoder) WriteBigFloat(schema *smithy.Schema, _ *big.Float) { e.WriteNil(schema) }

// Bytes returns the bytes written so far.
func (e *encoder) Bytes() []byte { return e.buf }

// RecordOutput is the output of a GetItem that goes over a wire. Instead of the SDK's item it has the engine's record,
// at a fraction of the cost of the SDK's maps.
type RecordOutput struct {
	*dynamodb.GetItemOutput
	Record *packed.Record
	// Text keeps the record's JSON from its second encoding on, because many more are then likely to follow.
	Text *Text
}

// Text is the JSON of a record, once it is known. Several goroutines may use it at once.
type Text struct{ atomic.Pointer[[]byte] }

// encodedOnce replaces the text of a record that was encoded only once.
var encodedOnce = new([]byte)

// maxText is the length of the longest text that is kept, so that long rows are not in memory twice.
const maxText = 4 << 10

func (out *RecordOutput) writeRecord(e *encoder) {
	e.begin(schemas.GetItemOutput_Item)
	known := out.Text.Load()
	if known != nil && known != encodedOnce {
		e.buf = append(e.buf, *known...)
		return
	}
	start := len(e.buf)
	e.open('{', frame{})
	for name, v := range out.Record.All {
		e.entry(name)
		e.value(v)
	}
	e.close('}')
	if known == nil {
		out.Text.Store(encodedOnce)
	} else if text := e.buf[start:]; len(text) <= maxText {
		text = bytes.Clone(text)
		out.Text.Store(&text)
	}
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
