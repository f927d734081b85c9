package conformance

import (
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// builder makes one of the SDK's inputs from a value. Without a world, it only finds mistakes.
type builder struct{ w *world }

func (b builder) expand(text string) (string, error) {
	if b.w == nil {
		return text, nil
	}
	return b.w.expand(text)
}

func mismatch(n node, want string) error {
	found := map[byte]string{'{': "an object", '[': "a list", '<': "a set", '"': "a text", 'w': "the word " + n.text}
	return fmt.Errorf("found %s, expected %s", found[n.kind], want)
}

// input returns a new input of type t, filled from the value n.
func (b builder) input(t reflect.Type, n node) (any, error) {
	v := reflect.New(t)
	err := b.fill(v.Elem(), n, strings.TrimSuffix(t.Name(), "Input"))
	return v.Interface(), err
}

// fill sets v, a member with a name or an operation's input, to a value.
func (b builder) fill(v reflect.Value, n node, name string) (err error) {
	switch {
	case v.Type() == reflect.TypeFor[types.AttributeValue]():
		a, err := b.attribute(n)
		if a != nil {
			v.Set(reflect.ValueOf(a))
		}
		return err
	case v.Type() == reflect.TypeFor[time.Time]():
		return b.instant(v, n)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return b.fill(v.Elem(), n, name)
	case reflect.Struct:
		return b.object(v, n, name)
	case reflect.Map:
		return b.mapping(v, n, name)
	case reflect.Slice:
		if n.kind != '[' {
			return mismatch(n, "a list")
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.list), len(n.list)))
		for i, e := range n.list {
			err = errors.Join(err, b.fill(v.Index(i), e, name))
		}
		return err
	case reflect.String:
		text, err := b.word(n, strings.HasSuffix(name, "TableName"))
		v.SetString(text)
		return err
	}
	if n.kind != 'w' {
		return mismatch(n, "a "+v.Kind().String())
	}
	if v.Kind() == reflect.Bool {
		yes, err := strconv.ParseBool(n.text)
		v.SetBool(yes)
		return err
	}
	number, err := strconv.ParseInt(n.text, 10, v.Type().Bits())
	v.SetInt(number)
	return err
}

// word returns a text. A word may be an abbreviation for one or, where a table is named, the name of a table of the
// case.
func (b builder) word(n node, table bool) (string, error) {
	switch {
	case n.kind == '"' && n.prefix == "":
		return b.expand(n.text)
	case n.kind != 'w':
		return "", mismatch(n, "a text")
	case table && b.w != nil:
		return b.w.name(n.text), nil
	}
	return n.text, nil
}

func (b builder) instant(v reflect.Value, n node) error {
	text, err := b.word(n, false)
	if err != nil || b.w == nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, text)
	if seconds, bad := strconv.ParseInt(text, 10, 64); bad == nil {
		at, err = time.Unix(seconds, 0).UTC(), nil
	}
	v.Set(reflect.ValueOf(at))
	return err
}

func (b builder) object(v reflect.Value, n node, name string) error {
	if n.kind != '{' {
		return mismatch(n, "an object for "+name)
	}
	if table := v.FieldByName("TableName"); table.IsValid() {
		_ = b.fill(table, node{kind: 'w', text: usualTable}, "TableName")
	}
	if name == "GetItem" || name == "Query" || name == "Scan" {
		v.FieldByName("ConsistentRead").Set(reflect.ValueOf(aws.Bool(true)))
	}
	for i, key := range n.keys {
		if create, ok := v.Addr().Interface().(*dynamodb.CreateTableInput); ok && key.text == "Schema" {
			text := repeated(n.list[i].text)
			if !schemaForm.MatchString(text) {
				return fmt.Errorf("found the schema %.40q, expected a key, as pk S, sk S", text)
			}
			table := create.TableName
			*create = *schema(text).input()
			create.TableName = table
			continue
		}
		f := v.FieldByName(key.text)
		if !f.IsValid() {
			return fmt.Errorf("found %s, expected a member of %s", key.text, name)
		}
		if n.list[i].kind == 'w' && n.list[i].text == "none" {
			f.SetZero()
			continue
		}
		if err := b.fill(f, n.list[i], key.text); err != nil {
			return fmt.Errorf("%s: %w", key.text, err)
		}
		if text, ok := f.Interface().(*string); ok && key.text == "Statement" && b.w != nil {
			f.Set(reflect.ValueOf(b.w.statement(*text)))
		}
	}
	return nil
}

