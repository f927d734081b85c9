package gen

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/conformance/differential"
)

// Table is a table whose keys are strings. The keys must not have the same names as attributes of Rows.
type Table struct {
	Name      string
	Partition string // the name of the partition key
	Sort      string // the name of the sort key; "" for a table without one
}

// attributes returns the names of the attributes that Rows have besides their keys, and that expressions use. An
// attribute usually has its usual type, and seldom another one: n, h, num and a.b are numbers, g, str and status texts,
// b is binary, m a map, l a list, ss, ns and bs are sets, x and y of any type.
func attributes() []string {
	var names []string
	for _, a := range differential.Attributes() {
		names = append(names, a.Name)
	}
	return names
}

// check ends a test whose table cannot be used.
func (t Table) check(rt *rapid.T) {
	if t.Partition == "" {
		rt.Fatalf("gen: the Table %q has no name of a partition key; want one, such as pk", t.Name)
	}
	if t.Partition == t.Sort {
		rt.Fatalf("gen: the Table %q has two keys named %s; want two names", t.Name, t.Sort)
	}
	for _, name := range t.keys() {
		if slices.Contains(attributes(), name) {
			rt.Fatalf("gen: the Table %q has a key named %s, as an attribute of its rows is; want none of %s",
				t.Name, name, strings.Join(attributes(), ", "))
		}
	}
}

// keys are the names of the table's key attributes.
func (t Table) keys() []string {
	if t.Sort == "" {
		return []string{t.Partition}
	}
	return []string{t.Partition, t.Sort}
}

func (t Table) key(row attr.Item) attr.Item {
	key := attr.Item{}
	for _, name := range t.keys() {
		key[name] = row[name]
	}
	return key
}

// Create is the request that creates the table, with on-demand billing.
func (t Table) Create() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &t.Name, BillingMode: types.BillingModePayPerRequest}
	for i, name := range t.keys() {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{
			AttributeName: &name, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i],
		})
	}
	return in
}

// Keys draws keys of rows. There are few of them, so that operations often meet at the same row.
func (t Table) Keys() *rapid.Generator[attr.Item] {
	return rapid.Custom(func(rt *rapid.T) attr.Item {
		t.check(rt)
		key := attr.Item{}
		for _, name := range t.keys() {
			key[name] = attr.S(rapid.SampledFrom(differential.KeyTexts()).Draw(rt, name))
		}
		return key
	})
}

// Rows draws rows. A row has a key of Keys, and some of the attributes.
func (t Table) Rows() *rapid.Generator[attr.Item] {
	return rapid.Custom(func(rt *rapid.T) attr.Item {
		row := itemOf(differential.Row(rt))
		key := t.Keys().Draw(rt, "key")
		for _, name := range t.keys() {
			row[name] = key[name]
		}
		return row
	})
}

// Faults draws faults that end by themselves, of any kind. They strike calls of the table that read or write single
// rows, or that come in pages. They begin at the first, second or third such call, and strike once or twice in a row. A
// caller that tries three times succeeds.
func (t Table) Faults() *rapid.Generator[ddbfake.Fault] {
	return rapid.Custom(func(rt *rapid.T) ddbfake.Fault {
		f := ddbfake.Fault{
			Kind:  rapid.SampledFrom(ddbfake.FaultKinds()).Draw(rt, "fault"),
			Table: t.Name,
			Nth:   rapid.IntRange(1, 3).Draw(rt, "nth"),
			Times: rapid.IntRange(1, 2).Draw(rt, "times"),
		}
		switch f.Kind {
		case ddbfake.FaultStaleRead:
			f.Op = "GetItem"
		case ddbfake.FaultUnprocessed:
			f.Op = rapid.SampledFrom([]string{"BatchGetItem", "BatchWriteItem"}).Draw(rt, "operation")
		case ddbfake.FaultShortPage:
			f.Op = rapid.SampledFrom([]string{"Query", "Scan"}).Draw(rt, "operation")
		case ddbfake.FaultConflict:
			f.Op = rapid.SampledFrom([]string{"PutItem", "UpdateItem", "DeleteItem"}).Draw(rt, "operation")
		default:
			f.Op = rapid.SampledFrom([]string{"", "GetItem", "PutItem", "UpdateItem", "DeleteItem"}).
				Draw(rt, "operation")
		}
		return f
	})
}
