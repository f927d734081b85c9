package differential

// The legacy parameters, which were replaced by expressions.

// comparison draws a condition, in legacy parameters, for an attribute of a type; "" is any type.
func (d draws) comparison(kind string) object {
	if kind == "" {
		kind = d.kind("type")
	}
	c := func(operator string, values ...any) object {
		if values == nil {
			return object{"ComparisonOperator": operator}
		}
		return object{"ComparisonOperator": operator, "AttributeValueList": values}
	}
	scalar := kind == "S" || kind == "N" || kind == "B"
	k := d.below(8, "comparison")
	switch {
	case k == 0:
		return c(oneOf(d, "operator", "NULL", "NOT_NULL"))
	case k <= 2 || !scalar:
		return c(oneOf(d, "operator", "EQ", "NE"), d.value(kind, 1))
	case k == 3:
		low, high := inOrderOf(d.value(kind, 0), d.value(kind, 0))
		return c("BETWEEN", low, high)
	case k == 4:
		return c("IN", d.value(kind, 0), d.value(kind, 0))
	case k == 5 && kind != "N":
		return c("BEGINS_WITH", d.value(kind, 0))
	case k == 6:
		return c(oneOf(d, "operator", "CONTAINS", "NOT_CONTAINS"), d.value(kind, 0))
	}
	return c(oneOf(d, "operator", "LT", "LE", "GT", "GE"), d.value(kind, 0))
}

// comparisons draws one to three conditions on attributes that are not keys of the table.
func (d draws) comparisons(t table, one func(kind string) object) object {
	all := object{}
	for range 1 + d.below(3, "conditions") {
		a := oneOf(d, "attribute", plain...)
		if !t.isKey(a.name) && t.indexed(a.name) == "" {
			all[a.name] = one(a.kind)
		}
	}
	if len(all) == 0 {
		all["x"] = one("")
	}
	return all
}

// joined gives conditions an operator, sometimes.
func (d draws) joined(body object, conditions object) {
	if len(conditions) > 1 {
		d.some(body, 2, "ConditionalOperator", "AND", "OR")
	}
}

// expected gives a write a condition, sometimes.
func (d draws) expected(t table, body object, oneIn int) {
	if !d.chance(oneIn, "expected") {
		return
	}
	all := d.comparisons(t, func(kind string) object {
		switch d.below(5, "expectation") {
		case 0:
			return object{"Exists": false}
		case 1:
			return object{"Value": d.value(kind, 1)}
		case 2:
			return object{"Exists": true, "Value": d.value(kind, 1)}
		}
		return d.comparison(kind)
	})
	body["Expected"] = all
	d.joined(body, all)
}

// names gives a read a list of attributes, sometimes.
func (d draws) names(body object) {
	if !d.chance(2, "attributes") {
		return
	}
	all := []string{"x", "pk", "m", "l", "num", "y", "g", "status", "a.b", "sk", "absent"}
	list := []any{}
	first := d.below(len(all), "first")
	for i := range 1 + d.below(4, "names") {
		list = append(list, all[(first+i)%len(all)])
	}
	body["AttributesToGet"] = list
}

func (d draws) legacyPutItem() Request {
	t := d.someTable()
	body := object{"TableName": t.name, "Item": d.item(t)}
	d.expected(t, body, 1)
	d.some(body, 3, "ReturnValues", "ALL_OLD", "NONE")
	d.writeOptions(body)
	return Request{Operation: "PutItem", Body: body}
}

func (d draws) legacyDeleteItem() Request {
	t := d.someTable()
	body := object{"TableName": t.name, "Key": d.key(t)}
	d.expected(t, body, 1)
	d.some(body, 3, "ReturnValues", "ALL_OLD", "NONE")
	d.writeOptions(body)
	return Request{Operation: "DeleteItem", Body: body}
}

func (d draws) legacyUpdateItem() Request {
	t := d.someTable()
	updates := object{}
	for range 1 + d.below(3, "updates") {
		a := oneOf(d, "attribute", plain...)
		if t.isKey(a.name) {
			continue
		}
		updates[a.name] = d.attributeUpdate(t, a)
	}
	body := object{"TableName": t.name, "Key": d.key(t), "AttributeUpdates": updates}
	if len(updates) == 0 {
		delete(body, "AttributeUpdates")
	}
	d.expected(t, body, 3)
	d.some(body, 2, "ReturnValues", "ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD", "NONE")
	d.writeOptions(body)
	return Request{Operation: "UpdateItem", Body: body}
}

