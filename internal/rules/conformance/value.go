package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// attrs is an item or a key as the cases write it: plain Go values stand for attribute values (see valueOf).
type attrs map[string]any

// How the cases write the values that have no plain Go form.
type (
	num  string   // a Number, as the request spells it
	nums []string // a Number Set
	strs []string // a String Set
	bins []string // a Binary Set
	list []any    // a List
)

// key is a key of the usual table: pk and sk, both strings.
func key(pk, sk string) attrs { return attrs{"pk": pk, "sk": sk} }

// row is a row of the usual table: its key, then names and values in turn.
func row(pk, sk string, more ...any) attrs {
	r := key(pk, sk)
	for i := 0; i < len(more); i += 2 {
		name, _ := more[i].(string)
		r[name] = more[i+1]
	}
	return r
}

// sdk converts an item; nil stays nil.
func (a attrs) sdk() map[string]types.AttributeValue {
	if a == nil {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(a))
	//isrsim:unordered a map becomes a map
	for name, v := range a {
		out[name] = valueOf(v)
	}
	return out
}

// valueOf converts a value as a case writes it. It panics at an unknown type. That is a mistake in this package, and
// any run of the cases shows it.
func valueOf(v any) types.AttributeValue {
	switch v := v.(type) {
	case types.AttributeValue:
		return v
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case int:
		return &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
	case num:
		return &types.AttributeValueMemberN{Value: string(v)}
	case []byte:
		return &types.AttributeValueMemberB{Value: v}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}
	case attrs:
		return &types.AttributeValueMemberM{Value: v.sdk()}
	case list:
		l := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
		for _, e := range v {
			l.Value = append(l.Value, valueOf(e))
		}
		return l
	case strs:
		return &types.AttributeValueMemberSS{Value: v}
	case nums:
		return &types.AttributeValueMemberNS{Value: v}
	case bins:
		s := &types.AttributeValueMemberBS{Value: [][]byte{}}
		for _, e := range v {
			s.Value = append(s.Value, []byte(e))
		}
		return s
	}
	panic(fmt.Sprintf("conformance: no attribute value for a %T", v))
}

// nullFalse is a NULL that DynamoDB refuses.
var nullFalse types.AttributeValue = &types.AttributeValueMemberNULL{Value: false}

// text returns a text of sizeBytes bytes.
func text(sizeBytes int) string { return strings.Repeat("x", sizeBytes) }

