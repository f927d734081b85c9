package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Changes of an UpdateTable.

// adding creates an index and defines its key; see schema for the text.
func adding(text string) option {
	return func(_ *world, in any) {
		if in, ok := in.(*dynamodb.UpdateTableInput); ok {
			x, definitions := indexOf(text, in.AttributeDefinitions)
			in.AttributeDefinitions = definitions
			in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, types.GlobalSecondaryIndexUpdate{
				Create: &types.CreateGlobalSecondaryIndexAction{
					IndexName: x.IndexName, KeySchema: x.KeySchema, Projection: x.Projection,
				},
			})
		}
	}
}

func change(u types.GlobalSecondaryIndexUpdate) option {
	return func(_ *world, in any) {
		if in, ok := in.(*dynamodb.UpdateTableInput); ok {
			in.GlobalSecondaryIndexUpdates = append(in.GlobalSecondaryIndexUpdates, u)
		}
	}
}

func dropping(name string) option {
	return change(types.GlobalSecondaryIndexUpdate{
		Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String(name)},
	})
}

func units(read, write int64) *types.ProvisionedThroughput {
	return &types.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write}
}

func provisioning(name string, p *types.ProvisionedThroughput) option {
	return change(types.GlobalSecondaryIndexUpdate{
		Update: &types.UpdateGlobalSecondaryIndexAction{IndexName: aws.String(name), ProvisionedThroughput: p},
	})
}

