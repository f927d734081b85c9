package differential

import "strings"

// The edges of sizes and of nesting, by AWS's documentation: on each of them and one step beyond.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	edgeItem      = 400 << 10
	edgeHash      = 2048
	edgeSort      = 1024
	edgeDepth     = 32
	edgeName      = 1<<16 - 1
	edgeText      = 4096
	edgeOperators = 300
	edgeIn        = 100
)

// edge is a kind of request at an edge: by says how far beyond it.
type edge struct {
	name string
	draw func(d draws, by int) Request
}

// putAt is a PutItem of a row of the first table.
func putAt(item object) Request {
	whole := object{"pk": object{"S": "a"}, "sk": object{"S": "a"}}
	for _, name := range sortedKeys(item) {
		whole[name] = item[name]
	}
	return Request{Operation: "PutItem", Body: object{"TableName": tables[0].name, "Item": whole}}
}

// updateAt is an UpdateItem of that row.
func updateAt(expression string, values object) Request {
	body := object{"TableName": tables[0].name, "Key": object{"pk": object{"S": "a"}, "sk": object{"S": "a"}},
		"UpdateExpression": expression}
	if values != nil {
		body["ExpressionAttributeValues"] = values
	}
	return Request{Operation: "UpdateItem", Body: body}
}

// filteredAt is a Scan with a filter.
func filteredAt(filter string, values object) Request {
	body := object{"TableName": tables[0].name, "FilterExpression": filter}
	if values != nil {
		body["ExpressionAttributeValues"] = values
	}
	return Request{Operation: "Scan", Body: body}
}

func texts(n int) object { return object{"S": strings.Repeat("x", n)} }

// nested is a value of that many levels.
func (d draws) nested(levels int) object {
	v := object{"N": "1"}
	asMap := d.chance(2, "map")
	for range levels - 1 {
		if asMap {
			v = object{"M": object{"k": v}}
		} else {
			v = object{"L": []any{v}}
		}
	}
	return v
}

// edges are drawn one in some hundred requests: some are large.
var edges = []weighted[edge]{
	// The names and values of the key take 6 bytes, the name x takes one.
	{2, edge{"item of 400 KB", func(_ draws, by int) Request { return putAt(object{"x": texts(edgeItem - 7 + by)}) }}},
	{1, edge{"update to 400 KB", func(_ draws, by int) Request {
		return updateAt("SET x = :x", object{":x": texts(edgeItem - 7 + by)})
	}}},
	{3, edge{"partition key", func(_ draws, by int) Request { return putAt(object{"pk": texts(edgeHash + by)}) }}},
	{3, edge{"sort key", func(_ draws, by int) Request { return putAt(object{"sk": texts(edgeSort + by)}) }}},
	{3, edge{"partition key of an index",
		func(_ draws, by int) Request { return putAt(object{"g": texts(edgeHash + by), "n": object{"N": "1"}}) }}},
	{3, edge{"key to get", func(_ draws, by int) Request {
		return Request{Operation: "GetItem", Body: object{
			"TableName": tables[0].name, "Key": object{"pk": object{"S": "a"}, "sk": texts(edgeSort + by)},
		}}
	}}},
	{3, edge{"levels of an item",
		func(d draws, by int) Request { return putAt(object{"x": d.nested(edgeDepth + by)}) }}},
	{3, edge{"levels of a value", func(d draws, by int) Request {
		return updateAt("SET x = :x", object{":x": d.nested(edgeDepth + by)})
	}}},
	{3, edge{"levels of a path", func(_ draws, by int) Request {
		return filteredAt("attribute_exists(m"+strings.Repeat(".x", edgeDepth-1+by)+")", nil)
	}}},
	// Local fails on names of some thousand bytes.
	{1, edge{"name of an attribute", func(_ draws, by int) Request {
		return putAt(object{strings.Repeat("n", 255+by*(edgeName+1-255)): object{"N": "1"}})
	}}},
	{3, edge{"text of an expression", func(_ draws, by int) Request {
		return filteredAt("attribute_exists("+strings.Repeat("x", edgeText-18+by)+")", nil)
	}}},
	{3, edge{"operators", func(_ draws, by int) Request {
		// n comparisons and the AND between them
		term := "x = :x"
		return filteredAt(term+strings.Repeat(" AND "+term, edgeOperators/2-1)+strings.Repeat(" OR NOT "+term, by),
			object{":x": object{"N": "1"}})
	}}},
	{3, edge{"operands of IN", func(_ draws, by int) Request {
		return filteredAt("x IN (:x"+strings.Repeat(", :x", edgeIn-1+by)+")", object{":x": object{"N": "1"}})
	}}},
	{3, edge{"name of a table", func(d draws, by int) Request {
		n := oneOf(d, "end", 255+by, 3-by)
		return Request{Operation: "GetItem", Body: object{
			"TableName": strings.Repeat("n", n), "Key": object{"pk": object{"S": "a"}},
		}}
	}}},
}

// edge draws a request at an edge, or one step beyond.
func (d draws) edge() Request {
	e := pick(d, "edge", edges)
	by := d.below(2, "beyond")
	r := e.draw(d, by)
	r.Edge = e.name
	if by > 0 {
		r.Edge += " exceeded"
	}
	return r
}
