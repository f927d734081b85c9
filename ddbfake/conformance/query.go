package conformance

func queryCases() []Case {
	rows := []attrs{
		row("p", "a", "v", 1), row("p", "ab", "v", 2), row("p", "abc", "v", 3), row("p", "b", "v", 4), row("p", "é", "v", 5),
		row("q", "a", "v", 6),
	}
	args := func(v attrs) option {
		v[":p"] = "p"
		return with(v)
	}
	type selection struct {
		name, rule, source, keys string
		options                  []option
		want                     string
	}
	var cases []Case
	sk := only("sk")
	for _, q := range []selection{
		{"partition", "A query returns one partition in the order of its sort key.", api("Query"), "pk = :p", []option{args(attrs{}), sk}, `5 of 5: {sk: "a"} {sk: "ab"} {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"backwards", "ScanIndexForward false turns the order round.", api("Query"), "pk = :p", []option{args(attrs{}), sk, backwards()}, `5 of 5: {sk: "é"} {sk: "b"} {sk: "abc"} {sk: "ab"} {sk: "a"}`},
		{"no such partition", "A partition that is not there is an empty page.", api("Query"), "pk = :p", []option{with(attrs{":p": "none"})}, "0 of 0"},
		{"equal", "= on the sort key.", docKeyConditions, "pk = :p AND sk = :s", []option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "ab"}`},
		{"less", "< on the sort key.", docKeyConditions, "pk = :p AND sk < :s", []option{args(attrs{":s": "abc"}), sk}, `2 of 2: {sk: "a"} {sk: "ab"}`},
		{"less or equal", "<= on the sort key.", docKeyConditions, "pk = :p AND sk <= :s", []option{args(attrs{":s": "ab"}), sk}, `2 of 2: {sk: "a"} {sk: "ab"}`},
		{"greater", "> on the sort key.", docKeyConditions, "pk = :p AND sk > :s", []option{args(attrs{":s": "abc"}), sk}, `2 of 2: {sk: "b"} {sk: "é"}`},
		{"greater or equal", ">= on the sort key.", docKeyConditions, "pk = :p AND sk >= :s", []option{args(attrs{":s": "b"}), sk}, `2 of 2: {sk: "b"} {sk: "é"}`},
		{"between", "BETWEEN includes both bounds.", docKeyConditions, "pk = :p AND sk BETWEEN :s AND :t", []option{args(attrs{":s": "ab", ":t": "b"}), sk}, `3 of 3: {sk: "ab"} {sk: "abc"} {sk: "b"}`},
		{"begins_with", "begins_with on the sort key.", docKeyConditions, "pk = :p AND begins_with(sk, :s)", []option{args(attrs{":s": "ab"}), sk}, `2 of 2: {sk: "ab"} {sk: "abc"}`},
		{"begins_with backwards", "A range is read backwards from its end.", docKeyConditions, "pk = :p AND begins_with(sk, :s)", []option{args(attrs{":s": "a"}), sk, backwards(), limit(2)}, `2 of 2: {sk: "abc"} {sk: "ab"}; last {pk: "p", sk: "ab"}`},
		{"either order", "The two conditions come in either order.", docKeyConditions, "sk = :s AND pk = :p", []option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "ab"}`},
		{"parentheses", "A key condition may have parentheses.", docKeyConditions, "(pk = :p) AND (sk = :s)", []option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "ab"}`},
		{"value first", "The value may come first.", alternator + "test_key_condition_expression.py", ":p = pk AND :s > sk", []option{args(attrs{":s": "ab"}), sk}, `1 of 1: {sk: "a"}`},
		{"names", "Names may be placeholders.", docNames, "#p = :p", []option{args(attrs{}), named("#p", "pk"), selecting("COUNT")}, "5 of 5"},
		{"filter", "A filter is applied after reading: count and scanned count tell.", docFilters, "pk = :p", []option{args(attrs{":v": 3}), filter("v >= :v"), sk}, `3 of 5: {sk: "abc"} {sk: "b"} {sk: "é"}`},
		{"filter on a missing attribute", "A filter judges a missing attribute as a condition does.", docFilters, "pk = :p", []option{args(attrs{":v": 3}), filter("absent < :v"), sk}, "0 of 5"},
		{"count", "COUNT returns no items.", api("Query"), "pk = :p", []option{args(attrs{}), selecting("COUNT")}, "5 of 5"},
		{"count with a filter", "COUNT counts what the filter leaves.", api("Query"), "pk = :p", []option{args(attrs{":v": 3}), filter("v = :v"), selecting("COUNT")}, "1 of 5"},
		{"specific attributes", "SPECIFIC_ATTRIBUTES goes with a projection.", api("Query"), "pk = :p AND sk = :s", []option{args(attrs{":s": "a"}), selecting("SPECIFIC_ATTRIBUTES"), only("v")}, "1 of 1: {v: 1}"},
		{"capacity", "A query takes units for what it read, half if eventually consistent.", docCapacity, "pk = :p", []option{args(attrs{}), selecting("COUNT"), capacity("TOTAL"), eventually()}, "5 of 5; 0.5 units"},

		{"no partition key", "A query is about one partition.", dynalite + "query.js", "sk = :s", []option{with(attrs{":s": "a"})}, invalid("Query condition missed key schema element: pk")},
		{"inequality on the partition key", "A partition key is given by equality.", dynalite + "query.js", "pk > :p", []option{args(attrs{})}, invalid("Query key condition not supported")},
		{"inequality of the sort key", "<> is no key condition.", dynalite + "query.js", "pk = :p AND sk <> :s", []option{args(attrs{":s": "a"})}, invalid("Invalid operator used in KeyConditionExpression: <>")},
		{"OR", "OR is no key condition.", dynalite + "query.js", "pk = :p OR sk = :s", []option{args(attrs{":s": "a"})}, invalid("Invalid operator used in KeyConditionExpression: OR")},
		{"NOT", "NOT is no key condition.", dynalite + "query.js", "NOT pk = :p", []option{args(attrs{})}, invalid("Invalid operator used in KeyConditionExpression: NOT")},
		{"IN", "IN is no key condition.", dynalite + "query.js", "pk IN (:p)", []option{args(attrs{})}, invalid("Invalid operator used in KeyConditionExpression: IN")},
		{"contains", "contains is no key condition.", dynalite + "query.js", "pk = :p AND contains(sk, :s)", []option{args(attrs{":s": "a"})}, invalid("Invalid operator used in KeyConditionExpression: contains")},
		{"two conditions on a key", "A key has one condition.", dynalite + "query.js", "pk = :p AND sk > :s AND sk < :t", []option{args(attrs{":s": "a", ":t": "b"})}, invalid("KeyConditionExpressions must only contain one condition per key")},
		{"no key attribute", "A key condition is about the key.", dynalite + "query.js", "pk = :p AND v = :v", []option{args(attrs{":v": 1})}, invalid("Query condition missed key schema element: sk")},
		{"three conditions", "A key has two attributes at most.", dynalite + "query.js", "pk = :p AND sk = :s AND v = :v", []option{args(attrs{":s": "a", ":v": 1})}, invalid("Conditions can be of length 1 or 2 only")},
		{"nested key", "A key is no nested attribute.", dynalite + "query.js", "pk.x = :p", []option{args(attrs{})}, invalid("KeyConditionExpressions cannot have conditions on nested attributes")},
		{"key of another type", "A key value has the key's type.", dynalite + "query.js", "pk = :p", []option{with(attrs{":p": 1})}, badParameter("Condition parameter type does not match schema type")},
		{"sort key of another type", "So has the sort key's.", dynalite + "query.js", "pk = :p AND sk > :s", []option{args(attrs{":s": 1})}, badParameter("Condition parameter type does not match schema type")},
		{"empty key value", "A key value is not empty.", docTypes, "pk = :p", []option{with(attrs{":p": ""})}, invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk")},
		{"undefined value", "A value is defined.", docValues, "pk = :p AND sk = :s", []option{args(attrs{})}, invalid("Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; attribute value: :s")},
		{"unused value", "A value is used.", docValues, "pk = :p", []option{args(attrs{":x": 1})}, invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}")},
		{"bounds upside down", "BETWEEN's bounds come in order.", dynalite + "query.js", "pk = :p AND sk BETWEEN :s AND :t", []option{args(attrs{":s": "z", ":t": "a"})}, invalid("Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {S:z}, upper bound operand: AttributeValue: {S:a}")},
		{"filter on a key", "A filter is not about the key.", docFilters, "pk = :p", []option{args(attrs{":s": "a"}), filter("sk = :s")}, invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: sk")},
		{"reserved word", "A reserved word is no name.", docReserved, "status = :p", []option{args(attrs{})}, invalid("Invalid KeyConditionExpression: Attribute name is a reserved keyword; reserved keyword: status")},
		{"no condition", "A query has a key condition.", dynalite + "query.js", "", []option{set("KeyConditionExpression", nil)}, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")},
		{"empty condition", "A key condition is not empty.", dynalite + "query.js", "", []option{}, invalid("Invalid KeyConditionExpression: The expression can not be empty;")},
		{"projection with COUNT", "COUNT has no projection.", dynalite + "query.js", "pk = :p", []option{args(attrs{}), sk, selecting("COUNT")}, invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")},
		{"projection with all attributes", "ALL_ATTRIBUTES has no projection.", dynalite + "query.js", "pk = :p", []option{args(attrs{}), sk, selecting("ALL_ATTRIBUTES")}, invalid("Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES")},
		{"projected attributes", "ALL_PROJECTED_ATTRIBUTES is for indexes.", dynalite + "query.js", "pk = :p", []option{args(attrs{}), selecting("ALL_PROJECTED_ATTRIBUTES")}, invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")},
		{"no such selection", "Select has four values.", dynalite + "query.js", "pk = :p", []option{args(attrs{}), selecting("SOME")}, broken("Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]")},
		{"limit zero", "A limit is positive.", "https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier3/error-messages/query.test.ts", "pk = :p", []option{args(attrs{}), limit(0)}, broken("Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1")},
	} {
		cases = append(cases, Case{
			Name: q.name, Rule: q.rule, Source: q.source, rows: rows,
			steps: []step{expect(query(q.keys, q.options...), q.want)},
		})
	}
	return cases
}
