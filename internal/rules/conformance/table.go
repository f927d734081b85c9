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
			list = append(list,
				types.KeySchemaElement{AttributeName: aws.String(pairs[i]), KeyType: types.KeyType(pairs[i+1])})
		}
		return set("KeySchema", list)
	}
	definitions := func(pairs ...string) option {
		var list []types.AttributeDefinition
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, types.AttributeDefinition{
				AttributeName: aws.String(pairs[i]), AttributeType: types.ScalarAttributeType(pairs[i+1]),
			})
		}
		return set("AttributeDefinitions", list)
	}
	throughput := func(read, write int64) option {
		return set("ProvisionedThroughput",
			&types.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write})
	}
	const created = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
	// refused is a CreateTable that does not create a table.
	refused := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, noTables,
			expect(createTable(usualTable, usualSchema, options...), want))
	}
	missing := func(table string) string {
		return "ResourceNotFoundException: Requested resource not found: Table: " + table + " not found"
	}
	const abroad = "arn:aws:dynamodb:eu-west-1:000000000000:table/rows"
	return []Case{
		newCase("describe", "A table is described as it was created.", api("DescribeTable"),
			expect(describeTable(), created)),
		newCase("key types", "A key attribute is a string, a number or a binary.", api("CreateTable"),
			inTable("h N, r B"), expect(describeTable(), "table rows (h N HASH, r B RANGE) PAY_PER_REQUEST 0/0")),
		newCase("provisioned", "A table has provisioned throughput unless it is paid per request.", api("CreateTable"),
			noTables,
			runsAlone, // DynamoDB Local adds up the throughput of all tables, and fails if tables change meanwhile
			expect(createTable(usualTable, usualSchema, set("BillingMode", ""), throughput(3, 4)),
				"table rows (pk S HASH, sk S RANGE) PROVISIONED 3/4"),
			expect(describeTable(), "table rows (pk S HASH, sk S RANGE) PROVISIONED 3/4"),
			expect(deleteTable(), "deleted rows")),
		newCase("exists", "A name is given once.", dynalite+"createTable.js",
			expect(createTable(usualTable, usualSchema), "ResourceInUseException: Table already exists: rows")),
		newCase("delete", "A deleted table is gone, with its items.", api("DeleteTable"), holding(row("a", "b")),
			expect(deleteTable(), "deleted rows"),
			expect(createTable(usualTable, usualSchema), created),
			expect(get(key("a", "b")), "nothing"),
			expect(deleteTable(), "deleted rows")),
		newCase("no table", "Table operations name a table that does not exist.", dynalite+"describeTable.js",
			expect(describeTable(on("missing")), missing("missing")),
			expect(deleteTable(on("missing")), missing("missing"))),
		newCase("deletion protection", "A table may be created unprotected.", docProtection, noTables,
			expect(createTable(usualTable, usualSchema, set("DeletionProtectionEnabled", false)), created),
			expect(deleteTable(), "deleted rows")),
		newCase("list", "Tables are listed by name, page by page.", api("ListTables"),
			inTables(map[string]schema{"b": "id S", "a": "id S", "c": "id S"}),
			expect(listTables(limit(2), exclusiveStart("0")), "[a b]; last b"),
			expect(listTables(limit(1), exclusiveStart("a0")), "[b]; last b")),
		newCase("list limit", "A page has 1 to 100 names.", dynalite+"listTables.js", noTables,
			expect(listTables(limit(0)),
				broken("Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than "+
					"or equal to 1")),
			expect(listTables(limit(101)),
				broken("Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or "+
					"equal to 100"))),
		newCase("short name", "A table's name has at least 3 characters.", dynalite+"getItem.js", noTables,
			expect(get(key("a", "b"), onName("ab")),
				broken("Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater "+
					"than or equal to 3")),
			expect(describeTable(onName("ab")),
				broken("Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater "+
					"than or equal to 3"))),
		newCase("long name", "A table's name has at most 255 characters.",
			parity+"tier3/error-messages/putItem.test.ts", noTables,
			expect(put(row("a", "b"), onName(strings.Repeat("a", 256))),
				broken("Value '"+strings.Repeat("a", 256)+
					"' at 'tableName' failed to satisfy constraint: Member must have length less than or "+
					"equal to 255"))),
		newCase("characters of a name", "A table's name has letters, digits, underscore, dot and dash.",
			parity+"tier3/error-messages/putItem.test.ts", noTables,
			expect(put(row("a", "b"), onName("bad table!@#")),
				broken("Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy "+
					"regular expression pattern: [a-zA-Z0-9_.-]+"))),
		newCase("arn of another region", "No request crosses regions.",
			"https://github.com/hashicorp/terraform-provider-aws/issues/42792",
			expect(get(key("a", "b"), onName(abroad)),
				"ValidationException: 1 validation error detected: Invalid AWS region in '"+abroad+"'"),
			expect(describeTable(onName(abroad)),
				"ValidationException: 1 validation error detected: Invalid AWS region in '"+abroad+"'")),
		newCase("everything wrong with a name", "Every constraint that is broken is listed.", dynalite+"getItem.js",
			noTables,
			expect(get(key("a", "b"), onName("!")), broken(
				"Value '!' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression "+
					"pattern: [a-zA-Z0-9_.-]+",
				"Value '!' at 'tableName' failed to satisfy constraint: Member must have length greater than "+
					"or equal to 3",
			))),
		newCase("no name", "A request names its table.", parity+"tier3/error-messages/putItem.test.ts",
			noTables,
			expect(put(row("a", "b"), noName()),
				broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null")),
			expect(get(key("a", "b"), noName()),
				broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null"))),
		newCase("empty name", "A name is not empty.", parity+"tier3/error-messages/putItem.test.ts",
			noTables,
			expect(put(row("a", "b"), onName("")),
				broken("Value at 'TableName' failed to satisfy constraint: Member must have length greater than "+
					"or equal to 1"))),
		refused("no throughput", "A provisioned table has a throughput.", dynalite+"createTable.js",
			invalid(prefix+
				"ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"),
			set("BillingMode", "PROVISIONED")),
		refused("throughput on demand", "A table paid per request has none.", dynalite+"createTable.js",
			invalid(prefix+
				"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "+
				"PAY_PER_REQUEST"), throughput(1, 1)),
		refused("no units", "Throughput is positive.", dynalite+"createTable.js",
			broken("Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member "+
				"must have value greater than or equal to 1"),
			set("BillingMode", "PROVISIONED"), throughput(0, 1)),
		refused("billing mode", "There are two billing modes.", parity+"tier3/validation-ordering/createTable.test.ts",
			broken("Value 'INVALID_MODE' at 'billingMode' failed to satisfy constraint: Member must satisfy enum "+
				"value set: [PROVISIONED, PAY_PER_REQUEST]"), set("BillingMode", "INVALID_MODE")),
		refused("attribute type", "There are three types of key attributes.", dynalite+"createTable.js",
			broken("Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: "+
				"Member must satisfy enum value set: [B, N, S]"), definitions("pk", "SS", "sk", "S")),
		refused("key type", "A key attribute is HASH or RANGE.", dynalite+"createTable.js",
			broken("Value 'SORT' at 'keySchema.2.member.keyType' failed to satisfy constraint: Member must satisfy "+
				"enum value set: [HASH, RANGE]"), keys("pk", "HASH", "sk", "SORT")),
		refused("no keys", "A table has a key.", dynalite+"createTable.js",
			broken("Value '[]' at 'keySchema' failed to satisfy constraint: Member must have length greater than "+
				"or equal to 1"), set("KeySchema", []types.KeySchemaElement{})),
		refused("range first", "The partition key comes first.", dynalite+"createTable.js",
			invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type"),
			keys("pk", "RANGE", "sk", "HASH")),
		refused("two partition keys", "The second key attribute is the sort key.", dynalite+"createTable.js",
			invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
			keys("pk", "HASH", "sk", "HASH")),
		refused("one attribute twice", "The two key attributes differ.", dynalite+"createTable.js",
			invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name"),
			keys("pk", "HASH", "pk", "RANGE")),
		refused("undefined key", "A key attribute is defined.", dynalite+"createTable.js",
			invalid("Invalid KeySchema: Some index key attribute have no definition"),
			keys("pk", "HASH", "other", "RANGE")),
		refused("undefined partition key", "A partition key alone is defined too.", dynalite+"createTable.js",
			invalid(prefix+
				"Some index key attributes are not defined in AttributeDefinitions. Keys: [other], "+
				"AttributeDefinitions: [pk, sk]"), keys("other", "HASH")),
		refused("defined twice", "An attribute is defined once.", quirks+"table-throughput-billing.md",
			invalid("Attribute Name is duplicated: pk"), definitions("pk", "S", "pk", "S", "sk", "S")),
		refused("defined twice otherwise", "An attribute is defined with one type.",
			"https://github.com/scylladb/scylladb/issues/13870",
			invalid("Attribute Name is duplicated: pk"), definitions("pk", "S", "sk", "S", "pk", "N")),
		refused("unused definition", "Only key attributes are defined.", dynalite+"createTable.js",
			invalid(prefix+
				"Number of attributes in KeySchema does not exactly match number of attributes defined in "+
				"AttributeDefinitions"), keys("pk", "HASH")),
	}
}

// exclusiveStart lists the tables that come after the given one of the case's tables.
func exclusiveStart(table string) option {
	return func(w *world, in any) { set("ExclusiveStartTableName", w.name(table))(w, in) }
}

// tableSettingsCases are about encryption, and about the throughput of tables that are paid per request.
func tableSettingsCases() []Case {
	const (
		plain      = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
		five       = "table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5"
		done       = "updating rows"
		gone       = "deleted rows"
		encryption = quirks + "table-streams-encryption-class.md"
		throughput = quirks + "table-throughput-billing.md"
		encrypted  = "; encrypted ENABLED KMS some key"
		initial    = "is lower than initial throughput for OnDemand. See: " +
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
	)
	sse := func(enabled *bool, kind types.SSEType, key string) option {
		s := &types.SSESpecification{Enabled: enabled, SSEType: kind}
		if key != "" {
			s.KMSMasterKeyId = aws.String(key)
		}
		return set("SSESpecification", s)
	}
	yes, no := aws.Bool(true), aws.Bool(false)
	// Zero is no member.
	most := func(read, write int64) option {
		c := &types.OnDemandThroughput{}
		if read != 0 {
			c.MaxReadRequestUnits = aws.Int64(read)
		}
		if write != 0 {
			c.MaxWriteRequestUnits = aws.Int64(write)
		}
		return set("OnDemandThroughput", c)
	}
	warm := func(read, write int64) option {
		w := &types.WarmThroughput{}
		if read != 0 {
			w.ReadUnitsPerSecond = aws.Int64(read)
		}
		if write != 0 {
			w.WriteUnitsPerSecond = aws.Int64(write)
		}
		return set("WarmThroughput", w)
	}
	provisioned := []option{set("BillingMode", "PROVISIONED"), set("ProvisionedThroughput", units(5, 5))}
	create := func(options ...option) request { return createTable(usualTable, usualSchema, options...) }
	refused := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, noTables, expect(create(options...), want))
	}
	cases := []Case{
		newCase("encrypted",
			"A table that is to be encrypted with a key of KMS is described so, by default with the key that "+
				"AWS manages.",
			encryption, noTables,
			expect(create(sse(yes, "", "")),
				plain+encrypted), expect(describeTable(), plain+encrypted), expect(deleteTable(), gone)),
		newCase("encrypted by type", "A type alone encrypts.", quirks+"details/DDB-TABLE-044.md", noTables,
			expect(create(sse(nil, "KMS", "alias/aws/dynamodb")), plain+encrypted), expect(deleteTable(), gone)),
		newCase("not encrypted", "The key that AWS owns is not described.", encryption, noTables,
			expect(create(sse(no, "", "")),
				plain), expect(deleteTable(), gone), expect(create(sse(nil, "", "")), plain),
			expect(deleteTable(), gone)),
		newCase("change encryption", "Encryption can be changed.", encryption,
			expect(updateTable(sse(no, "", "")), badParameter("Table is already encrypted by default")),
			expect(updateTable(sse(yes, "", "")), done), expect(describeTable(), plain+encrypted),
			expect(updateTable(sse(no, "", "")), done), expect(describeTable(), plain)),
		newCase("encryption alone", "Encryption is changed by itself.", encryption,
			expect(updateTable(sse(yes, "", ""), set("BillingMode", "PAY_PER_REQUEST")),
				badParameter("Server-Side Encryption modification must be the only operation in the request"))),
		refused("encryption of no type", "There are two types of encryption.", encryption,
			broken("Value 'kms' at 'sSESpecification.sSEType' failed to satisfy constraint: Member must satisfy "+
				"enum value set: [AES256, KMS]"), sse(yes, "kms", "")),
		refused("encryption by AES256", "One of the two types of encryption is not supported.", encryption,
			badParameter("SSEType AES256 is not supported"), sse(yes, "AES256", "")),
		refused("a key without a type", "A key has a type.", encryption,
			badParameter("SSEType KMS is required if KMSMasterKeyId is specified"), sse(yes, "", "alias/aws/dynamodb")),
		refused("a type of nothing", "Encryption that is not enabled has no type.", encryption,
			badParameter("SSEType can not be specified if Enabled is false"), sse(no, "KMS", "")),
		refused("a key for nothing", "Encryption that is not enabled has no key.", encryption,
			badParameter("KMSMasterKeyId can not be specified if Enabled is false"), sse(no, "", "alias/aws/dynamodb")),

		newCase("ceiling", "A table that is paid per request can have a ceiling.", throughput, noTables,
			expect(create(most(20, 15)),
				plain+"; at most 20/15"), expect(describeTable(), plain+"; at most 20/15"),
			expect(deleteTable(), gone)),
		newCase("ceiling of one", "A table that is paid per request can have a ceiling of one kind.", throughput,
			noTables,
			expect(create(most(20, 0)),
				plain+"; at most 20/0"), expect(deleteTable(), gone), expect(create(most(0, 0)), plain),
			expect(deleteTable(), gone)),
		newCase("change a ceiling", "A change of one kind leaves the other, and -1 takes a ceiling away.",
			"https://github.com/nubo-db/dynoxide/issues/159",
			expect(updateTable(most(20, 15)),
				done), expect(updateTable(most(40, 0)), done), expect(describeTable(), plain+"; at most 40/15"),
			expect(updateTable(most(0, -1)), done), expect(describeTable(), plain+"; at most 40/0"),
			expect(updateTable(most(-1, 0)), done), expect(describeTable(), plain)),
		newCase("ceiling and billing", "The ceiling goes with payment per request.", throughput, noTables,
			expect(create(provisioned...),
				five), expect(updateTable(set("BillingMode", "PAY_PER_REQUEST"), most(20, 15)), done),
			expect(describeTable(), plain+"; at most 20/15"),
			expect(updateTable(provisioned...),
				done), expect(updateTable(most(20, 0)),
				badParameter("MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "+
					"BillingMode is PROVISIONED")),
			expect(deleteTable(), gone)),
		refused("ceiling of what is provisioned", "A provisioned table has no ceiling.", throughput,
			badParameter("MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is "+
				"PROVISIONED."), append([]option{most(0, 20)}, provisioned...)...),
		refused("ceiling of nothing", "A ceiling is positive.", throughput,
			badParameter("Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"),
			most(-1, -1)),
		newCase("ceiling with something else", "A ceiling is changed with the billing, or by itself.", throughput,
			expect(updateTable(most(20, 15), warm(12001, 0)),
				badParameter("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"))),

		newCase("warm", "A table can have a warm throughput above its usual one.", throughput, noTables,
			expect(create(warm(12001, 0)),
				plain+"; warm 12001/4000 ACTIVE"), expect(describeTable(), plain+"; warm 12001/4000 ACTIVE"),
			expect(deleteTable(), gone)),
		refused("too cold", "A table on demand has no warm throughput below its usual one.", throughput,
			badParameter("Requested ReadUnitsPerSecond for WarmThroughput for table "+initial), warm(1, 1)),
		refused("colder than provisioned", "A provisioned table has no warm throughput below its units.", throughput,
			badParameter("Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits "+
				"of ProvisionedThroughput"), append([]option{warm(4, 4)}, provisioned...)...),
		newCase("warmer", "A table can get more warm throughput, and never less.", throughput,
			expect(updateTable(warm(12001, 4001)), done), expect(describeTable(), plain+"; warm 12001/4001 ACTIVE"),
			expect(updateTable(warm(12000, 0)),
				badParameter("Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "+
					"WarmThroughput, decreasing WarmThroughput is not supported"))),
	}
	for i := range cases {
		cases[i].alone = true // as those of table_update
	}
	return cases
}
