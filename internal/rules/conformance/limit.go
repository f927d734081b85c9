package conformance

import (
	"fmt"
	"strings"
)

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
			list = append(list,
				update(key("a", fmt.Sprintf("%02d", i)), "SET v = :v", with(attrs{":v": text(sizeBytes)})))
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
		newCase("400 KB", "An item has at most 400 KB, names included.", docLimits,
			expect(put(row("a", "b", "v", text(itemLimit-own))), ok),
			expect(put(row("a", "b", "v", text(itemLimit-own+1))),
				invalid("Item size has exceeded the maximum allowed size"))),
		newCase("400 KB with a long name", "The names of attributes count in an item's size.", docLimits,
			expect(put(row("a", "b", text(1000), text(itemLimit-own-998))),
				invalid("Item size has exceeded the maximum allowed size")),
			expect(put(row("a", "b", text(1000), text(itemLimit-own-999))), ok)),
		newCase("400 KB by update", "An update must not make an item larger than 400 KB.", docLimits,
			holding(row("a", "b", "v", text(itemLimit-own))),
			expect(update(key("a", "b"), "SET w = :w", with(attrs{":w": "x"})),
				invalid("Item size to update has exceeded the maximum allowed size")),
			expect(update(key("a", "b"), "SET v = :w", with(attrs{":w": "x"})), ok)),
		newCase("size of numbers", "A number takes about one byte for two digits, and one more.", docLimits,
			expect(put(row("a", "b", "v", text(itemLimit-own-3), "n", 1)), ok),
			expect(put(row("a", "b", "v", text(itemLimit-own-2), "n", 1)),
				invalid("Item size has exceeded the maximum allowed size"))),
		newCase("size of lists", "A list takes three bytes and one for each element, besides them.", docLimits,
			expect(put(row("a", "b", "v", text(itemLimit-own-8), "l", list{"", "xx"})), ok),
			expect(put(row("a", "b", "v", text(itemLimit-own-7), "l", list{"", "xx"})),
				invalid("Item size has exceeded the maximum allowed size"))),
		newCase("32 levels", "Values are nested up to 32 levels.", docLimits,
			expect(put(row("a", "b", "v", deep(31))), ok),
			expect(put(row("a", "b", "v", deep(32))),
				enveloped(invalid("Nesting Levels have exceeded supported limits: Attributes in the item have "+
					"nested levels beyond supported limit")))),
		newCase("4 MB", "A transaction has at most 4 MB.", docLimits,
			expect(transact(puts(12, 350_000)),
				invalid("Transaction payload size cannot exceed 4MB. Payload Size: 4200096")),
			expect(get(key("a", "00")), "nothing")),
		newCase("4 MB of updates",
			"The size of an update in a transaction is the size of its key, values and expressions.", LocalOnly,
			expect(transact(updates(12, 350_000)),
				invalid("Transaction payload size cannot exceed 4MB. Payload Size: 4200204"))),
		newCase("4 MB of items to delete", "The 4 MB limit the request: a transaction may delete more.",
			alternator+"test_transact.py", holding(rows(12, 350_000)...),
			expect(transact(deletes(12)), ok),
			expect(query("pk = :a", with(attrs{":a": "a"})), "0 of 0")),
		newCase("operands of IN", "IN takes at most 100 values.", docLimits, holding(row("a", "b", "v", 99)),
			expect(remove(key("a", "b"), inOf(101)...),
				enveloped(invalid("Invalid ConditionExpression: The IN operator is provided with too many operands; "+
					"number of operands: 101"))),
			expect(remove(key("a", "b"), inOf(100)...), ok)),
		newCase("too large an item in a transaction", "Too large a put refuses the transaction.",
			parity+"tier3/limits/itemSizeBySurface.test.ts",
			expect(transact(actions{put(row("a", "b", "v", text(itemLimit)))}),
				invalid("Item size has exceeded the maximum allowed size"))),
		newCase("empty projection of a large item", "A read takes units for the whole item, whatever it returns.",
			docCapacity, holding(row("a", "b", "v", text(40_000))),
			expect(get(key("a", "b"), only("absent"), capacity("TOTAL")), "{}; 10 units")),
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

