package conformance

func setCases() []Case {
	refused := func(name, rule string, value any, want string) Case {
		return Case{Name: name, Rule: rule, Source: docTypes, steps: []step{
			expect(put(row("a", "b", "x", value)), badParameter(want)),
		}}
	}
	kept := func(name, rule string, value any, want string) Case {
		return Case{Name: name, Rule: rule, Source: docTypes, steps: []step{
			expect(put(row("a", "b", "x", value)), ok),
			expect(get(key("a", "b")), `{pk: "a", sk: "b", x: `+want+`}`),
		}}
	}
	return []Case{
		refused("empty string set", "A set is not empty.", strs{}, "An string set  may not be empty"),
		refused("empty number set", "A set of numbers is not empty.", nums{}, "An number set  may not be empty"),
		refused("empty binary set", "A set of binaries is not empty.", bins{}, "Binary sets should not be empty"),
		refused("duplicate string", "The elements of a set are unique.", strs{"p", "q", "p"}, "Input collection [p, q, p] contains duplicates."),
		refused("duplicate binary", "The elements of a set of binaries are unique.", bins{"p", "p"}, "Input collection [cA==, cA==]of type BS contains duplicates."),
		{
			Name: "duplicate number", Rule: "Numbers are equal by value in sets too.", Source: parity + "tier3/error-messages/valueLayers.test.ts",
			steps: []step{expect(put(row("a", "b", "x", nums{"1", "1.0"})), invalid("Input collection contains duplicates"))},
		},
		kept("empty element", "A set may have an empty string in it.", strs{"", "p"}, `<"", "p">`),
		kept("normalised elements", "The numbers of a set come back normalised.", nums{"1.0", "002"}, "<1, 2>"),
		kept("binary set", "A set of binaries is kept.", bins{"b", "a"}, "<0x61, 0x62>"),
		{
			Name: "equality", Rule: "Sets are equal whatever the order of their elements.", Source: docTypes,
			rows: []attrs{row("a", "b", "x", strs{"p", "q", "r"}, "n", nums{"1", "2"})},
			steps: []step{
				expect(remove(key("a", "b"), where("x = :x AND n = :n"), with(attrs{":x": strs{"r", "p", "q"}, ":n": nums{"2.0", "1"}})), ok),
			},
		},
		{
			Name: "set is no list", Rule: "A set never equals a list.", Source: docTypes,
			rows: []attrs{row("a", "b", "x", strs{"p"})},
			steps: []step{
				expect(remove(key("a", "b"), where("x = :x"), with(attrs{":x": list{"p"}})), conditionFailed),
			},
		},
		{
			Name: "element of a set by index", Rule: "A path does not reach into a set.", Source: docPaths,
			rows: []attrs{row("a", "b", "x", strs{"p"})},
			steps: []step{
				expect(remove(key("a", "b"), where("attribute_exists(x[0])")), conditionFailed),
			},
		},
	}
}
