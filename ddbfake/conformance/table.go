package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func tableCases() []Case {
	const prefix = "One or more parameter values were invalid: "
	keys := func(pairs ...string) option {
		var list []types.KeySchemaElement
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, types.KeySchemaElement{AttributeName: aws.String(pairs[i]), KeyType: types.KeyType(pairs[i+1])})
		}
		return set("KeySchema", list)
	}
	definitions := func(pairs ...string) option {
		var list []types.AttributeDefinition
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, types.AttributeDefinition{AttributeName: aws.String(pairs[i]), AttributeType: types.ScalarAttributeType(pairs[i+1])})
		}
		return set("AttributeDefinitions", list)
	}
	throughput := func(read, write int64) option {
		return set("ProvisionedThroughput", &types.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write})
	}
	const created = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
	noTables := map[string]schema{}
	// refused is a CreateTable that does not create a table.
	refused := func(name, rule, source, want string, options ...option) Case {
		return Case{Name: name, Rule: rule, Source: source, tables: noTables, steps: []step{
			expect(createTable(usualTable, usualSchema, options...), want),
		}}
	}
	missing := func(table string) string {
		return "ResourceNotFoundException: Requested resource not found: Table: " + table + " not found"
	}
	const abroad = "arn:aws:dynamodb:eu-west-1:000000000000:table/rows"
	return []Case{
		{
			Name: "describe", Rule: "A table is described as it was created.", Source: api("DescribeTable"),
			steps: []step{expect(describeTable(), created)},
		},
		{
			Name: "key types", Rule: "A key attribute is a string, a number or a binary.", Source: api("CreateTable"),
			tables: map[string]schema{usualTable: "h N, r B"},
			steps:  []step{expect(describeTable(), "table rows (h N HASH, r B RANGE) PAY_PER_REQUEST 0/0")},
		},
		{
			Name: "provisioned", Rule: "A table has provisioned throughput unless it is paid per request.", Source: api("CreateTable"),
			tables: noTables,
			alone:  true, // DynamoDB Local adds up the throughput of all tables, and fails if they change meanwhile
			steps: []step{
				expect(createTable(usualTable, usualSchema, set("BillingMode", ""), throughput(3, 4)), "table rows (pk S HASH, sk S RANGE) PROVISIONED 3/4"),
				expect(describeTable(), "table rows (pk S HASH, sk S RANGE) PROVISIONED 3/4"),
				expect(deleteTable(), "deleted rows"),
			},
		},
		{
			Name: "exists", Rule: "A name is given once.", Source: dynalite + "createTable.js",
			steps: []step{
				expect(createTable(usualTable, usualSchema), "ResourceInUseException: Table already exists: rows"),
			},
		},
		{
			Name: "delete", Rule: "A deleted table is gone, with its items.", Source: api("DeleteTable"),
			rows: []attrs{row("a", "b")},
			steps: []step{
				expect(deleteTable(), "deleted rows"),
				expect(createTable(usualTable, usualSchema), created),
				expect(get(key("a", "b")), "nothing"),
				expect(deleteTable(), "deleted rows"),
			},
		},
		{
			Name: "no table", Rule: "Table operations name the table that they miss.", Source: dynalite + "describeTable.js",
			steps: []step{
				expect(describeTable(on("missing")), missing("missing")),
				expect(deleteTable(on("missing")), missing("missing")),
			},
		},
		{
			Name: "deletion protection", Rule: "A table may be created unprotected.", Source: docProtection,
			tables: noTables,
			steps: []step{
				expect(createTable(usualTable, usualSchema, set("DeletionProtectionEnabled", false)), created),
				expect(deleteTable(), "deleted rows"),
			},
		},
		{
			Name: "list", Rule: "Tables are listed by name, page by page.", Source: api("ListTables"),
			tables: map[string]schema{"b": "id S", "a": "id S", "c": "id S"},
			steps: []step{
				expect(listTables(limit(2), exclusiveStart("0")), "[a b]; last b"),
				expect(listTables(limit(1), exclusiveStart("a0")), "[b]; last b"),
			},
		},
		{
			Name: "list limit", Rule: "A page has 1 to 100 names.", Source: dynalite + "listTables.js", tables: noTables,
			steps: []step{
				expect(listTables(limit(0)), broken("Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1")),
				expect(listTables(limit(101)), broken("Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100")),
			},
		},
		{
			Name: "short name", Rule: "A table's name has at least 3 characters.", Source: dynalite + "getItem.js", tables: noTables,
			steps: []step{
				expect(get(key("a", "b"), onName("ab")), broken("Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3")),
				expect(describeTable(onName("ab")), broken("Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3")),
			},
		},
		{
			Name: "long name", Rule: "A table's name has at most 255 characters.", Source: parity + "tier3/error-messages/putItem.test.ts", tables: noTables,
			steps: []step{
				expect(put(row("a", "b"), onName(strings.Repeat("a", 256))),
					broken("Value '"+strings.Repeat("a", 256)+"' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255")),
			},
		},
		{
			Name: "characters of a name", Rule: "A table's name has letters, digits, underscore, dot and dash.", Source: parity + "tier3/error-messages/putItem.test.ts", tables: noTables,
			steps: []step{
				expect(put(row("a", "b"), onName("bad table!@#")),
					broken("Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")),
			},
		},
		{
			Name: "arn of another region", Rule: "No request crosses regions.",
			Source: "https://github.com/hashicorp/terraform-provider-aws/issues/42792",
			steps: []step{
				expect(get(key("a", "b"), onName(abroad)), "ValidationException: 1 validation error detected: Invalid AWS region in '"+abroad+"'"),
				expect(describeTable(onName(abroad)), "ValidationException: 1 validation error detected: Invalid AWS region in '"+abroad+"'"),
			},
		},
		{
			Name: "everything wrong with a name", Rule: "Every constraint that is broken is listed.", Source: dynalite + "getItem.js", tables: noTables,
			steps: []step{
				expect(get(key("a", "b"), onName("!")), broken(
					"Value '!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
					"Value '!' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3",
				)),
			},
		},
		{
			Name: "no name", Rule: "A request names its table.", Source: parity + "tier3/error-messages/putItem.test.ts", tables: noTables,
			steps: []step{
				expect(put(row("a", "b"), noName()), broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null")),
				expect(get(key("a", "b"), noName()), broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null")),
			},
		},
		{
			Name: "empty name", Rule: "A name is not empty.", Source: parity + "tier3/error-messages/putItem.test.ts", tables: noTables,
			steps: []step{
				expect(put(row("a", "b"), onName("")), broken("Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1")),
			},
		},
		refused("no throughput", "A provisioned table has a throughput.", dynalite+"createTable.js",
			invalid(prefix+"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"), set("BillingMode", "PROVISIONED")),
		refused("throughput on demand", "A table paid per request has none.", dynalite+"createTable.js",
			invalid(prefix+"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"), throughput(1, 1)),
		refused("no units", "Throughput is positive.", dynalite+"createTable.js",
			broken("Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1"),
			set("BillingMode", "PROVISIONED"), throughput(0, 1)),
		refused("billing mode", "There are two billing modes.", parity+"tier3/validation-ordering/createTable.test.ts",
			broken("Value 'INVALID_MODE' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"), set("BillingMode", "INVALID_MODE")),
		refused("attribute type", "There are three types of key attributes.", dynalite+"createTable.js",
			broken("Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]"), definitions("pk", "SS", "sk", "S")),
		refused("key type", "A key attribute is HASH or RANGE.", dynalite+"createTable.js",
			broken("Value 'SORT' at 'keySchema.2.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]"), keys("pk", "HASH", "sk", "SORT")),
		refused("no keys", "A table has a key.", dynalite+"createTable.js",
			broken("Value '[]' at 'keySchema' failed to satisfy constraint: Member must have length greater than or equal to 1"), set("KeySchema", []types.KeySchemaElement{})),
		refused("range first", "The partition key comes first.", dynalite+"createTable.js",
			invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"), keys("pk", "RANGE", "sk", "HASH")),
		refused("two partition keys", "The second key attribute is the sort key.", dynalite+"createTable.js",
			invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"), keys("pk", "HASH", "sk", "HASH")),
		refused("one attribute twice", "The two key attributes differ.", dynalite+"createTable.js",
			invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name"), keys("pk", "HASH", "pk", "RANGE")),
		refused("undefined key", "A key attribute is defined.", dynalite+"createTable.js",
			invalid("Invalid KeySchema: Some index key attribute have no definition"), keys("pk", "HASH", "other", "RANGE")),
		refused("undefined partition key", "A partition key alone is defined too.", dynalite+"createTable.js",
			invalid(prefix+"Some index key attributes are not defined in AttributeDefinitions. Keys: [other], AttributeDefinitions: [pk, sk]"), keys("other", "HASH")),
		refused("defined twice", "An attribute is defined once.", quirks+"table-throughput-billing.md",
			invalid("Attribute Name is duplicated: pk"), definitions("pk", "S", "pk", "S", "sk", "S")),
		refused("defined twice otherwise", "And with one type.", "https://github.com/scylladb/scylladb/issues/13870",
			invalid("Attribute Name is duplicated: pk"), definitions("pk", "S", "sk", "S", "pk", "N")),
		refused("unused definition", "Only key attributes are defined.", dynalite+"createTable.js",
			invalid(prefix+"Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"), keys("pk", "HASH")),
	}
}

// exclusiveStart lists the tables after this one of the case's.
func exclusiveStart(table string) option {
	return func(w *world, in any) { set("ExclusiveStartTableName", w.name(table))(w, in) }
}