func numberCases() []Case {
	const (
		numeric   = "The parameter cannot be converted to a numeric value"
		overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
		digits    = "Attempting to store more than 38 significant digits in a Number"
	)
	const layers = parity + "tier3/error-messages/valueLayers.test.ts"
	kept := func(name, rule, text, want string) Case {
		return newCase(name, rule, docTypes,
			expect(put(row("a", "b", "n", num(text))), ok),
			expect(get(key("a", "b")), `{n: `+want+`, pk: "a", sk: "b"}`))
	}
	refused := func(name, rule, source, text, want string) Case {
		return newCase(name, rule, source,
			expect(put(row("a", "b", "n", num(text))), enveloped(invalid(want))),
			expect(get(key("a", "b")), "nothing"))
	}
	added := func(name, rule, a, b, want string) Case {
		return newCase(name, rule, docTypes, holding(row("a", "b", "n", num(a))),
			expect(update(key("a", "b"), "ADD n :v", with(attrs{":v": num(b)}), returns("UPDATED_NEW")), want))
	}
	nine := strings.Repeat("9", 38)
	return []Case{
		kept("leading zeros", "Leading zeros are trimmed.", "007", "7"),
		kept("trailing zeros", "Trailing zeros are trimmed.", "1.500", "1.5"),
		kept("whole", "1.0 comes back as 1.", "1.0", "1"),
		kept("minus zero", "There is one zero.", "-0.0", "0"),
		kept("plus", "A plus sign goes.", "+5", "5"),
		kept("exponent", "An exponent is written out.", "1.2E3", "1200"),
		kept("negative exponent", "A negative exponent is written out.", "12e-4", "0.0012"),
		kept("38 digits", "38 significant digits are kept exactly.", nine, nine),
		kept("38 digits after the point", "38 significant digits after the point are kept exactly, too.", "0."+nine,
			"0."+nine),
		kept("zeros are no digits", "Zeros at the ends are not significant.", nine+"000", nine+"000"),
		kept("largest", "The largest magnitude is 9.99...E+125.", "9.9E+125", "99"+strings.Repeat("0", 124)),
		kept("smallest", "The smallest magnitude is 1E-130.", "1E-130", "0."+strings.Repeat("0", 129)+"1"),
		kept("most negative", "Negative numbers have the same range.", "-9.9E+125", "-99"+strings.Repeat("0", 124)),
		refused("39 digits", "39 significant digits are refused, not rounded.", layers, nine+"9", digits),
		refused("too large", "1E+126 is refused.", layers, "1E+126", overflow),
		refused("too small", "1E-131 is refused, not taken for zero.", layers, "1E-131", underflow),
		refused("no number", "Text that is not a number is refused.", layers, "abc", numeric+": abc"),
		refused("empty", "An empty text is no number.", layers, "", numeric+": "),
		refused("NaN", "There is no NaN.", layers, "NaN", numeric+": NaN"),
		refused("infinity", "There is no infinity.", layers, "Infinity", numeric+": Infinity"),
		refused("space", "Spaces are no part of a number.", layers, " 1", numeric+":  1"),
		refused("hexadecimal", "Numbers are decimal.", layers, "0x10", numeric+": 0x10"),
		added("sum is exact", "Sums are exact: 0.1 + 0.2 = 0.3.", "0.1", "0.2", "{n: 0.3}"),
		added("sum of 38 digits", "A sum of 38 digits is exact.", nine[1:]+"8", "1", "{n: "+nine[1:]+"9}"),
		added("sum to zero", "A sum may be zero.", "-5.50", "5.5", "{n: 0}"),
		newCase("overflow of a sum", "A sum beyond the range is refused.", docTypes,
			holding(row("a", "b", "n", num("9.9E+125"))),
			expect(update(key("a", "b"), "ADD n :v", with(attrs{":v": num("9.9E+125")})), invalid(overflow))),
		newCase("number of a value", "A value that an expression uses is checked like an item's.", layers,
			expect(update(key("a", "b"), "SET n = :v", with(attrs{":v": num("abc")})),
				enveloped(invalid(numeric+": abc"))),
			expect(query("pk = :p", filter("n = :v"), with(attrs{":p": "a", ":v": num("abc")})),
				invalid(numeric+": abc")),
			expect(scan(filter("n = :v"), with(attrs{":v": num("abc")})),
				invalid("ExpressionAttributeValues contains invalid value: "+numeric+": abc for key :v"))),
		newCase("empty number by operation",
			"Two layers check numbers, and the older one says less about an empty text.", layers,
			expect(remove(attrs{"pk": num(""), "sk": "b"}), enveloped(invalid(numeric+": "))),
			expect(get(attrs{"pk": num(""), "sk": "b"}), invalid(numeric+": ")),
			expect(batchGet(actions{get(attrs{"pk": num(""), "sk": "b"})}), invalid(numeric+": ")),
			expect(batchWrite(actions{put(row("a", "b", "n", num("")))}), invalid(numeric)),
			expect(transact(actions{put(row("a", "b", "n", num("")))}), invalid(numeric))),
		newCase("number as a key", "A number as a key is found however it is written.", docTypes, inTable("id N"),
			holding(attrs{"id": num("1.50")}),
			expect(get(attrs{"id": num("15e-1")}), "{id: 1.5}"),
			expect(put(attrs{"id": num("1.5"), "v": 2}, where("attribute_not_exists(id)")), conditionFailed)),
		newCase("order of sort keys", "Sort keys that are numbers are ordered by value, negative ones first.",
			api("Query"), inTable("pk S, sk N"),
			holding(attrs{"pk": "a", "sk": 10}, attrs{"pk": "a", "sk": 9}, attrs{"pk": "a", "sk": num("-1.5")},
				attrs{"pk": "a", "sk": -1}, attrs{"pk": "a", "sk": 0}, attrs{"pk": "a", "sk": num("1E-100")},
				attrs{"pk": "a", "sk": num("1E100")}),
			expect(query("pk = :a", with(attrs{":a": "a"}), only("sk"), limit(5)),
				`5 of 5: {sk: -1.5} {sk: -1} {sk: 0} {sk: 0.`+strings.Repeat("0", 99)+
					`1} {sk: 9}; last {pk: "a", sk: 9}`)),
	}
}