func (b builder) mapping(v reflect.Value, n node, name string) error {
	if n.kind != '{' {
		return mismatch(n, "an object for "+name)
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i, k := range n.keys {
		key, err := b.word(k, name == "RequestItems")
		if err != nil {
			return err
		}
		e := reflect.New(v.Type().Elem()).Elem()
		if err := b.fill(e, n.list[i], ""); err != nil {
			return fmt.Errorf("%.40s: %w", key, err)
		}
		v.SetMapIndex(reflect.ValueOf(key), e)
	}
	return nil
}

var number = regexp.MustCompile(`^-?[0-9][0-9.]*$`)

// attribute makes an attribute value. It is nil for the word none.
func (b builder) attribute(n node) (types.AttributeValue, error) {
	switch n.kind {
	case '{':
		var m types.AttributeValueMemberM
		err := b.mapping(reflect.ValueOf(&m.Value).Elem(), n, "")
		return &m, err
	case '[':
		var l types.AttributeValueMemberL
		err := b.fill(reflect.ValueOf(&l.Value).Elem(), n, "")
		return &l, err
	case '<':
		return b.set(n)
	case '"':
		text, err := b.expand(n.text)
		switch n.prefix {
		case "N":
			return &types.AttributeValueMemberN{Value: text}, err
		case "B":
			return &types.AttributeValueMemberB{Value: []byte(text)}, err
		case "NULL":
			return &types.AttributeValueMemberNULL{Value: text == "true"}, err
		}
		return &types.AttributeValueMemberS{Value: text}, err
	}
	digits, binary := strings.CutPrefix(n.text, "0x")
	switch {
	case binary:
		value, err := hex.DecodeString(digits)
		return &types.AttributeValueMemberB{Value: value}, err
	case number.MatchString(n.text):
		return &types.AttributeValueMemberN{Value: n.text}, nil
	case n.text == "true" || n.text == "false":
		return &types.AttributeValueMemberBOOL{Value: n.text == "true"}, nil
	case n.text == "null":
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case n.text == "none":
		return nil, nil
	}
	return nil, mismatch(n, "an attribute value (a text has quotation marks)")
}

// set makes a set: of the type that precedes it, or else of its elements' type.
func (b builder) set(n node) (types.AttributeValue, error) {
	ss, ns, bs := []string{}, []string{}, [][]byte{}
	for _, e := range n.list {
		v, err := b.attribute(e)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			ss = append(ss, v.Value)
		case *types.AttributeValueMemberN:
			ns = append(ns, v.Value)
		case *types.AttributeValueMemberB:
			bs = append(bs, v.Value)
		default:
			return nil, mismatch(e, "a text, a number or a binary as an element of a set")
		}
	}
	switch {
	case len(n.list) == 0 && n.prefix == "":
		return nil, errors.New("found an empty set, expected its type before it: SS<>, NS<> or BS<>")
	case n.prefix == "NS" || len(ns) > 0 && len(ns) == len(n.list):
		return &types.AttributeValueMemberNS{Value: ns}, nil
	case n.prefix == "BS" || len(bs) > 0 && len(bs) == len(n.list):
		return &types.AttributeValueMemberBS{Value: bs}, nil
	case len(ss) == len(n.list):
		return &types.AttributeValueMemberSS{Value: ss}, nil
	}
	return nil, mismatch(n, "a set with elements of one type")
}