func tableUpdateCases() []Case {
	const (
		indexed = usualSchema + " | gsi: g S -> ALL | lsi: pk S, n N -> ALL"
		plain   = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
		done    = "updating rows"
		actual  = "; gsi (g S HASH) ALL; lsi (pk S HASH, n N RANGE) ALL"
		suite   = nubo + "tier1/updateTable/basic.test.ts"
		indexes = alternator + "test_gsi_updatetable.py"
		test    = dynalite + "updateTable.js"
		nothing = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
			"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, " +
			"ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, " +
			"WarmThroughput or TableClass is required"
		same = "The provisioned throughput for the table will not change. The requested value equals the current " +
			"value. Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. Current " +
			"WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. Refer to the Amazon " +
			"DynamoDB Developer Guide for current limits and how to request higher limits."
		limitExceeded = "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or " +
			"deleted simultaneously per table"
	)
	tables := map[string]schema{usualTable: indexed}
	provisioned := createTable(usualTable, usualSchema, set("BillingMode", "PROVISIONED"),
		set("ProvisionedThroughput", units(5, 5)))
	const five = "table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5"
	// refused is an UpdateTable that changes nothing.
	refused := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, inTables(tables),
			expect(updateTable(options...), want), expect(describeTable(), plain+actual))
	}
	byQ := query("q = :q", index("new"), with(attrs{":q": "x"}), only("sk"))
	onDemand := set("BillingMode", "PAY_PER_REQUEST")
	cases := []Case{
		newCase("add an index", "A global index can be added.", docOnlineOps,
			expect(updateTable(adding("new: q S, r N -> INCLUDE v")),
				done), expect(describeTable(), plain+"; new (q S HASH, r N RANGE) INCLUDE v")),
		newCase("backfill",
			"A new index has the items that were there before, but for those whose values could be no key.",
			docBackfill,
			holding(row("a", "1", "q", "x"), row("a", "2", "q", 1), row("a", "3"), row("a", "4", "q", ""),
				row("b", "5", "q", "x")),
			expect(updateTable(adding("new: q S, sk S -> ALL")), done),
			expect(byQ, `2 of 2: {sk: "1"} {sk: "5"}`),
			expect(put(row("a", "6", "q", 1)),
				badParameter("Type mismatch for Index Key q Expected: S Actual: N IndexName: new"))),
		newCase("add an index of several attributes", "An index with a key of several attributes can be added.",
			docManyKeys, holding(row("a", "1", "q", "x", "r", 1, "s", "y")),
			expect(updateTable(adding("new: q S, r N HASH, s S -> ALL")), done),
			expect(query("q = :q AND r = :r", index("new"), with(attrs{":q": "x", ":r": 1}), only("sk")),
				`1 of 1: {sk: "1"}`)),
		newCase("add one after the other", "Indexes are added one after the other.",
			nubo+"tier2/updateTable/gsi.test.ts",
			expect(updateTable(adding("new: q S -> ALL")),
				done), expect(updateTable(adding("other: r N -> KEYS_ONLY")), done),
			expect(describeTable(), plain+"; new (q S HASH) ALL; other (r N HASH) KEYS_ONLY")),
		newCase("drop an index", "A global index can be deleted, and then its rules go.", indexes, inTables(tables),
			expect(updateTable(dropping("gsi")),
				done), expect(describeTable(), plain+"; lsi (pk S HASH, n N RANGE) ALL"),
			expect(query("g = :g", index("gsi"), with(attrs{":g": "x"})),
				invalid("The table does not have the specified index: gsi")),
			expect(put(row("a", "b", "g", 1)), ok)),
		newCase("units", "Throughput can be changed.", suite, noTables,
			expect(provisioned, five), expect(updateTable(set("ProvisionedThroughput", units(20, 15))), done),
			expect(describeTable(),
				"table rows (pk S HASH, sk S RANGE) PROVISIONED 20/15"), expect(deleteTable(), "deleted rows")),
		newCase("same units", "A change to the present throughput is refused.", test, noTables,
			expect(provisioned, five), expect(updateTable(set("ProvisionedThroughput", units(5, 5))), invalid(same)),
			expect(updateTable(set("BillingMode", "PROVISIONED"), set("ProvisionedThroughput", units(5, 5))),
				invalid(same)), expect(deleteTable(), "deleted rows")),
		newCase("billing", "A table can be paid per request, and be provisioned again.", suite,
			noTables,
			expect(provisioned, five), expect(updateTable(onDemand), done), expect(describeTable(), plain),
			expect(updateTable(onDemand), done),
			expect(updateTable(set("BillingMode", "PROVISIONED"), set("ProvisionedThroughput", units(5, 5))), done),
			expect(describeTable(), "table rows (pk S HASH, sk S RANGE) PROVISIONED once on demand 5/5"),
			expect(deleteTable(), "deleted rows")),
		newCase("protection", "A table that is protected is not deleted until the protection is off.", docProtection,
			expect(updateTable(set("DeletionProtectionEnabled", true)), done),
			expect(deleteTable(),
				invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion "+
					"protection first.")),
			expect(updateTable(set("DeletionProtectionEnabled", false)), done), expect(deleteTable(), "deleted rows")),
		newCase("class", "The table's class can be changed.", nubo+"tier1/updateTable/config.test.ts",
			expect(updateTable(set("TableClass", "STANDARD_INFREQUENT_ACCESS")), done), expect(describeTable(), plain)),
		newCase("no table", "A table that is changed exists.", test,
			expect(updateTable(on("missing"), onDemand),
				"ResourceNotFoundException: Requested resource not found: Table: missing not found")),
		newCase("same type", "An attribute keeps the type that it was defined with.", indexes, inTables(tables),
			expect(updateTable(adding("new: g N -> ALL")),
				badParameter("Attributes cannot be redefined. Please check that your attribute has the same type as "+
					"previously defined. Existing schema: Schema:[SchemaElement: key{g:S:HASH}] New schema: "+
					"Schema:[SchemaElement: key{g:N:HASH}]"))),
		refused("nothing", "An update changes something.", test, invalid(nothing)),
		refused("no changes of indexes", "An empty list of changes is none.", test, invalid(nothing),
			set("GlobalSecondaryIndexUpdates", []types.GlobalSecondaryIndexUpdate{})),
		refused("no name", "The table is named.", test,
			invalid("The parameter 'TableName' is required but was not present in the request"), noName(), onDemand),
		refused("no units at all", "Throughput has both units.", test, broken(
			"Value null at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must "+
				"not be null",
			"Value null at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must "+
				"not be null",
		), set("ProvisionedThroughput", &types.ProvisionedThroughput{})),
		refused("negative units", "Units are positive.", test, broken(
			"Value '-1' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member must "+
				"have value greater than or equal to 1",
			"Value '-1' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have "+
				"value greater than or equal to 1",
		), set("ProvisionedThroughput", units(-1, -1))),
		refused("too many units", "Units are bounded.", test,
			invalid("Given value 1000000000001 for ReadCapacityUnits is out of bounds"),
			set("ProvisionedThroughput", units(1000000000001, 1))),
		refused("units on demand", "A table that is to be paid per request has no throughput.", suite,
			badParameter(
				"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
			), onDemand, set("ProvisionedThroughput", units(5, 5))),
		refused("provisioned without units", "A table that is to be provisioned has throughput.", controller,
			badParameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED"),
			set("BillingMode", "PROVISIONED")),
		refused("provisioned without units of an index",
			"A table that is to be provisioned has throughput for its global indexes.", controller,
			badParameter("ProvisionedThroughput must be specified for index: gsi"), set("BillingMode", "PROVISIONED"),
			set("ProvisionedThroughput", units(5, 5))),
		refused("class and more", "A change of class comes alone.", controller,
			badParameter("TableClass modification must be the only operation in the request"),
			set("TableClass", "STANDARD"), onDemand),
		refused("protection and more", "A change of deletion protection comes alone.", controller,
			badParameter("DeletionProtection modification must be the only operation in the request"),
			set("DeletionProtectionEnabled", false), onDemand),
		refused("empty change", "A change of an index creates, updates or deletes it.", test,
			badParameter("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "+
				"GlobalSecondaryIndexUpdate.Delete must not be null"), change(types.GlobalSecondaryIndexUpdate{})),
		refused("two actions in one change", "A change of an index has one action.", indexes,
			badParameter("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"),
			change(types.GlobalSecondaryIndexUpdate{
				Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("gsi")},
				Update: &types.UpdateGlobalSecondaryIndexAction{
					IndexName: aws.String("gsi"), ProvisionedThroughput: units(1, 1),
				},
			})),
		refused("one index twice", "An index is changed once.", test,
			badParameter("Only one global secondary index update per index is allowed simultaneously. Index: gsi"),
			dropping("gsi"), provisioning("gsi", units(1, 1))),
		refused("two indexes", "One index is created or deleted at a time.", indexes, limitExceeded, dropping("gsi"),
			adding("new: q S -> ALL")),
		refused("index that exists", "A new index has a new name.", indexes,
			invalid("Attempting to create an index which already exists"), adding("gsi: q S -> ALL")),
		refused("local index that exists", "A new index has a name that no local index has.", indexes,
			invalid("Attempting to create an index which already exists"), adding("lsi: q S -> ALL")),
		refused("no definitions", "The key of a new index is defined, even if it was before.", indexes,
			badParameter("AttributeDefinitions is not specified for index: new"),
			adding("new: g S -> ALL"), set("AttributeDefinitions", nil)),
		refused("key not defined", "The whole key of a new index is defined.", indexes, badParameter(
			"Some index key attributes are not defined in AttributeDefinitions. Keys: [q], "+
				"AttributeDefinitions: [pk, sk]",
		),
			adding("new: q S -> ALL"), set("AttributeDefinitions", usualSchema.input().AttributeDefinitions)),
		refused("five partition attributes", "The limits on keys hold.", alternator+"test_gsi_composite.py",
			badParameter("The KeySchema exceeds the maximum allowed number of HASH key attributes"),
			adding("new: a S, b S HASH, c S HASH, d S HASH, e S HASH -> ALL")),
		refused("no such index", "An index that is deleted exists.", indexes,
			"ResourceNotFoundException: Requested resource not found: Index none for table rows", dropping("none")),
		refused("no such index to provision", "An index that is changed exists.", test,
			"ResourceNotFoundException: Requested resource not found: Index none for table rows",
			provisioning("none", units(1, 1))),
		refused("local index", "Local indexes stay.", docLocal,
			invalid("Cannot delete an index that is not a GlobalSecondaryIndex: lsi"), dropping("lsi")),
		refused("units of an index on demand", "An index of a table that is paid per request has no throughput.",
			controller,
			badParameter("The only Updates for index: gsi when TableThroughputMode is PAY_PER_REQUEST can be to "+
				"OnDemandThroughput, WarmThroughput"), provisioning("gsi", units(1, 1))),
		refused("index and units", "Indexes and throughput are changed one after the other.", controller,
			badParameter("You cannot create or delete index while updating table IOPS"),
			set("BillingMode", "PROVISIONED"), set("ProvisionedThroughput", units(1, 1)), dropping("gsi")),
	}
	for i := range cases {
		cases[i].alone =
			true // DynamoDB Local adds up the throughput of all tables, and fails if tables change meanwhile
	}
	return cases
}
