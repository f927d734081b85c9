package differential

import (
	"strings"
)

// The tables of every sequence: few keys, so that operations meet, and every kind of key and of index.
var tables = []table{
	{
		name: "differential-rows",
		key:  []attribute{{"pk", "S"}, {"sk", "S"}},
		indexes: []index{
			{name: "byGroup", hash: []attribute{{"g", "S"}}, sort: []attribute{{"n", "N"}}, projection: "ALL"},
			{name: "byHeight", hash: []attribute{{"h", "N"}}, projection: "KEYS_ONLY"},
			{
				name: "byBoth", hash: []attribute{{"g", "S"}, {"h", "N"}}, sort: []attribute{{"n", "N"}, {"b", "B"}},
				projection: "INCLUDE", include: []any{"x", "m"},
			},
			{name: "localNumber", local: true, hash: []attribute{{"pk", "S"}},
				sort: []attribute{{"n", "N"}}, projection: "ALL"},
			{
				name: "localBytes", local: true, hash: []attribute{{"pk", "S"}}, sort: []attribute{{"b", "B"}},
				projection: "INCLUDE", include: []any{"x", "l"},
			},
		},
	},
	{name: "differential-numbers", key: []attribute{{"id", "N"}}},
	{name: "differential-bytes", key: []attribute{{"pk", "B"}, {"sk", "N"}}},
}

// attribute is a key attribute and its type.
type attribute struct{ name, kind string }

// table is a table of the sequences.
type table struct {
	name    string
	key     []attribute
	indexes []index
}

// index is a secondary index.
type index struct {
	name       string
	local      bool
	hash, sort []attribute
	projection string
	include    []any
}

func (x index) attributes() []attribute { return append(x.hash[:len(x.hash):len(x.hash)], x.sort...) }

// isKey says whether an attribute belongs to the table's own key.
func (t table) isKey(name string) bool {
	for _, a := range t.key {
		if a.name == name {
			return true
		}
	}
	return false
}

// indexed returns the type that an attribute must have for an index, "" for any.
func (t table) indexed(name string) string {
	for _, x := range t.indexes {
		for _, a := range x.attributes() {
			if a.name == name {
				return a.kind
			}
		}
	}
	return ""
}

// create is the request that creates the table.
func (t table) create() Request {
	defined := object{}
	define := func(list []attribute) {
		for _, a := range list {
			defined[a.name] = a.kind
		}
	}
	define(t.key)
	body := object{"TableName": t.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema(t.key[:1], t.key[1:])}
	var global, local []any
	for _, x := range t.indexes {
		define(x.attributes())
		projection := object{"ProjectionType": x.projection}
		if x.include != nil {
			projection["NonKeyAttributes"] = x.include
		}
		made := object{"IndexName": x.name, "KeySchema": keySchema(x.hash, x.sort), "Projection": projection}
		if x.local {
			local = append(local, made)
		} else {
			global = append(global, made)
		}
	}
	if global != nil {
		body["GlobalSecondaryIndexes"] = global
	}
	if local != nil {
		body["LocalSecondaryIndexes"] = local
	}
	var definitions []any
	for _, name := range sortedKeys(defined) {
		definitions = append(definitions, object{"AttributeName": name, "AttributeType": defined[name]})
	}
	body["AttributeDefinitions"] = definitions
	return Request{Operation: "CreateTable", Body: body}
}

func keySchema(hash, sort []attribute) []any {
	var elements []any
	for _, a := range hash {
		elements = append(elements, object{"AttributeName": a.name, "KeyType": "HASH"})
	}
	for _, a := range sort {
		elements = append(elements, object{"AttributeName": a.name, "KeyType": "RANGE"})
	}
	return elements
}

// tableNamed returns the table of that name or ARN.
func tableNamed(name string) (table, bool) {
	for _, t := range tables {
		if t.name == name || strings.HasSuffix(name, ":table/"+t.name) {
			return t, true
		}
	}
	return table{}, false
}
