package awsjson

import (
	"encoding/base64"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads a request body into an operation's input struct; in points to it.
//
// Unknown members are ignored, and null is the same as absent. If a member is given twice, the last one counts. Errors
// are those of the service: SerializationException for JSON that is malformed or of the wrong types, and
// ValidationException for an AttributeValue of two types. A value without a type becomes nil. The engine refuses it,
// because the engine knows the parameter.
//
// The body becomes part of the input, and must not change. After an error the input has the members that were read
// before it.
func Decode(body []byte, in any) error {
	d := newDecoder(body)
	defer d.release()
	null := d.kind() == 'n'
	err := d.value(reflect.ValueOf(in).Elem(), false)
	switch {
	case err == nil && d.end():
		if null {
			return errNull
		}
		return nil
	case err == nil, !Valid(body): // malformed text decides, even if it comes after the first error
		return ErrMalformed
	}
	return err
}

// errNull is for a body of null.
//
// Source: https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html (a body is an object)
var errNull = serialization("")

// Valid reports whether the body is exactly one JSON value.
func Valid(body []byte) bool {
	return jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true))
}

// decoder walks the text of a body. Its errors report values of a wrong type. If the text is not JSON, it sets
// malformed: see scan.go.
type decoder struct {
	text      string
	pos       int
	depth     int // objects and arrays that are open
	malformed bool
	scratch   []byte // the last string with escapes
	// strings, numbers and texts are memory for values and members. Nearly all parts of a request are of these types,
	// so they are allocated a few at a time: see grow. They are freed together, after the call.
	strings []types.AttributeValueMemberS
	numbers []types.AttributeValueMemberN
	texts   []string
}

// grow makes room for some more values and members. Most requests need it once.
func (d *decoder) grow() {
	const few = 4
	room := new(struct {
		strings [few]types.AttributeValueMemberS
		numbers [few]types.AttributeValueMemberN
		texts   [few]string
	})
	d.strings, d.numbers, d.texts = room.strings[:], room.numbers[:], room.texts[:]
}

// keepScratch is the size of the largest scratch that a decoder keeps for the next body.
const keepScratch = 64 << 10

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(body []byte) *decoder {
	d, _ := decoders.Get().(*decoder)
	d.text = unsafe.String(unsafe.SliceData(body), len(body))
	return d
}

// release returns the decoder to the pool, without the caller's values.
func (d *decoder) release() {
	scratch := d.scratch
	if cap(scratch) > keepScratch {
		scratch = nil
	}
	*d = decoder{scratch: scratch}
	decoders.Put(d)
}

// value reads the next value into v, which must be addressable, as v's type demands. member is true for a member of a
// structure, false for an element of a list or map: the texts of errors differ.
func (d *decoder) value(v reflect.Value, member bool) error {
	if d.kind() == 'n' {
		d.skip()
		return nil
	}
	var err error
	switch p := v.Addr().Interface().(type) {
	case *map[string]types.AttributeValue:
		*p, err = d.item(member)
	case *types.AttributeValue:
		*p, err = d.attribute(member)
	case *[]types.AttributeValue:
		*p, err = d.attributes(member)
	case *string:
		*p, err = d.str()
	case **string:
		*p, err = d.textMember()
	case *map[string]string:
		*p, err = d.names(member)
	case *bool:
		*p, err = d.boolean()
	case **bool:
		*p = new(bool)
		**p, err = d.boolean()
	case *int32:
		*p, err = whole[int32](d, "Integer")
	case *int64:
		*p, err = whole[int64](d, "Long")
	case *float64:
		*p, err = d.number("Double")
	case *time.Time:
		*p, err = d.time()
	case *[]byte:
		*p, err = d.blob()
	default:
		err = d.composite(v, member)
	}
	return err
}

func (d *decoder) composite(v reflect.Value, member bool) error {
	t := v.Type()
	switch t.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		if err := d.value(p.Elem(), member); err != nil {
			return err
		}
		v.Set(p)
	case reflect.String: // an enum
		s, err := d.str()
		if err != nil {
			return err
		}
		v.SetString(s)
	case reflect.Struct:
		if d.kind() != '{' {
			return d.notObject(className(t), member)
		}
		members := membersOf(t)
		for more := d.enter('}'); more; more = d.next('}') {
			if i := slices.Index(members, d.key()); i >= 0 {
				if err := d.value(v.Field(i), true); err != nil {
					return err
				}
			} else {
				d.skip()
			}
		}
	case reflect.Slice:
		if d.kind() != '[' {
			return d.notArray(member)
		}
		v.Set(reflect.MakeSlice(t, 0, 4))
		for more := d.enter(']'); more; more = d.next(']') {
			last := v.Len()
			v.Grow(1)
			v.SetLen(last + 1)
			if err := d.value(v.Index(last), false); err != nil {
				return err
			}
		}
	case reflect.Map:
		if d.kind() != '{' {
			return d.notObject(mapName(className(t.Elem())), member)
		}
		m := reflect.MakeMap(t)
		for more := d.enter('}'); more; more = d.next('}') {
			key, element := reflect.ValueOf(d.string()).Convert(t.Key()), reflect.New(t.Elem()).Elem()
			d.colon()
			if err := d.value(element, false); err != nil {
				return err
			}
			m.SetMapIndex(key, element)
		}
		v.Set(m)
	default:
		d.skip()
	}
	return nil
}

