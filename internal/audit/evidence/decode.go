package evidence

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// decoder reads JSON from its beginning to its end, and keeps nothing of what it has read.
type decoder struct {
	*jsontext.Decoder
	*shared
}

type shared struct {
	// names holds the strings that come again and again, such as the names of attributes: rows share their memory.
	names map[string]string
	inner *decoder // of the data of Kinesis
}

func newDecoder(text io.Reader, names map[string]string) decoder {
	return decoder{jsontext.NewDecoder(text, anyNames), &shared{names: names}}
}

// anyNames: the names of attributes are looked at here, and those of other members do not matter.
var anyNames = jsontext.AllowDuplicateNames(true)

// maxNames bounds the memory of the names.
const maxNames = 1 << 12

// object visits the members of an object. The function must read the member's value.
func (d decoder) object(member func(name string) error) error {
	if err := d.opening('{', "an object"); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.name()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// fields visits the members of an object that are not null.
func (d decoder) fields(member func(name string) error) error {
	return d.object(func(name string) error {
		if d.PeekKind() == 'n' {
			return d.SkipValue()
		}
		return member(name)
	})
}

// array visits the elements of an array. The function must read the element.
func (d decoder) array(element func() error) error {
	if err := d.opening('[', "an array"); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (d decoder) opening(bracket jsontext.Kind, expected string) error {
	token, err := d.ReadToken()
	if err == nil && token.Kind() != bracket {
		err = fmt.Errorf("found %s, expected %s", described(token.Kind()), expected)
	}
	return err
}

// described names a kind of JSON in an error.
func described(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return k.String()
}

// name reads a string that is likely to come again.
func (d decoder) name() (string, error) {
	raw, err := d.quoted()
	if err != nil {
		return "", err
	}
	if shared, known := d.names[string(raw)]; known {
		return shared, nil
	}
	name := unquoted(raw)
	if len(d.names) < maxNames {
		d.names[string(raw)] = name
	}
	return name, nil
}

func (d decoder) text() (string, error) {
	raw, err := d.quoted()
	return unquoted(raw), err
}

// quoted reads a string as it stands in the text, with its quotes.
func (d decoder) quoted() (jsontext.Value, error) {
	raw, err := d.ReadValue()
	if err == nil && raw.Kind() != '"' {
		err = fmt.Errorf("found %s, expected a string", described(raw.Kind()))
	}
	if err != nil {
		return nil, err
	}
	return raw, nil
}

func unquoted(raw jsontext.Value) string {
	if len(raw) == 0 {
		return ""
	}
	if inside := raw[1 : len(raw)-1]; !strings.Contains(string(inside), `\`) {
		return string(inside)
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the decoder has checked it
	return string(text)
}

func (d decoder) boolean() (bool, error) {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return false, err
	case token.Kind() != 't' && token.Kind() != 'f':
		return false, fmt.Errorf("found %s, expected a boolean", described(token.Kind()))
	}
	return token.Bool(), nil
}

// binary reads bytes in base64.
func (d decoder) binary() ([]byte, error) {
	raw, err := d.quoted()
	if err != nil {
		return nil, err
	}
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(unquoted(raw))
	}
	data, err := base64.StdEncoding.AppendDecode([]byte{}, text)
	if err != nil {
		return nil, fmt.Errorf("found %.40q, expected base64", text)
	}
	return data, nil
}

func all[E any](d decoder, element func() (E, error)) (list []E, err error) {
	list = []E{}
	err = d.array(func() error {
		e, err := element()
		list = append(list, e)
		return err
	})
	return list, err
}

func (d decoder) item() (attr.Item, error) { return d.attributes(1) }

func (d decoder) attributes(depth int) (attr.Item, error) {
	row, before := attr.Item{}, 0
	err := d.object(func(name string) (err error) {
		if row[name], err = d.value(depth); err == nil && len(row) == before {
			err = fmt.Errorf("found the attribute %s twice", name)
		}
		before = len(row)
		return err
	})
	return row, err
}

var errType = errors.New("expected an attribute value, which has exactly one of the types S, N, B, BOOL, NULL, M, L, " +
	"SS, NS and BS")

// value reads an attribute value. Package attr checks numbers and sets.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
func (d decoder) value(depth int) (v attr.Value, err error) {
	if depth > attr.MaxDepth {
		return nil, fmt.Errorf("found a value of more than %d levels", attr.MaxDepth)
	}
	err = d.object(func(kind string) (err error) {
		if v != nil {
			return errType
		}
		v, err = d.valueOf(attr.Kind(kind), depth)
		return err
	})
	if err == nil && v == nil {
		err = errType
	}
	return v, err
}

func (d decoder) valueOf(kind attr.Kind, depth int) (attr.Value, error) {
	switch kind {
	case "S":
		s, err := d.text()
		return attr.S(s), err
	case "N":
		text, err := d.text()
		if err != nil {
			return nil, err
		}
		n, err := attr.ParseNumber(text)
		return attr.N{Number: n}, err
	case "B":
		b, err := d.binary()
		return attr.B(b), err
	case "BOOL":
		b, err := d.boolean()
		return attr.BOOL(b), err
	case "NULL":
		b, err := d.boolean()
		if err != nil {
			return nil, err
		}
		return attr.FromSDK(&types.AttributeValueMemberNULL{Value: b})
	case "M":
		m, err := d.attributes(depth + 1)
		return attr.M(m), err
	case "L":
		l, err := all(d, func() (attr.Value, error) { return d.value(depth + 1) })
		return attr.L(l), err
	case "SS":
		set, err := all(d, d.text)
		if err != nil {
			return nil, err
		}
		return attr.FromSDK(&types.AttributeValueMemberSS{Value: set})
	case "NS":
		set, err := all(d, d.text)
		if err != nil {
			return nil, err
		}
		return attr.FromSDK(&types.AttributeValueMemberNS{Value: set})
	case "BS":
		set, err := all(d, d.binary)
		if err != nil {
			return nil, err
		}
		return attr.FromSDK(&types.AttributeValueMemberBS{Value: set})
	}
	return nil, errType
}
