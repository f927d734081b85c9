package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// operation is an operation and how its requests are drawn.
type operation struct {
	name string
	draw func(d draws) Request
}

// operations of a sequence, with their weights.
var operations = []weighted[operation]{
	{8, operation{"PutItem", draws.putItem}},
	{10, operation{"UpdateItem", draws.updateItem}},
	{3, operation{"DeleteItem", draws.deleteItem}},
	{4, operation{"GetItem", draws.getItem}},
	{6, operation{"Query", draws.query}},
	{4, operation{"Scan", draws.scan}},
	{5, operation{"TransactWriteItems", draws.transactWriteItems}},
	{2, operation{"TransactGetItems", draws.transactGetItems}},
	{2, operation{"BatchGetItem", draws.batchGetItem}},
	{2, operation{"BatchWriteItem", draws.batchWriteItem}},
	{9, operation{"ExecuteStatement", draws.executeStatement}},
	{3, operation{"BatchExecuteStatement", draws.batchExecuteStatement}},
	{3, operation{"ExecuteTransaction", draws.executeTransaction}},
}

// longest is the maximum number of requests in a sequence; the average is about 90.
const longest = 160

// Sequences draws sequences of requests.
func Sequences() *rapid.Generator[Sequence] {
	// A step and the decision to take it are one group, which rapid can remove from the middle.
	step := rapid.Custom(func(t *rapid.T) []Request {
		d := draws{t}
		switch {
		case d.below(128, "go on") == 0:
			return nil
		case d.chance(150, "life of a table"):
			return d.life()
		}
		list := operations
		if d.chance(8, "legacy") {
			list = legacyOperations
		}
		r := pick(d, "operation", list).draw(d)
		if d.chance(4, "broken") {
			r = d.broken(r)
		}
		return []Request{r}
	})
	return rapid.Custom(func(t *rapid.T) Sequence {
		s := Sequence{}
		for len(s) < longest {
			requests := step.Draw(t, "step")
			if requests == nil {
				break
			}
			s = append(s, requests...)
		}
		return s
	})
}

// someTable draws a table, mostly the one with indexes.
func (d draws) someTable() table { return tables[max(0, d.below(6, "table")-3)] }

// some sometimes gives a member one of the values.
func (d draws) some(body object, oneIn int, member string, values ...any) {
	if d.chance(oneIn, member) {
		body[member] = oneOf(d, member, values...)
	}
}

func (d draws) capacity(body object) {
	d.some(body, 4, "ReturnConsumedCapacity", "TOTAL", "INDEXES", "NONE")
}