// boundaryCases are limits of expressions and of names, from both sides.
func boundaryCases() []Case {
	const sizes = parity + "tier3/limits/expressionSize.test.ts"
	a := key("a", "b")
	rows := []attrs{row("a", "b", "v", 1)}
	// sized makes an expression of n bytes about an attribute that no item has.
	sized := func(before, after string, n int) string {
		return before + strings.Repeat("x", n-len(before)-len(after)) + after
	}
	tooLong := func(parameter string) string {
		return invalid(
			"Invalid " + parameter + ": Expression size has exceeded the maximum allowed size; expression size: 4097",
		)
	}
	both := func(name, rule, source string, of func(n int) request, n int, accepted, refused string) Case {
		return newCase(name, rule, source, holding(rows...), expect(of(n), accepted), expect(of(n+1), refused))
	}
	const exists, end = "attribute_not_exists(", ")"
	return []Case{
		both("4 KB of a condition", "A condition has at most 4,096 bytes.", sizes, func(n int) request {
			return put(row("c", "d"), where(sized(exists, end, n)))
		}, 4096, ok, enveloped(tooLong("ConditionExpression"))),
		both("4 KB of an update", "An update has at most 4,096 bytes.", sizes, func(n int) request {
			return update(a, sized("REMOVE ", "", n))
		}, 4096, ok, enveloped(tooLong("UpdateExpression"))),
		both("4 KB of a projection", "A projection has at most 4,096 bytes.", sizes, func(n int) request {
			return get(a, only(sized("v, ", "", n)))
		}, 4096, "{v: 1}", tooLong("ProjectionExpression")),
		both("4 KB of a filter", "A filter of a query has at most 4,096 bytes.", sizes, func(n int) request {
			return query("pk = :p", with(attrs{":p": "a"}), filter(sized(exists, end, n)), selecting("COUNT"))
		}, 4096, "1 of 1", tooLong("FilterExpression")),
		both("4 KB of a scan's filter", "A filter of a scan has at most 4,096 bytes.", sizes, func(n int) request {
			return scan(filter(sized(exists, end, n)), selecting("COUNT"))
		}, 4096, "1 of 1", tooLong("FilterExpression")),
		both("4 KB of a key condition", "A key condition has at most 4,096 bytes.", docLimits, func(n int) request {
			return query(sized("pk = :p", "", 7)+strings.Repeat(" ", n-7), with(attrs{":p": "a"}), selecting("COUNT"))
		}, 4096, "1 of 1", tooLong("KeyConditionExpression")),
		both("4 KB in a transaction", "In a transaction too long an expression refuses the whole.",
			sizes, func(n int) request {
				return transact(actions{put(row("e", "f")), put(row("c", "d"), where(sized(exists, end, n)))})
			}, 4096, ok, tooLong("ConditionExpression")),
		newCase("4 KB as sent", "The limit is on the expression as it is sent: names count as their placeholders.",
			sizes, holding(rows...), expect(get(a, only("#a, v"), named("#a", strings.Repeat("n", 5000))), "{v: 1}")),
		both("300 operators", "An expression has at most 300 operators and functions.", docLimits, func(n int) request {
			// The operators are the comparisons and the ORs between them.
			terms := strings.Repeat("v=:v OR ", (n-1)/2) + "v=:v"
			if n%2 == 0 {
				terms = "NOT " + terms
			}
			return remove(a, where(terms), with(attrs{":v": 2}))
		}, 300, ok, enveloped(invalid(
			"Invalid ConditionExpression: The expression contains too many operators; operator count: 301",
		))),
		both("32 elements of a path", "A path has at most 32 elements.", docLimits, func(n int) request {
			return get(a, only("v, m"+strings.Repeat("[0]", n-1)))
		}, 32, "{v: 1}",
			invalid("Invalid ProjectionExpression: The document path has too many nesting levels; nesting levels: 33")),
		both("255 bytes of a placeholder", "A placeholder has at most 255 bytes.", docLimits, func(n int) request {
			name := "#" + strings.Repeat("p", n-1)
			return get(a, only(name), named(name, "v"))
		}, 255, "{v: 1}", invalid(
			"ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is "+
				"too long; size of key: 256",
		)),
		both("255 bytes of a value's placeholder", "The placeholder of a value has at most 255 bytes.",
			docLimits, func(n int) request {
				name := ":" + strings.Repeat("p", n-1)
				return update(a, "SET v = "+name, with(attrs{name: 1}))
			}, 255, ok,
			enveloped(invalid("ExpressionAttributeValues contains invalid key: The expression attribute map "+
				"contains a key that is too long; size of key: 256"))),
		both("2 MB of names and values", "All names and values, with their placeholders, have at most 2 MB.",
			docLimits, func(n int) request {
				// Local refuses an expression with more than 1 MB of names or values, so there are three expressions.
				const value, name = 349_000, 52_410
				var list, names []string
				for i := range 20 {
					list = append(list, fmt.Sprintf("#%c", 'a'+i))
					names = append(names, list[i], list[i][1:]+text(name-1))
				}
				key := n - 2 - 3*(2+value) - 20*(2+name)
				return query("pk = :p",
					with(attrs{":p": text(key), ":a": text(value), ":b": text(value), ":c": text(value)}),
					filter("v IN (:a, :b, :c)"), only(strings.Join(list, ", ")), named(names...))
			}, 2<<20, "0 of 0",
			invalid("Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds max size")),
		both("4 MB of puts", "A transaction of 4 MB is not too large.", docLimits, func(n int) request {
			// Eleven puts with 4 MB less their names and keys of 7 bytes.
			const puts = 11
			var list actions
			for i := range puts {
				each := (n - 7*puts) / puts
				if i == 0 {
					each = n - 7*puts - (puts-1)*each
				}
				list = append(list, put(row("a", string(rune('a'+i)), "v", text(each))))
			}
			return transact(list)
		}, 4<<20, ok, invalid(fmt.Sprintf("Transaction payload size cannot exceed 4MB. Payload Size: %d", 4<<20+1))),
		both("100 reads", "A transaction has at most 100 reads.", docLimits, func(n int) request {
			var list actions
			for i := range n {
				list = append(list, get(key("k", fmt.Sprint(i))))
			}
			return transactGet(list)
		}, 100, "["+strings.TrimSuffix(strings.Repeat("nothing ", 100), " ")+"]",
			broken("Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less "+
				"than or equal to 100")),
		both("2 KB of a partition key in a condition", "A key that is asked for is not longer than a key may be.",
			dynalite+"query.js", func(n int) request {
				return query("pk = :p", with(attrs{":p": text(n)}), selecting("COUNT"))
			}, 2048, "0 of 0", badParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes")),
		newCase("255 bytes of a key's name", "The name of a key attribute has at most 255 bytes.", docLimits,
			inTable(schema(strings.Repeat("k", 255)+" S")),
			expect(put(attrs{strings.Repeat("k", 255): "a"}), ok),
			expect(createTable("ttt", schema(strings.Repeat("k", 256)+" S")), broken(
				"Value '"+strings.Repeat("k", 256)+
					"' at 'attributeDefinitions.1.member.attributeName' failed to satisfy constraint: Member must "+
					"have length less than or equal to 255",
				"Value '"+strings.Repeat("k", 256)+
					"' at 'keySchema.1.member.attributeName' failed to satisfy constraint: Member must have length "+
					"less than or equal to 255"))),
	}
}