// membersOf returns the names of a struct's fields.
func membersOf(t reflect.Type) []string {
	if cached, ok := structMembers.Load(t); ok {
		members, _ := cached.([]string)
		return members
	}
	members := make([]string, t.NumField())
	for i := range members {
		members[i] = "\xff" // no string of JSON: a field that is not exported is no member
		if f := t.Field(i); f.IsExported() {
			members[i] = f.Name
		}
	}
	structMembers.Store(t, members)
	return members
}

var structMembers sync.Map // reflect.Type -> []string

// names reads a map of strings.
func (d *decoder) names(member bool) (map[string]string, error) {
	if d.kind() != '{' {
		return nil, d.notObject(mapName(className(reflect.TypeFor[string]())), member)
	}
	m := make(map[string]string)
	for more := d.enter('}'); more; more = d.next('}') {
		name := d.string()
		d.colon()
		if d.kind() == 'n' {
			d.skip()
			m[name] = ""
			continue
		}
		s, err := d.str()
		if err != nil {
			return nil, err
		}
		m[name] = s
	}
	return m, nil
}

func (d *decoder) item(member bool) (map[string]types.AttributeValue, error) {
	if d.kind() != '{' {
		return nil, d.notObject(mapName(attributeValueName), member)
	}
	m := make(map[string]types.AttributeValue)
	for more := d.enter('}'); more; more = d.next('}') {
		name := d.string()
		d.colon()
		v, err := d.attribute(false)
		if err != nil {
			return nil, err
		}
		m[name] = v
	}
	return m, nil
}