// writeOptions are the options of the operations that write one item.
func (d draws) writeOptions(body object) {
	d.capacity(body)
	if body["ConditionExpression"] != nil {
		d.some(body, 2, "ReturnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
	}
}

// conditioned sometimes gives a write a condition.
func (e *expressions) conditioned(body object, oneIn int) {
	if e.chance(oneIn, "conditional") {
		body["ConditionExpression"] = e.condition(1)
	}
}

func (d draws) putItem() Request {
	t := d.someTable()
	e := newExpressions(d, t)
	body := object{"TableName": t.name, "Item": d.item(t)}
	e.conditioned(body, 3)
	d.some(body, 3, "ReturnValues", "ALL_OLD", "NONE")
	d.writeOptions(body)
	e.fill(body)
	return Request{Operation: "PutItem", Body: body}
}

func (d draws) updateItem() Request {
	t := d.someTable()
	e := newExpressions(d, t)
	body := object{"TableName": t.name, "Key": d.key(t)}
	if text := e.update(); text != "" && !d.chance(30, "no expression") {
		body["UpdateExpression"] = text
	} else {
		e = newExpressions(d, t)
	}
	e.conditioned(body, 3)
	d.some(body, 2, "ReturnValues", "ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD", "NONE")
	d.writeOptions(body)
	e.fill(body)
	return Request{Operation: "UpdateItem", Body: body}
}

func (d draws) deleteItem() Request {
	t := d.someTable()
	e := newExpressions(d, t)
	body := object{"TableName": t.name, "Key": d.key(t)}
	e.conditioned(body, 2)
	d.some(body, 3, "ReturnValues", "ALL_OLD", "NONE")
	d.writeOptions(body)
	e.fill(body)
	return Request{Operation: "DeleteItem", Body: body}
}

func (d draws) getItem() Request {
	t := d.someTable()
	e := newExpressions(d, t)
	body := object{"TableName": t.name, "Key": d.key(t), "ConsistentRead": true}
	if d.chance(3, "projected") {
		body["ProjectionExpression"] = e.projection()
	}
	d.capacity(body)
	e.fill(body)
	return Request{Operation: "GetItem", Body: body}
}

func (d draws) query() Request {
	t := d.someTable()
	e := newExpressions(d, t)
	body := object{"TableName": t.name}
	hash, sort := t.key[:1], t.key[1:]
	var over *index
	if len(t.indexes) > 0 && d.chance(2, "on an index") {
		x := oneOf(d, "index", t.indexes...)
		over, hash, sort = &x, x.hash, x.sort
		body["IndexName"] = x.name
	}
	body["KeyConditionExpression"] = e.keyCondition(hash, sort)
	if over == nil || over.local {
		body["ConsistentRead"] = true
	}
	d.some(body, 3, "ScanIndexForward", false, true)
	r := Request{Operation: "Query", Body: body}
	d.readOptions(&r, e)
	return r
}

func (d draws) scan() Request {
	t := d.someTable()
	e := newExpressions(d, t)
	body := object{"TableName": t.name, "ConsistentRead": true}
	if len(t.indexes) > 0 && d.chance(4, "of an index") {
		x := oneOf(d, "index", t.indexes...)
		body["IndexName"] = x.name
		if !x.local {
			delete(body, "ConsistentRead")
		}
	}
	if d.chance(4, "segments") {
		total := 1 + d.below(3, "TotalSegments")
		body["TotalSegments"], body["Segment"] = total, 0 // the other segments follow
	}
	r := Request{Operation: "Scan", Body: body}
	d.readOptions(&r, e)
	r.Pages = r.Pages || body["TotalSegments"] != nil
	return r
}

// readOptions are the options that Query and Scan share.
func (d draws) readOptions(r *Request, e *expressions) {
	if d.chance(2, "filtered") {
		r.Body["FilterExpression"] = e.condition(1)
	}
	switch d.below(8, "selection") {
	case 1, 2:
		r.Body["ProjectionExpression"] = e.projection()
	case 3:
		r.Body["Select"] = "COUNT"
	case 4:
		r.Body["Select"] = "ALL_ATTRIBUTES"
	case 5:
		if r.Body["IndexName"] != nil {
			r.Body["Select"] = "ALL_PROJECTED_ATTRIBUTES"
		}
	case 6:
		r.Body["ProjectionExpression"] = e.projection()
		r.Body["Select"] = "SPECIFIC_ATTRIBUTES"
	}
	if d.chance(3, "limited") {
		r.Body["Limit"] = 1 + d.below(4, "Limit")
		r.Pages = true
	}
	d.capacity(r.Body)
	e.fill(r.Body)
}

func (d draws) transactWriteItems() Request {
	actions := []any{}
	used := map[string]bool{}
	for range 1 + d.below(4, "actions") {
		t := d.someTable()
		e := newExpressions(d, t)
		body := object{"TableName": t.name}
		var name string
		switch d.below(5, "action") {
		case 0, 1:
			name, body["Item"] = "Put", d.item(t)
		case 2:
			if text := e.update(); text != "" {
				name, body["Key"], body["UpdateExpression"] = "Update", d.key(t), text
			} else {
				name, body["Key"] = "Delete", d.key(t)
			}
		case 3:
			name, body["Key"] = "Delete", d.key(t)
		case 4:
			name, body["Key"], body["ConditionExpression"] = "ConditionCheck", d.key(t), e.condition(1)
		}
		// The same item twice is an error, which is drawn elsewhere.
		key := t.name + string(encode(keyOf(t, body)))
		if used[key] {
			continue
		}
		used[key] = true
		if name != "ConditionCheck" {
			e.conditioned(body, 4)
		}
		if body["ConditionExpression"] != nil {
			d.some(body, 2, "ReturnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
		}
		e.fill(body)
		actions = append(actions, object{name: body})
	}
	body := object{"TransactItems": actions}
	d.capacity(body)
	if d.chance(3, "token") {
		body["ClientRequestToken"] = oneOf(d, "ClientRequestToken", "one-$RUN", "two-$RUN")
	}
	return Request{Operation: "TransactWriteItems", Body: body}
}

// keyOf returns the key of an item or a key, with one text per number.
func keyOf(t table, body object) object {
	from, ok := body["Item"].(object)
	if !ok {
		from, _ = body["Key"].(object)
	}
	key := object{}
	for _, a := range t.key {
		v, _ := from[a.name].(object)
		if v["N"] == "1.0" {
			v = object{"N": "1"}
		}
		key[a.name] = v
	}
	return key
}

func (d draws) transactGetItems() Request {
	list := []any{}
	used := map[string]bool{}
	for range 1 + d.below(4, "gets") {
		t := d.someTable()
		e := newExpressions(d, t)
		body := object{"TableName": t.name, "Key": d.key(t)}
		key := t.name + string(encode(keyOf(t, body)))
		if used[key] {
			continue
		}
		used[key] = true
		if d.chance(3, "projected") {
			body["ProjectionExpression"] = e.projection()
		}
		e.fill(body)
		list = append(list, object{"Get": body})
	}
	body := object{"TransactItems": list}
	d.capacity(body)
	return Request{Operation: "TransactGetItems", Body: body}
}

func (d draws) batchGetItem() Request {
	asked := object{}
	used := map[string]bool{}
	for range 1 + d.below(5, "gets") {
		t := d.someTable()
		key := d.key(t)
		text := t.name + string(encode(keyOf(t, object{"Key": key})))
		if used[text] {
			continue
		}
		used[text] = true
		of, ok := asked[t.name].(object)
		if !ok {
			of = object{"Keys": []any{}, "ConsistentRead": true}
			if d.chance(3, "projected") {
				e := newExpressions(d, t)
				of["ProjectionExpression"] = e.projection()
				e.fill(of)
			}
			asked[t.name] = of
		}
		of["Keys"] = append(of["Keys"].([]any), key)
	}
	body := object{"RequestItems": asked}
	d.capacity(body)
	return Request{Operation: "BatchGetItem", Body: body}
}

func (d draws) batchWriteItem() Request {
	asked := object{}
	used := map[string]bool{}
	for range 1 + d.below(5, "writes") {
		t := d.someTable()
		one := object{"Item": d.item(t)}
		name := "PutRequest"
		if d.chance(3, "delete") {
			name, one = "DeleteRequest", object{"Key": d.key(t)}
		}
		text := t.name + string(encode(keyOf(t, one)))
		if used[text] {
			continue
		}
		used[text] = true
		list, _ := asked[t.name].([]any)
		asked[t.name] = append(list, object{name: one})
	}
	body := object{"RequestItems": asked}
	d.capacity(body)
	return Request{Operation: "BatchWriteItem", Body: body}
}

// object is a JSON object, as in a request.
type object = map[string]any

// Request is one request of a sequence, as it goes over the wire.
type Request struct {
	// Operation is its name, such as "PutItem".
	Operation string
	// Body is its JSON. The text "$RUN" in it becomes a new number in each run of the sequence, because a store
	// remembers request tokens for longer than a sequence takes.
	Body object
	// Pages means that LastEvaluatedKey, or NextToken, is followed to the end.
	Pages bool
	// Ordered means that the items that a statement returns have an order.
	Ordered bool
	// Raw, if any, goes over the wire instead of Body.
	Raw string
	// Breaks names the mistake that was made on purpose, for the tally.
	Breaks string
}

// Sequence is a list of requests.
type Sequence []Request

// text returns the body that goes over the wire.
func (r Request) text(run int) []byte {
	body := []byte(r.Raw)
	if r.Raw == "" {
		body = encode(r.Body)
	}
	return bytes.ReplaceAll(body, []byte("$RUN"), fmt.Appendf(nil, "%d", run))
}

// with returns the request with one member changed; nil removes it.
func (r Request) with(member string, value any) Request {
	r.Body = maps.Clone(r.Body)
	if value == nil {
		delete(r.Body, member)
	} else {
		r.Body[member] = value
	}
	return r
}

// String returns the request for readers: a line that can be sent as it is.
func (r Request) String() string {
	text := r.Raw
	if r.Raw == "" {
		text = string(encode(r.Body))
	}
	text = r.Operation + " " + shorten(text)
	if r.Pages {
		text += " (and its further pages)"
	}
	if r.Breaks != "" {
		text += " (broken: " + r.Breaks + ")"
	}
	return text
}

// GoString returns a list of the requests, one per line, for rapid to print.
func (s Sequence) GoString() string {
	lines := make([]string, len(s))
	for i, r := range s {
		lines[i] = fmt.Sprintf("%3d. %s", i+1, r)
	}
	return fmt.Sprintf("%d requests\n%s", len(s), strings.Join(lines, "\n"))
}

// shorten cuts long runs of text, which say nothing.
func shorten(text string) string {
	const most = 4000
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s ... %d bytes", text[:most], len(text))
}

// encode returns JSON without the escapes that only a browser needs.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("differential: %v", err)) // objects, lists and texts only
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
