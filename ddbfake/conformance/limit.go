package conformance

import "fmt"

func limitCases() []Case {
	const itemLimit = 400 * 1024
	const own = 7 // bytes of pk, sk, their values "a" and "b", and the name "v"
	deep := func(levels int) any {
		var v any = "leaf"
		for range levels {
			v = attrs{"n": v}
		}
		return v
	}
	rows := func(n, sizeBytes int) []attrs {
		var list []attrs
		for i := range n {
			list = append(list, row("a", fmt.Sprintf("%02d", i), "v", text(sizeBytes)))
		}
		return list
	}
	puts := func(n, sizeBytes int) actions {
		var list actions
		for _, r := range rows(n, sizeBytes) {
			list = append(list, put(r))
		}
		return list
	}
	updates := func(n, sizeBytes int) actions {
		var list actions
		for i := range n {
			list = append(list, update(key("a", fmt.Sprintf("%02d", i)), "SET v = :v", with(attrs{":v": text(sizeBytes)})))
		}
		return list
	}
	deletes := func(n int) actions {
		var list actions
		for i := range n {
			list = append(list, remove(key("a", fmt.Sprintf("%02d", i))))
		}
		return list
	}
	return []Case{
		{
			Name: "400 KB", Rule: "An item has at most 400 KB, names included.", Source: docLimits,
			steps: []step{
				expect(put(row("a", "b", "v", text(itemLimit-own))), ok),
				expect(put(row("a", "b", "v", text(itemLimit-own+1))), invalid("Item size has exceeded the maximum allowed size")),
			},
		},
		{
			Name: "400 KB with a long name", Rule: "Names count.", Source: docLimits,
			steps: []step{
				expect(put(row("a", "b", text(1000), text(itemLimit-own-998))), invalid("Item size has exceeded the maximum allowed size")),
				expect(put(row("a", "b", text(1000), text(itemLimit-own-999))), ok),
			},
		},
		{
			Name: "400 KB by update", Rule: "An update must not make an item larger than 400 KB.", Source: docLimits,
			rows: []attrs{row("a", "b", "v", text(itemLimit-own))},
			steps: []step{
				expect(update(key("a", "b"), "SET w = :w", with(attrs{":w": "x"})), invalid("Item size to update has exceeded the maximum allowed size")),
				expect(update(key("a", "b"), "SET v = :w", with(attrs{":w": "x"})), ok),
			},
		},
		{
			Name: "size of numbers", Rule: "A number takes about one byte for two digits, and one more.", Source: docLimits,
			steps: []step{
				expect(put(row("a", "b", "v", text(itemLimit-own-3), "n", 1)), ok),
				expect(put(row("a", "b", "v", text(itemLimit-own-2), "n", 1)), invalid("Item size has exceeded the maximum allowed size")),
			},
		},
		{
			Name: "size of lists", Rule: "A list takes three bytes and one for each element, besides them.", Source: docLimits,
			steps: []step{
				expect(put(row("a", "b", "v", text(itemLimit-own-8), "l", list{"", "xx"})), ok),
				expect(put(row("a", "b", "v", text(itemLimit-own-7), "l", list{"", "xx"})), invalid("Item size has exceeded the maximum allowed size")),
			},
		},
		{
			Name: "32 levels", Rule: "Values are nested up to 32 levels.", Source: docLimits,
			steps: []step{
				expect(put(row("a", "b", "v", deep(31))), ok),
				expect(put(row("a", "b", "v", deep(32))),
					invalid("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")),
			},
		},
		{
			Name: "4 MB", Rule: "A transaction has at most 4 MB.", Source: docLimits,
			steps: []step{
				expect(transact(puts(12, 350_000)), invalid("Transaction payload size cannot exceed 4MB. Payload Size: 4200096")),
				expect(get(key("a", "00")), "nothing"),
			},
		},
		{
			Name: "4 MB of updates", Rule: "Of updates the key, the values and the expressions count.", Source: LocalOnly,
			steps: []step{
				expect(transact(updates(12, 350_000)), invalid("Transaction payload size cannot exceed 4MB. Payload Size: 4200204")),
			},
		},
		{
			Name: "4 MB of items to delete", Rule: "The 4 MB are those of the request: a transaction may delete more.", Source: alternator + "test_transact.py",
			rows: rows(12, 350_000),
			steps: []step{
				expect(transact(deletes(12)), ok),
				expect(query("pk = :a", with(attrs{":a": "a"})), "0 of 0"),
			},
		},
		{
			Name: "operands of IN", Rule: "IN takes at most 100 values.", Source: docLimits,
			rows: []attrs{row("a", "b", "v", 99)},
			steps: []step{
				expect(remove(key("a", "b"), inOf(101)...),
					invalid("Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101")),
				expect(remove(key("a", "b"), inOf(100)...), ok),
			},
		},
		{
			Name: "too large an item in a transaction", Rule: "Too large a put refuses the transaction.", Source: parity + "tier3/limits/itemSizeBySurface.test.ts",
			steps: []step{
				expect(transact(actions{put(row("a", "b", "v", text(itemLimit)))}), invalid("Item size has exceeded the maximum allowed size")),
			},
		},
		{
			Name: "empty projection of a large item", Rule: "A read takes units for the whole item, whatever it returns.", Source: docCapacity,
			rows: []attrs{row("a", "b", "v", text(40_000))},
			steps: []step{
				expect(get(key("a", "b"), only("absent"), capacity("TOTAL")), "{}; 10 units"),
			},
		},
	}
}

// inOf is a condition that compares v with n numbers, from 0.
func inOf(n int) []option {
	list, values := "", attrs{}
	for i := range n {
		if i > 0 {
			list += ", "
		}
		name := fmt.Sprintf(":v%d", i)
		list += name
		values[name] = i
	}
	return []option{where("v IN (" + list + ")"), with(values)}
}