// attributes reads a list of attribute values.
func (d *decoder) attributes(member bool) ([]types.AttributeValue, error) {
	if d.kind() != '[' {
		return nil, d.notArray(member)
	}
	list := []types.AttributeValue{}
	for more := d.enter(']'); more; more = d.next(']') {
		v, err := d.attribute(false)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

const attributeValueName = "class com.amazonaws.dynamodb.v20120810.AttributeValue"

// attribute reads one attribute value; nil if no type is set.
func (d *decoder) attribute(member bool) (types.AttributeValue, error) {
	switch d.kind() {
	case '{':
		if v := d.plainValue(); v != nil {
			return v, nil
		}
	case 'n':
		d.skip()
		return nil, nil
	default:
		return nil, d.notObject(attributeValueName, member)
	}
	var value types.AttributeValue
	for more := d.enter('}'); more; more = d.next('}') {
		v, err := d.variant(d.key())
		if err != nil {
			return nil, err
		}
		if v != nil && value != nil {
			return nil, errTwoTypes
		}
		if v != nil {
			value = v
		}
	}
	return value, nil
}

// plainValue reads a string or number of the form {"S":"text"}, as nearly all are written, at half of the cost. If the
// value ahead has another form, plainValue returns nil and does not move.
func (d *decoder) plainValue() (v types.AttributeValue) {
	const form, closing = `{"S":"`, `"}`
	text := d.text[d.pos:]
	if d.depth == maxDepth || len(text) < len(form) || text[:2] != form[:2] || text[3:len(form)] != form[3:] {
		return nil
	}
	end := len(form) + plainPrefix(text[len(form):])
	if !strings.HasPrefix(text[end:], closing) {
		return nil
	}
	switch s := d.kept(text[len(form):end]); text[2] {
	case 'S':
		v, _ = d.stringValue(s, nil)
	case 'N':
		v, _ = d.numberValue(s, nil)
	default:
		return nil
	}
	d.pos += end + len(closing)
	return v
}

var errTwoTypes = &smithy.GenericAPIError{
	Code: "ValidationException",
	Message: "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the " +
		"supported datatypes",
	Fault: smithy.FaultClient,
}

// variant reads the value of one member of an AttributeValue; nil if it is null or the member is unknown.
func (d *decoder) variant(name string) (types.AttributeValue, error) {
	if d.kind() == 'n' {
		d.skip()
		return nil, nil
	}
	switch name {
	case "S":
		return d.stringValue(d.str())
	case "N":
		return d.numberValue(d.str())
	case "B":
		b, err := d.blob()
		return &types.AttributeValueMemberB{Value: b}, err
	case "BOOL":
		b, err := d.boolean()
		return &types.AttributeValueMemberBOOL{Value: b}, err
	case "NULL":
		b, err := d.boolean()
		return &types.AttributeValueMemberNULL{Value: b}, err
	case "M":
		m, err := d.item(true)
		return &types.AttributeValueMemberM{Value: m}, err
	case "L":
		l, err := d.attributes(true)
		return &types.AttributeValueMemberL{Value: l}, err
	case "SS":
		s, err := set(d, (*decoder).str)
		return &types.AttributeValueMemberSS{Value: s}, err
	case "NS":
		s, err := set(d, (*decoder).str)
		return &types.AttributeValueMemberNS{Value: s}, err
	case "BS":
		s, err := set(d, (*decoder).blob)
		return &types.AttributeValueMemberBS{Value: s}, err
	}
	d.skip()
	return nil, nil
}

func (d *decoder) stringValue(s string, err error) (types.AttributeValue, error) {
	if len(d.strings) == 0 {
		d.grow()
	}
	v := &d.strings[0]
	d.strings = d.strings[1:]
	v.Value = s
	return v, err
}

func (d *decoder) numberValue(s string, err error) (types.AttributeValue, error) {
	if len(d.numbers) == 0 {
		d.grow()
	}
	v := &d.numbers[0]
	d.numbers = d.numbers[1:]
	v.Value = s
	return v, err
}

// textMember reads a string, and returns a pointer to it.
func (d *decoder) textMember() (*string, error) {
	if len(d.texts) == 0 {
		d.grow()
	}
	s := &d.texts[0]
	d.texts = d.texts[1:]
	var err error
	*s, err = d.str()
	return s, err
}

func set[E any](d *decoder, element func(*decoder) (E, error)) ([]E, error) {
	if d.kind() != '[' {
		return nil, d.notArray(true)
	}
	list := []E{}
	for more := d.enter(']'); more; more = d.next(']') {
		e, err := element(d)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (d *decoder) str() (string, error) {
	if d.kind() != '"' {
		return "", d.notScalar("String", "java.lang.String")
	}
	return d.string(), nil
}

// boolean reads a boolean. Like the service, it also accepts the strings "true" and "false", in any case.
func (d *decoder) boolean() (bool, error) {
	switch d.kind() {
	case 't':
		d.skip()
		return true, nil
	case 'f':
		d.skip()
		return false, nil
	case '"':
		switch s := d.string(); {
		case strings.EqualFold(s, "true"):
			return true, nil
		case strings.EqualFold(s, "false"):
			return false, nil
		}
		return false, serialization("Unexpected token received from parser")
	}
	return false, d.notScalar("Boolean", "java.lang.Boolean")
}

// whole reads a number and drops its decimals, as the service does.
func whole[I int32 | int64](d *decoder, name string) (I, error) {
	if d.kind() != '0' {
		return 0, d.notScalar(name, "java.lang."+name)
	}
	bits := reflect.TypeFor[I]().Bits()
	text := d.raw()
	if n, err := strconv.ParseInt(text, 10, bits); err == nil {
		return I(n), nil
	}
	f, _ := strconv.ParseFloat(text, 64)
	limit := math.Ldexp(1, bits-1)
	if f = math.Trunc(f); f < -limit || f >= limit {
		return 0, serialization("NUMBER_VALUE cannot be converted to " + name)
	}
	return I(f), nil
}

func (d *decoder) number(name string) (float64, error) {
	if d.kind() != '0' {
		return 0, d.notScalar(name, "java.lang."+name)
	}
	f, err := strconv.ParseFloat(d.raw(), 64)
	if err != nil {
		return 0, serialization("NUMBER_VALUE cannot be converted to " + name)
	}
	return f, nil
}

// time reads epoch seconds with up to three decimals. A time whose milliseconds do not fit is refused: an overflow
// would turn the far future into the past.
func (d *decoder) time() (time.Time, error) {
	seconds, err := d.number("Date")
	if err != nil {
		return time.Time{}, err
	}
	milliseconds := math.Round(seconds * 1e3)
	if math.Abs(milliseconds) > 1<<53 {
		return time.Time{}, serialization("NUMBER_VALUE cannot be converted to Date")
	}
	return time.UnixMilli(int64(milliseconds)).UTC(), nil
}

var strictBase64 = base64.StdEncoding.Strict()

func (d *decoder) blob() ([]byte, error) {
	switch d.kind() {
	case '"':
	case '{', '[':
		return nil, d.notScalar("", "java.nio.ByteBuffer")
	default:
		return nil, serialization("only base-64-encoded strings are convertible to bytes")
	}
	s := d.string()
	if len(s)%4 != 0 {
		return nil, serialization("Base64 encoded length is expected a multiple of 4 bytes but found: " +
			strconv.Itoa(len(s)))
	}
	b, err := strictBase64.DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return nil, serialization("Invalid last non-pad Base64 character dectected")
	}
	return b, nil
}