func setCases() []Case {
	refused := func(name, rule string, value any, want string) Case {
		return newCase(name, rule, docTypes, expect(put(row("a", "b", "x", value)), enveloped(badParameter(want))))
	}
	kept := func(name, rule string, value any, want string) Case {
		return newCase(name, rule, docTypes,
			expect(put(row("a", "b", "x", value)), ok),
			expect(get(key("a", "b")), `{pk: "a", sk: "b", x: `+want+`}`))
	}
	return []Case{
		refused("empty string set", "A set is not empty.", strs{}, "An string set  may not be empty"),
		refused("empty number set", "A set of numbers is not empty.", nums{}, "An number set  may not be empty"),
		refused("empty binary set", "A set of binaries is not empty.", bins{}, "Binary sets should not be empty"),
		refused("duplicate string", "The elements of a set are unique.", strs{"p", "q", "p"},
			`Input collection ["p", "q", "p"] contains duplicates.`),
		refused("duplicate binary", "The elements of a set of binaries are unique.", bins{"p", "p"},
			`Input collection ["cA==","cA=="]of type BS contains duplicates.`),
		newCase("duplicate number", "Numbers are equal by value in sets too.",
			parity+"tier3/error-messages/valueLayers.test.ts",
			expect(put(row("a", "b", "x", nums{"1", "1.0"})),
				enveloped(badParameter("Input collection contains duplicates.")))),
		newCase("duplicates in the older layer",
			"Batches of writes, transactions and scans name the elements as they were sent.",
			parity+"tier3/error-messages/valueLayers.test.ts",
			expect(batchWrite(actions{put(row("a", "b", "x", strs{"q", "p", "q"}))}),
				badParameter("Input collection [q, p, q] contains duplicates.")),
			expect(transact(actions{put(row("a", "b", "x", strs{"q", "p", "q"}))}),
				badParameter("Input collection [q, p, q] contains duplicates.")),
			expect(scan(filter("x = :x"), with(attrs{":x": strs{"q", "p", "q"}})),
				invalid("ExpressionAttributeValues contains invalid value: One or more parameter values were "+
					"invalid: Input collection [q, p, q] contains duplicates. for key :x"))),
		newCase("duplicate in the filter of a query", "A query does not say in which value a duplicate is.",
			parity+"tier3/error-messages/valueLayers.test.ts",
			expect(query("pk = :a", filter("x = :x"), with(attrs{":a": "a", ":x": strs{"q", "p", "q"}})),
				badParameter(`Input collection ["p", "q", "q"] contains duplicates.`)),
			expect(query("pk = :a", with(attrs{":a": "a"}), startingAfter(attrs{"pk": strs{"q", "p", "q"}})),
				badParameter(`Input collection ["p", "q", "q"] contains duplicates.`))),
		kept("empty element", "A set may have an empty string in it.", strs{"", "p"}, `<"", "p">`),
		kept("normalised elements", "The numbers of a set come back normalised.", nums{"1.0", "002"}, "<1, 2>"),
		kept("binary set", "A set of binaries is kept.", bins{"b", "a"}, "<0x61, 0x62>"),
		newCase("equality", "Sets are equal whatever the order of their elements.", docTypes,
			holding(row("a", "b", "x", strs{"p", "q", "r"}, "n", nums{"1", "2"})),
			expect(remove(key("a", "b"), where("x = :x AND n = :n"),
				with(attrs{":x": strs{"r", "p", "q"}, ":n": nums{"2.0", "1"}})),
				ok)),
		newCase("set is no list", "A set never equals a list.", docTypes, holding(row("a", "b", "x", strs{"p"})),
			expect(remove(key("a", "b"), where("x = :x"), with(attrs{":x": list{"p"}})), conditionFailed)),
		newCase("element of a set by index", "A path does not reach into a set.", docPaths,
			holding(row("a", "b", "x", strs{"p"})),
			expect(remove(key("a", "b"), where("attribute_exists(x[0])")), conditionFailed)),
	}
}
