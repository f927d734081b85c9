package conformance

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// globals and locals change the indexes of a table before it is created.

func globals(change func(list []types.GlobalSecondaryIndex) []types.GlobalSecondaryIndex) option {
	return func(_ *world, in any) {
		if in, ok := in.(*dynamodb.CreateTableInput); ok {
			in.GlobalSecondaryIndexes = change(in.GlobalSecondaryIndexes)
		}
	}
}

func locals(change func(list []types.LocalSecondaryIndex) []types.LocalSecondaryIndex) option {
	return func(_ *world, in any) {
		if in, ok := in.(*dynamodb.CreateTableInput); ok {
			in.LocalSecondaryIndexes = change(in.LocalSecondaryIndexes)
		}
	}
}

// each changes every global index.
func each(change func(x *types.GlobalSecondaryIndex)) option {
	return globals(func(list []types.GlobalSecondaryIndex) []types.GlobalSecondaryIndex {
		for i := range list {
			change(&list[i])
		}
		return list
	})
}

func indexCreateCases() []Case {
	const (
		global  = usualSchema + " | gsi: g S -> ALL"
		local   = usualSchema + " | lsi: pk S, n N -> ALL"
		created = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
	)
	described := func(name, rule, source string, of schema, want string) Case {
		return newCase(name, rule, source, inTable(of), expect(describeTable(), want))
	}
	refused := func(name, rule, source string, of schema, want string, options ...option) Case {
		return newCase(name, rule, source, noTables, expect(createTable(usualTable, of, options...), want))
	}
	many := func(prefix, form string, n int) schema {
		s := usualSchema
		for i := range n {
			s += schema(fmt.Sprintf(" | %s%02d: "+form, prefix, i))
		}
		return s
	}
	// include makes indexes; the i-th projects as many attributes as the i-th number says.
	include := func(each ...int) schema {
		s := usualSchema
		for i, n := range each {
			s += schema(fmt.Sprintf(" | gsi%d: g S -> INCLUDE", i))
			for j := range n {
				s += schema(fmt.Sprintf(" a%02d", j))
			}
		}
		return s
	}
	short := func(name, list string) string {
		return "Value '" + name + "' at '" + list +
			".1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3"
	}
	units := &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
	return []Case{
		described("global", "A global index has a key of its own.", api("CreateTable"), global,
			created+"; gsi (g S HASH) ALL"),
		described("global with a sort key", "The key of a global index may have a sort key.", api("CreateTable"),
			usualSchema+" | gsi: g S, n N -> KEYS_ONLY", created+"; gsi (g S HASH, n N RANGE) KEYS_ONLY"),
		described("included attributes", "An index may have some attributes in addition to its keys.",
			api("Projection"), usualSchema+" | gsi: g S -> INCLUDE v w", created+"; gsi (g S HASH) INCLUDE v w"),
		described("local", "A local index has the table's partition key.", api("CreateTable"), local,
			created+"; lsi (pk S HASH, n N RANGE) ALL"),
		described("both", "A table may have indexes of both kinds.", api("CreateTable"), local+" | gsi: g S -> ALL",
			created+"; gsi (g S HASH) ALL; lsi (pk S HASH, n N RANGE) ALL"),
		described("key of the table", "The key of a global index may be made of the table's.", alternator+"test_gsi.py",
			usualSchema+" | gsi: sk S, pk S -> ALL", created+"; gsi (sk S HASH, pk S RANGE) ALL"),
		described("five local ones", "A table has at most five local indexes.", docLimits,
			many("lsi", "pk S, n N -> KEYS_ONLY", 5), created+
				"; lsi00 (pk S HASH, n N RANGE) KEYS_ONLY; lsi01 (pk S HASH, n N RANGE) KEYS_ONLY; lsi02 (pk S "+
				"HASH, n N RANGE) KEYS_ONLY; lsi03 (pk S HASH, n N RANGE) KEYS_ONLY; lsi04 (pk S HASH, n N "+
				"RANGE) KEYS_ONLY"),
		described("several attributes",
			"A global index may have up to four attributes for its partition and as many for its order.", docManyKeys,
			usualSchema+" | gsi: a S, b N HASH, c B HASH, d S HASH, e S RANGE, f N RANGE, g B RANGE, h S RANGE -> ALL",
			created+"; gsi (a S HASH, b N HASH, c B HASH, d S HASH, e S RANGE, f N RANGE, g B RANGE, h S RANGE) ALL"),
		described("several partition attributes alone", "A partition key of several attributes needs no sort key.",
			alternator+"test_gsi_composite.py", usualSchema+" | gsi: a S, b S HASH -> ALL",
			created+"; gsi (a S HASH, b S HASH) ALL"),

		refused("no global indexes", "A list of indexes is not empty.", dynalite+"createTable.js", global,
			badParameter("List of GlobalSecondaryIndexes is empty"),
			set("AttributeDefinitions", usualSchema.input().AttributeDefinitions),
			set("GlobalSecondaryIndexes", []types.GlobalSecondaryIndex{})),
		refused("no local indexes", "A list of local indexes is not empty.", dynalite+"createTable.js", local,
			badParameter("List of LocalSecondaryIndexes is empty"),
			set("AttributeDefinitions", usualSchema.input().AttributeDefinitions),
			set("LocalSecondaryIndexes", []types.LocalSecondaryIndex{})),
		newCase("100 projected attributes", "All indexes together may project 100 attributes.", api("Projection"),
			inTable(include(20, 20, 20, 20, 20)), expect(put(row("a", "b", "g", "g")), ok)),
		refused("101 projected attributes",
			"All indexes together may not project more than 100 attributes, whether they are the same or others.",
			api("Projection"), include(20, 20, 20, 20, 20, 1),
			badParameter("NonKeyAttributes count of all indexes exceeds the per-table limit of 100")),
		refused("21 projected attributes", "One index may project 20 attributes and no more.", api("Projection"),
			include(21),
			broken("Value '[...]' at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to "+
				"satisfy constraint: Member must have length less than or equal to 20")),
		refused("21 global indexes", "A table has at most 20 global indexes.", dynalite+"createTable.js",
			many("gsi", "g S -> ALL", 21),
			badParameter("GlobalSecondaryIndex count exceeds the per-table limit of 20")),
		refused("six local indexes", "A table has at most five local indexes, and no more.", dynalite+"createTable.js",
			many("lsi", "pk S, n N -> ALL", 6),
			badParameter("Number of LocalSecondaryIndexes exceeds per-table limit of 5")),
		refused("one name twice", "Indexes have different names.", nubo+"tier3/error-messages/createTable.test.ts",
			usualSchema+" | gsi: g S -> ALL | gsi: g S, n N -> ALL",
			badParameter("Duplicate index name: gsi")),
		refused("one name for both kinds", "Indexes of both kinds have different names.", alternator+"test_lsi.py",
			local+" | gsi: g S -> ALL", badParameter("Duplicate index name: lsi"),
			each(func(x *types.GlobalSecondaryIndex) { x.IndexName = aws.String("lsi") })),
		refused("local without a sort key of the table", "A table with local indexes has a sort key.",
			dynalite+"createTable.js", "pk S | lsi: pk S, n N -> ALL",
			badParameter(
				"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
			)),
		refused("local without a sort key", "A local index has a sort key.", dynalite+"createTable.js",
			usualSchema+" | lsi: pk S -> ALL",
			badParameter("Index KeySchema does not have a range key for index: lsi")),
		refused("local with another partition key", "A local index has the table's partition key and no other.",
			dynalite+"createTable.js", usualSchema+" | lsi: g S, n N -> ALL",
			badParameter("Index KeySchema does not have the same leading hash key as table KeySchema for index: "+
				"lsi. index hash key: g, table hash key: pk")),
		refused("undefined key", "The key attributes of an index are defined.", dynalite+"createTable.js", global,
			badParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: [x], "+
				"AttributeDefinitions: [pk, sk, g]"),
			each(func(x *types.GlobalSecondaryIndex) { x.KeySchema[0].AttributeName = aws.String("x") })),
		refused("unused definition", "An attribute that is defined is part of a key.", alternator+"test_table.py",
			global+" | gs2: x S -> ALL", badParameter(
				"Some AttributeDefinitions are not used. AttributeDefinitions: [pk, sk, g, x], keys used: [pk, sk, g]",
			),
			globals(func(list []types.GlobalSecondaryIndex) []types.GlobalSecondaryIndex { return list[:1] })),
		refused("one attribute twice", "The key attributes of an index differ.", dynalite+"createTable.js",
			usualSchema+" | gsi: g S, g S -> ALL",
			invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")),
		refused("one attribute twice of several",
			"The key attributes of an index differ, also if there are several of a kind.",
			alternator+"test_gsi_composite.py", usualSchema+" | gsi: a S, b S HASH, a S RANGE -> ALL",
			invalid("The KeySchema contains multiple key attributes with the same name")),
		refused("sort key first", "The partition key comes first.", dynalite+"createTable.js",
			usualSchema+" | gsi: g S, n N -> ALL",
			invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
			each(func(x *types.GlobalSecondaryIndex) { x.KeySchema[0].KeyType = types.KeyTypeRange })),
		refused("local with two partition keys", "A local index has one partition key.", dynalite+"createTable.js",
			usualSchema+" | lsi: pk S, n N HASH -> ALL",
			invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")),
		refused("partition key after a sort key", "All partition attributes come before all sort attributes.",
			alternator+"test_gsi_composite.py", usualSchema+" | gsi: a S, b S RANGE, c S HASH -> ALL",
			badParameter("All HASH key attributes must precede RANGE key attributes in the KeySchema")),
		refused("five partition attributes", "A partition key has at most four attributes.",
			alternator+"test_gsi_composite.py",
			usualSchema+" | gsi: a S, b S HASH, c S HASH, d S HASH, e S HASH -> ALL",
			badParameter("The KeySchema exceeds the maximum allowed number of HASH key attributes")),
		refused("five sort attributes", "A sort key has at most four attributes.", alternator+"test_gsi_composite.py",
			usualSchema+" | gsi: a S, b S, c S, d S, e S, f S -> ALL",
			badParameter("The KeySchema exceeds the maximum allowed number of RANGE key attributes")),
		refused("local with several attributes", "A local index has a key of two attributes.",
			alternator+"test_gsi_composite.py", usualSchema+" | lsi: pk S, a S, b S -> ALL",
			broken("Value '[...]' at 'localSecondaryIndexes.1.member.keySchema' failed to satisfy constraint: "+
				"Member must have length less than or equal to 2")),
		refused("short names", "The names of indexes are checked, those of global ones first.",
			parity+"tier3/validation-ordering/createTable.test.ts", local+" | gsi: g S -> ALL",
			broken(short("g1", "globalSecondaryIndexes"), short("aa", "localSecondaryIndexes")),
			each(func(x *types.GlobalSecondaryIndex) { x.IndexName = aws.String("g1") }),
			locals(func(list []types.LocalSecondaryIndex) []types.LocalSecondaryIndex {
				list[0].IndexName = aws.String("aa")
				return list
			})),
		refused("no projection", "An index says what it has.", dynalite+"createTable.js", global,
			broken("Value null at 'globalSecondaryIndexes.1.member.projection' failed to satisfy constraint: Member "+
				"must not be null"),
			each(func(x *types.GlobalSecondaryIndex) { x.Projection = nil })),
		refused("no projection type", "A projection has a type.", dynalite+"createTable.js", global,
			badParameter("Unknown ProjectionType: null"),
			each(func(x *types.GlobalSecondaryIndex) { x.Projection.ProjectionType = "" })),
		refused("no such projection type", "A projection has one of three types.", dynalite+"createTable.js",
			usualSchema+" | gsi: g S -> SOME",
			broken("Value 'SOME' at 'globalSecondaryIndexes.1.member.projection.projectionType' failed to satisfy "+
				"constraint: Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]")),
		refused("long name of an attribute", "A projected attribute's name has 255 characters at most.",
			api("Projection"), schema(string(usualSchema)+" | gsi: g S -> INCLUDE "+text(256)),
			broken("Value '[...]' at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to "+
				"satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to "+
				"255, Member must have length greater than or equal to 1]")),
		refused("attributes with ALL", "Attributes are listed for INCLUDE only.", dynalite+"createTable.js",
			usualSchema+" | gsi: g S -> ALL v",
			badParameter("ProjectionType is ALL, but NonKeyAttributes is specified")),
		refused("attributes with KEYS_ONLY", "Attributes of a local index, too, are listed for INCLUDE only.",
			dynalite+"createTable.js", usualSchema+" | lsi: pk S, n N -> KEYS_ONLY v",
			badParameter("ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified")),
		refused("INCLUDE without attributes", "INCLUDE lists attributes.",
			nubo+"tier1/createTable/specValidation.test.ts", usualSchema+" | gsi: g S -> INCLUDE",
			badParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")),
		refused("units on demand", "An index has no throughput if its table is paid per request.",
			dynalite+"createTable.js", global, badParameter(
				"ProvisionedThroughput should not be specified for index: gsi when BillingMode is PAY_PER_REQUEST",
			),
			each(func(x *types.GlobalSecondaryIndex) { x.ProvisionedThroughput = units })),
		refused("no units", "A global index of a provisioned table has a throughput.", api("CreateTable"), global,
			badParameter("ProvisionedThroughput is not specified for index: gsi"), set("BillingMode", "PROVISIONED"),
			set("ProvisionedThroughput", units)),
	}
}

func indexWriteCases() []Case {
	const indexed = usualSchema + " | gsi: g S -> INCLUDE v | gsn: n N, b B -> KEYS_ONLY | lsi: pk S, l S -> ALL"
	tables := map[string]schema{usualTable: indexed}
	byG := func(options ...option) request {
		return query("g = :g", append([]option{index("gsi"), with(attrs{":g": "x"})}, options...)...)
	}
	mismatch := func(name, want, got, index string) string {
		return badParameter("Type mismatch for Index Key " + name + " Expected: " + want + " Actual: " + got +
			" IndexName: " + index)
	}
	empty := func(kind, index, name string) string {
		return invalid("One or more parameter values are not valid. A value specified for a secondary index key is " +
			"not supported. The AttributeValue for a key attribute cannot contain an empty " + kind +
			" value. IndexName: " + index + ", IndexKey: " + name)
	}
	const emptyUpdate = "ValidationException: One or more parameter values are not valid. The update expression " +
		"attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key " +
		"attribute cannot contain an empty string value."
	full := row("a", "b", "g", "x", "l", "y", "v", 1, "w", 2)
	detail := capacity("INDEXES")
	type ladder struct {
		name, rule string
		do         request
		want       string
	}
	cases := []Case{
		newCase("sparse", "An item without a key attribute of an index is not in it.", docGlobal, inTables(tables),
			expect(put(row("a", "b", "v", 1)), ok), expect(byG(), "0 of 0"),
			expect(update(key("a", "b"), "SET g = :g", with(attrs{":g": "x"})),
				ok), expect(byG(only("v")), "1 of 1: {v: 1}"),
			expect(update(key("a", "b"), "REMOVE g"), ok), expect(byG(), "0 of 0")),
		newCase("moves", "An item moves in an index when its key there changes.", docGlobal, inTables(tables),
			expect(put(row("a", "b", "g", "x")), ok), expect(put(row("a", "b", "g", "z")), ok), expect(byG(), "0 of 0"),
			expect(query("g = :g", index("gsi"), with(attrs{":g": "z"}), selecting("COUNT")), "1 of 1")),
		newCase("deletes", "A deleted item is deleted from the indexes.", docGlobal, inTables(tables),
			expect(put(full), ok), expect(remove(key("a", "b")), ok), expect(byG(), "0 of 0")),
		newCase("transaction", "A transaction changes the indexes too.", docTransactions, inTables(tables),
			expect(transact(actions{put(row("a", "1", "g", "x")), put(row("a", "2", "g", "x"))}),
				ok), expect(byG(selecting("COUNT")), "2 of 2")),
		newCase("duplicates", "Items may have the same key in an index.", docGlobal, inTables(tables),
			expect(put(row("a", "1", "g", "x")),
				ok), expect(put(row("b", "1", "g", "x")), ok), expect(byG(selecting("COUNT")), "2 of 2")),
		newCase("put with a key of another type", "A key attribute of an index has the key's type.",
			dynalite+"putItem.js", inTables(tables),
			expect(put(row("a", "b", "g", 1)),
				mismatch("g", "S", "N", "gsi")), expect(put(row("a", "b", "l", nil)),
				mismatch("l", "S", "NULL", "lsi")),
			expect(put(row("a", "b", "n", "1")), mismatch("n", "N", "S", "gsn"))),
		newCase("put with an empty key", "A key attribute of an index is not empty.",
			nubo+"tier3/error-messages/putItem.test.ts", inTables(tables),
			expect(put(row("a", "b", "g", "")),
				empty("string", "gsi", "g")), expect(put(row("a", "b", "b", []byte{})), empty("binary", "gsn", "b")),
			expect(put(row("a", "b", "v", "")), ok)),
		newCase("key before the condition", "Keys of indexes are checked before the condition.", LocalOnly,
			inTables(tables), holding(row("a", "b")),
			expect(put(row("a", "b", "g", 1), where("attribute_not_exists(pk)")), mismatch("g", "S", "N", "gsi")),
			expect(put(row("a", "b", "g", ""), where("attribute_not_exists(pk)")), empty("string", "gsi", "g"))),
		newCase("update to another type", "An update leaves key attributes of indexes their type.",
			dynalite+"updateItem.js", inTables(tables), holding(full),
			expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": 1})), mismatch("g", "S", "N", "gsi")),
			expect(update(key("a", "b"), "SET g = v"),
				invalid("The update expression attempted to update the secondary index key to unsupported type")),
			expect(update(key("c", "d"), "ADD l :v", with(attrs{":v": 1})), mismatch("l", "S", "N", "lsi")),
			expect(update(key("c", "d"), "SET g = v + :v", with(attrs{":v": 1})), mismatch("g", "S", "N", "gsi"))),
		newCase("type before the condition",
			"A type that the request alone shows to be wrong is reported before the condition, another one after it.",
			dynalite+"updateItem.js", inTables(tables), holding(full),
			expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": 1}), where("attribute_not_exists(pk)")),
				mismatch("g", "S", "N", "gsi")),
			expect(update(key("a", "b"), "SET g = v", where("attribute_not_exists(pk)")), conditionFailed)),
		newCase("update to a long key", "An update does not make them too long.",
			api("TransactWriteItems")+"#API_TransactWriteItems_Errors", inTables(tables), holding(full),
			expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": text(2048)})), ok),
			expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": text(2049)})),
				invalid(
					"The update expression attempted to update the secondary index key beyond allowed size limits",
				)),
			expect(update(key("a", "b"), "SET l = :v", with(attrs{":v": text(1024)})), ok),
			expect(update(key("a", "b"), "SET l = :v", with(attrs{":v": text(1025)})),
				invalid(
					"The update expression attempted to update the secondary index key beyond allowed size limits",
				))),
		newCase("update to an empty key", "An update does not empty them.",
			nubo+"tier2/transactions/transactWrite.test.ts", inTables(tables), holding(full),
			expect(update(key("a", "b"), "SET g = :v", with(attrs{":v": ""})), emptyUpdate),
			expect(transact(actions{update(key("a", "b"), "SET g = :v", with(attrs{":v": ""}))}), emptyUpdate)),
		newCase("transaction with a key of another type",
			"A transaction is cancelled for a key attribute of another type, and refused for an empty one.",
			parity+"tier3/error-messages/transactWriteItems.test.ts", inTables(tables),
			expect(transact(actions{put(row("a", "b", "g", 1)), put(row("c", "d"))}),
				cancelled(
					reasonInvalid("One or more parameter values were invalid: Type mismatch for Index Key g "+
						"Expected: S Actual: N IndexName: gsi"), none,
				)),
			expect(transact(actions{put(row("c", "d")), put(row("a", "b", "g", ""))}), empty("string", "gsi", "g")),
			expect(transact(actions{update(key("a", "b"), "SET g = :v", with(attrs{":v": 1}))}),
				cancelled(reasonInvalid("One or more parameter values were invalid: Type mismatch for Index Key g "+
					"Expected: S Actual: N IndexName: gsi")))),
		newCase("long partition key", "A partition key of an index has at most 2,048 bytes.",
			alternator+"test_gsi_updatetable.py", inTables(tables),
			expect(put(row("a", "b", "g", strings.Repeat("x", 2048))), ok),
			expect(put(row("a", "b", "g", strings.Repeat("x", 2049))),
				badParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes"))),
		newCase("long key of several attributes", "The attributes of a key count together, numbers included.",
			docLimits+"#limits-partition-sort-keys",
			inTable(usualSchema+" | gsi: g S, h N HASH -> ALL"),
			expect(put(row("a", "b", "g", strings.Repeat("x", 2046), "h", 1)), ok),
			expect(put(row("a", "b", "g", strings.Repeat("x", 2047), "h", 1)),
				badParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes"))),
		newCase("long sort key", "A sort key of an index has at most 1,024 bytes.", alternator+"test_lsi.py",
			inTables(tables),
			expect(put(row("a", "b", "l", strings.Repeat("x", 1024))), ok),
			expect(put(row("a", "b", "l", strings.Repeat("x", 1025))),
				badParameter("Aggregated size of all range keys has exceeded the size limit of 1024 bytes"))),
	}
	for _, l := range []ladder{
		{"capacity of nothing", "An index that a write does not change takes nothing.",
			put(row("a", "c", "w", 1), detail), "ok; 1 units, 1 of the table"},
		{"capacity of a global index", "A write takes a unit of each index that it changes.",
			put(row("a", "c", "g", "x"), detail), "ok; 2 units, 1 of the table, 1 of gsi"},
		{"capacity of a local index", "A write takes a unit of each local index that it changes.",
			put(row("a", "c", "l", "x"), detail), "ok; 2 units, 1 of the table, 1 of lsi"},
		{"capacity in total", "The total has the units of indexes in it.",
			put(row("a", "c", "g", "x", "l", "x"), capacity("TOTAL")), "ok; 3 units"},
		{"capacity of the same item", "A write that changes nothing takes nothing of indexes.", put(full, detail),
			"ok; 1 units, 1 of the table"},
		{"capacity of an attribute that is not there", "An attribute that an index does not have does not count.",
			update(key("a", "b"), "SET w = :v", with(attrs{":v": 3}), detail), "ok; 2 units, 1 of the table, 1 of lsi"},
		{"capacity of an attribute", "An attribute that an index has counts.",
			update(key("a", "b"), "SET v = :v", with(attrs{":v": 3}), detail),
			"ok; 3 units, 1 of the table, 1 of gsi, 1 of lsi"},
		{"capacity of a move", "A key that changes takes a delete and a put.",
			update(key("a", "b"), "SET g = :v", with(attrs{":v": "z"}), detail),
			"ok; 4 units, 1 of the table, 2 of gsi, 1 of lsi"},
		{"capacity of leaving", "A key that goes takes a delete.", update(key("a", "b"), "REMOVE g", detail),
			"ok; 3 units, 1 of the table, 1 of gsi, 1 of lsi"},
		{"capacity of a delete", "A deleted item takes a unit of each index that it was in.",
			remove(key("a", "b"), detail), "ok; 3 units, 1 of the table, 1 of gsi, 1 of lsi"},
	} {
		cases = append(cases, newCase(l.name, l.rule, nubo+"tier1/putItem/indexConsumedCapacity.test.ts",
			inTables(tables), holding(full), expect(l.do, l.want)))
	}
	return cases
}

// index reads an index, eventually consistently as all can.
func index(name string) option {
	return func(w *world, in any) {
		set("IndexName", name)(w, in)
		eventually()(w, in)
	}
}
