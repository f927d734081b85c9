package rowmap

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table describes a table of a cache.
type Table struct {
	Create *dynamodb.CreateTableInput
	TTL    *dynamodb.UpdateTimeToLiveInput // nil if no row in it has a ttl
}

// Tables describes the tables of the mapping's rows. Rows that name no table are in the table with the given name.
func (m *Mapping) Tables(name string) []Table {
	var all []Table
	for i := range m.entries {
		e := &m.entries[i]
		of := cmp.Or(e.table, name)
		at := slices.IndexFunc(all, func(t Table) bool { return *t.Create.TableName == of })
		if at < 0 {
			at = len(all)
			all = append(all, Table{Create: e.create(of)})
		}
		for _, x := range e.indexes {
			in := all[at].Create
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: aws.String(x.name), KeySchema: define(in, x.keys...),
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			})
		}
		if t := &all[at]; t.TTL == nil && e.ttl.is() {
			t.TTL = &dynamodb.UpdateTimeToLiveInput{
				TableName: aws.String(of),
				TimeToLiveSpecification: &types.TimeToLiveSpecification{
					AttributeName: aws.String(e.ttl.name), Enabled: aws.Bool(true),
				},
			}
		}
	}
	return all
}

// Expires reports whether TTL may delete a row.
func (m *Mapping) Expires() bool {
	return m.translate != nil || slices.ContainsFunc(m.entries, func(e entry) bool { return e.ttl.is() })
}

func (e *entry) create(table string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest}
	in.KeySchema = define(in, e.partition, e.sort)
	return in
}

// define returns a key of a table or an index: its partition key, and its sort key, which may have no name. It adds the
// definitions that the table lacks.
func define(in *dynamodb.CreateTableInput, keys ...keyAttribute) (schema []types.KeySchemaElement) {
	for i, k := range keys {
		if k.name == "" {
			continue
		}
		name, kind := aws.String(k.name), [...]types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
		schema = append(schema, types.KeySchemaElement{AttributeName: name, KeyType: kind})
		defined := func(d types.AttributeDefinition) bool { return *d.AttributeName == k.name }
		if !slices.ContainsFunc(in.AttributeDefinitions, defined) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: name, AttributeType: types.ScalarAttributeType(k.kind),
			})
		}
	}
	return schema
}