func (d draws) attributeUpdate(t table, a attribute) object {
	switch d.below(6, "action") {
	case 0:
		return object{"Action": "DELETE"}
	case 1:
		if a.kind == "SS" || a.kind == "NS" || a.kind == "BS" {
			action, value := oneOf(d, "action", "ADD", "DELETE"), d.value(a.kind, 1)
			if a.kind == "NS" && action == "DELETE" {
				// DynamoDB Local does not find a number whose form in the set differs, such as 1E-130, and does not
				// report that.
				value = object{"NS": distinct(d, "NS", []string{"1", "2", "-1", "100", "10"})}
			}
			return object{"Action": action, "Value": value}
		}
	case 2:
		if (a.kind == "N" || a.kind == "L") && t.indexed(a.name) == "" {
			return object{"Action": "ADD", "Value": d.value(a.kind, 1)}
		}
	}
	// DynamoDB Local ignores a change without an action, which is a PUT.
	return object{"Action": "PUT", "Value": d.attributeValue(t, a)}
}

func (d draws) legacyGetItem() Request {
	t := d.someTable()
	body := object{"TableName": t.name, "Key": d.key(t), "ConsistentRead": true}
	d.names(body)
	d.capacity(body)
	return Request{Operation: "GetItem", Body: body}
}

func (d draws) legacyBatchGetItem() Request {
	r := d.batchGetItem()
	asked := r.Body["RequestItems"].(object)
	for _, name := range sortedKeys(asked) {
		of := asked[name].(object)
		delete(of, "ProjectionExpression")
		delete(of, "ExpressionAttributeNames")
		d.names(of)
	}
	return r
}

var legacyOperations = []weighted[operation]{
	{2, operation{"PutItem", draws.legacyPutItem}},
	{3, operation{"UpdateItem", draws.legacyUpdateItem}},
	{1, operation{"DeleteItem", draws.legacyDeleteItem}},
	{1, operation{"GetItem", draws.legacyGetItem}},
	{1, operation{"BatchGetItem", draws.legacyBatchGetItem}},
	{2, operation{"Query", draws.legacyQuery}},
	{2, operation{"Scan", draws.legacyScan}},
}

// legacyReadOptions are the options that Query and Scan share.
func (d draws) legacyReadOptions(t table, r *Request, filter string) {
	if d.chance(2, "filtered") {
		all := d.comparisons(t, d.comparison)
		r.Body[filter] = all
		d.joined(r.Body, all)
	}
	if d.names(r.Body); r.Body["AttributesToGet"] == nil {
		d.some(r.Body, 3, "Select", "COUNT", "ALL_ATTRIBUTES")
	} else {
		d.some(r.Body, 3, "Select", "SPECIFIC_ATTRIBUTES")
	}
	if d.chance(3, "limited") {
		r.Body["Limit"] = 1 + d.below(4, "Limit")
		r.Pages = true
	}
	d.capacity(r.Body)
}

func (d draws) legacyQuery() Request {
	t := d.someTable()
	body := object{"TableName": t.name}
	hash, sort, local := t.key[0], t.key[1:], true
	if len(t.indexes) > 0 && d.chance(3, "on an index") {
		if x := oneOf(d, "index", t.indexes...); len(x.hash) == 1 {
			hash, sort, local, body["IndexName"] = x.hash[0], x.sort, x.local, x.name
		}
	}
	is := func(operator string, values ...any) object {
		return object{"ComparisonOperator": operator, "AttributeValueList": values}
	}
	keys := object{hash.name: is("EQ", d.keyValue(hash))}
	if len(sort) > 0 && d.chance(2, "range") {
		a := sort[0]
		switch k := d.below(5, "comparison"); {
		case k == 0 && a.kind != "N":
			keys[a.name] = is("BEGINS_WITH", d.keyValue(a))
		case k <= 2:
			low, high := inOrderOf(d.keyValue(a), d.keyValue(a))
			keys[a.name] = is("BETWEEN", low, high)
		default:
			keys[a.name] = is(oneOf(d, "operator", "EQ", "LT", "LE", "GT", "GE"), d.keyValue(a))
		}
	}
	body["KeyConditions"] = keys
	if local {
		body["ConsistentRead"] = true
	}
	d.some(body, 3, "ScanIndexForward", false, true)
	r := Request{Operation: "Query", Body: body}
	d.legacyReadOptions(t, &r, "QueryFilter")
	return r
}

func (d draws) legacyScan() Request {
	t := d.someTable()
	r := Request{Operation: "Scan", Body: object{"TableName": t.name, "ConsistentRead": true}}
	d.legacyReadOptions(t, &r, "ScanFilter")
	return r
}
