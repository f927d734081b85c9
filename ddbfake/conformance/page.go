package conformance

import "fmt"

func pageCases() []Case {
	rows := []attrs{row("p", "a", "v", 1), row("p", "b", "v", 2), row("p", "c", "v", 3), row("q", "a", "v", 4)}
	page := func(options ...option) request {
		return query("pk = :p", append([]option{with(attrs{":p": "p"}), only("sk")}, options...)...)
	}
	var large []attrs
	for i := range 20 {
		large = append(large, row("p", fmt.Sprintf("%02d", i), "v", text(60_000)))
	}
	const bad = "The provided starting key is invalid"
	return []Case{
		{
			Name: "limit", Rule: "Limit ends a page, and LastEvaluatedKey says where.", Source: docPages,
			rows: rows,
			steps: []step{
				expect(page(limit(2)), `2 of 2: {sk: "a"} {sk: "b"}; last {pk: "p", sk: "b"}`),
				expect(page(limit(2), startingAfter(key("p", "b"))), `1 of 1: {sk: "c"}`),
			},
		},
		{
			Name: "last key with nothing after it", Rule: "LastEvaluatedKey may be present with nothing after it: only its absence means the end.", Source: docPages,
			rows: rows,
			steps: []step{
				expect(page(limit(3)), `3 of 3: {sk: "a"} {sk: "b"} {sk: "c"}; last {pk: "p", sk: "c"}`),
				expect(page(limit(3), startingAfter(key("p", "c"))), "0 of 0"),
			},
		},
		{
			Name: "limit counts before the filter", Rule: "Limit counts the items that are read, not those that pass the filter.", Source: docPages,
			rows: rows,
			steps: []step{
				expect(query("pk = :p", with(attrs{":p": "p", ":v": 3}), filter("v = :v"), only("sk"), limit(2)), `0 of 2; last {pk: "p", sk: "b"}`),
			},
		},
		{
			Name: "backwards", Rule: "A page backwards goes on backwards.", Source: docPages,
			rows: rows,
			steps: []step{
				expect(page(limit(1), backwards()), `1 of 1: {sk: "c"}; last {pk: "p", sk: "c"}`),
				expect(page(backwards(), startingAfter(key("p", "c"))), `2 of 2: {sk: "b"} {sk: "a"}`),
			},
		},
		{
			Name: "starting key that is gone", Rule: "A page starts after a key whether or not there is an item.", Source: docPages,
			rows: rows,
			steps: []step{
				expect(page(startingAfter(key("p", "aa"))), `2 of 2: {sk: "b"} {sk: "c"}`),
			},
		},
		{
			Name: "1 MB", Rule: "A page ends at 1 MB, counted before the filter.", Source: docPages,
			rows: large,
			steps: []step{
				expect(query("pk = :p", with(attrs{":p": "p"}), filter("attribute_not_exists(v)")), `0 of 18; last {pk: "p", sk: "17"}`),
				expect(query("pk = :p", with(attrs{":p": "p"}), filter("attribute_not_exists(v)"), startingAfter(key("p", "17"))), "0 of 2"),
			},
		},
		{
			Name: "starting key of another partition", Rule: "A page starts within what the query is about.", Source: dynalite + "query.js",
			rows: rows,
			steps: []step{
				expect(page(startingAfter(key("q", "a"))), invalid("The provided starting key is outside query boundaries based on provided conditions")),
			},
		},
		{
			Name: "starting key outside the range", Rule: "So it does within the range of the sort key.", Source: dynalite + "query.js",
			rows: rows,
			steps: []step{
				expect(query("pk = :p AND sk > :s", with(attrs{":p": "p", ":s": "b"}), startingAfter(key("p", "a"))),
					invalid("The provided starting key does not match the range key predicate")),
			},
		},
		{
			Name: "starting key that is none", Rule: "A starting key is a key of the table.", Source: dynalite + "query.js",
			rows: rows,
			steps: []step{
				expect(page(startingAfter(attrs{"pk": "p"})), invalid(bad)),
				expect(page(startingAfter(attrs{"pk": "p", "sk": 1})), invalid(bad)),
				expect(page(startingAfter(attrs{"pk": "p", "x": "a"})), invalid(bad)),
			},
		},
		{
			Name: "all pages", Rule: "Pages of one item make the whole, each item once.", Source: docPages,
			rows: rows,
			steps: []step{
				expect(page(limit(1)), `1 of 1: {sk: "a"}; last {pk: "p", sk: "a"}`),
				expect(page(limit(1), startingAfter(key("p", "a"))), `1 of 1: {sk: "b"}; last {pk: "p", sk: "b"}`),
				expect(page(limit(1), startingAfter(key("p", "b"))), `1 of 1: {sk: "c"}; last {pk: "p", sk: "c"}`),
				expect(page(limit(1), startingAfter(key("p", "c"))), "0 of 0"),
			},
		},
	}
}
