package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// streamTableCases are about the setting of a table's stream.
func streamTableCases() []Case {
	const (
		plain     = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
		done      = "updating rows"
		disabled  = plain + "; latest stream"
		sheet     = quirks + "table-streams-encryption-class.md"
		ddb50     = quirks + "details/DDB-TABLE-050.md"
		ddb442    = quirks + "details/DDB-TABLE-442.md"
		viewNames = "[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
	)
	doc := api("UpdateTable")
	enabled := func(view string) string { return plain + "; stream true " + view + "; latest stream" }
	streamed := func(view string) map[string]schema {
		return map[string]schema{usualTable: usualSchema + schema(" | stream: "+view)}
	}
	noTables := map[string]schema{}
	// refused is a CreateTable that does not create a table.
	refused := func(name, rule, want string, s *types.StreamSpecification) Case {
		return Case{Name: name, Rule: rule, Source: sheet, tables: noTables, steps: []step{
			expect(createTable(usualTable, usualSchema, set("StreamSpecification", s)), want),
		}}
	}
	// update is an UpdateTable of a table without a stream.
	update := func(name, rule, source, want string, options ...option) Case {
		return Case{Name: name, Rule: rule, Source: source, steps: []step{
			expect(updateTable(options...), want),
			expect(describeTable(), plain),
		}}
	}
	notNull := broken("Value null at 'streamSpecification.streamEnabled' failed to satisfy constraint: Member must not be null")
	badView := broken("Value 'new_image' at 'streamSpecification.streamViewType' failed to satisfy constraint: Member must satisfy enum value set: " + viewNames)
	provisioned := createTable(usualTable, usualSchema, set("BillingMode", "PROVISIONED"), set("ProvisionedThroughput", units(5, 5)))
	cases := []Case{
		{
			Name: "none", Rule: "A table has no stream unless one is enabled.", Source: quirks + "details/DDB-TABLE-029.md",
			steps: []step{expect(describeTable(), plain)},
		},
		{
			Name: "off at creation", Rule: "A table may be created with its stream off, which is as if nothing was said.", Source: quirks + "details/DDB-TABLE-029.md",
			tables: noTables,
			steps: []step{
				expect(createTable(usualTable, usualSchema, disabling()), plain),
				expect(describeTable(), plain),
				expect(deleteTable(), "deleted rows"),
			},
		},
		refused("on without a view", "A stream that is on has a view.",
			badParameter("Table is being created with a stream enabled, UpdateViewType is required"), streamOn("")),
		refused("off with a view", "A stream that is off has no view.",
			badParameter("Table is being created with a stream disabled, UpdateViewType should not be specified"),
			&types.StreamSpecification{StreamEnabled: aws.Bool(false), StreamViewType: types.StreamViewTypeNewImage}),
		refused("a view alone", "A StreamSpecification says whether the stream is on.", notNull,
			&types.StreamSpecification{StreamViewType: types.StreamViewTypeNewImage}),
		refused("nothing said", "An empty StreamSpecification is refused.", notNull, &types.StreamSpecification{}),
		refused("no such view", "There are four views, in capital letters.", badView, streamOn("new_image")),

		{
			Name: "enable", Rule: "UpdateTable enables a stream.", Source: doc,
			steps: []step{
				expect(updateTable(enabling("NEW_IMAGE")), done),
				expect(describeTable(), enabled("NEW_IMAGE")),
			},
		},
		{
			Name: "enable again", Rule: "Enabling what is enabled is refused, with the same view too.", Source: ddb50, tables: streamed("NEW_IMAGE"),
			steps: []step{
				expect(updateTable(enabling("NEW_IMAGE")), invalid("Table already has an enabled stream: TableName: rows")),
				expect(updateTable(enabling("KEYS_ONLY")), invalid("Table already has an enabled stream: TableName: rows")),
				expect(describeTable(), enabled("NEW_IMAGE")),
			},
		},
		{
			Name: "disable", Rule: "A table whose stream is disabled is as one that has none, but for the name of the latest one.", Source: ddb50, tables: streamed("NEW_IMAGE"),
			steps: []step{
				expect(updateTable(disabling()), done),
				expect(describeTable(), disabled),
			},
		},
		update("disable nothing", "Disabling a stream needs one.", ddb50, invalid("Table has no stream to disable: TableName: rows"), disabling()),
		{
			Name: "disable again", Rule: "Disabling what is disabled is refused.", Source: ddb50, tables: streamed("NEW_IMAGE"),
			steps: []step{
				expect(updateTable(disabling()), done),
				expect(updateTable(disabling()), invalid("Table has no stream to disable: TableName: rows")),
			},
		},
		{
			Name: "enable anew", Rule: "A stream can be disabled and enabled anew, with another view.", Source: ddb50, tables: streamed("NEW_IMAGE"),
			steps: []step{
				expect(updateTable(disabling()), done),
				expect(updateTable(enabling("OLD_IMAGE")), done),
				expect(describeTable(), enabled("OLD_IMAGE")),
			},
		},
		update("update without a view", "Enabling a stream needs a view.", ddb50,
			badParameter("If stream is being enabled then UpdateViewType is required"), enabling("")),
		{
			Name: "disable with a view", Rule: "Disabling a stream takes no view.", Source: ddb50, tables: streamed("KEYS_ONLY"),
			steps: []step{
				expect(updateTable(set("StreamSpecification", &types.StreamSpecification{StreamEnabled: aws.Bool(false), StreamViewType: types.StreamViewTypeKeysOnly})),
					badParameter("If stream is being disabled, then UpdateViewType must not be specified")),
				expect(describeTable(), enabled("KEYS_ONLY")),
			},
		},
		update("update to no such view", "UpdateTable knows the same views.", sheet, badView, enabling("new_image")),
		update("update says nothing", "UpdateTable is told whether the stream is on.", sheet, notNull, set("StreamSpecification", &types.StreamSpecification{})),
		update("with an index", "A stream and indexes are not changed at once.", ddb442,
			badParameter("You cannot create or delete index while changing stream status"), enabling("KEYS_ONLY"), adding("gsi: g S -> ALL")),
		update("with protection", "Deletion protection is changed alone.", sheet,
			badParameter("DeletionProtection modification must be the only operation in the request"), enabling("KEYS_ONLY"), set("DeletionProtectionEnabled", false)),
		update("with a class", "The class of a table is changed alone.", sheet,
			badParameter("TableClass modification must be the only operation in the request"), enabling("KEYS_ONLY"), set("TableClass", "STANDARD_INFREQUENT_ACCESS")),
		{
			Name: "with throughput", Rule: "A stream and throughput are not changed at once.", Source: sheet, tables: noTables,
			alone: true, // see table/provisioned
			steps: []step{
				expect(provisioned, "table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5"),
				expect(updateTable(enabling("KEYS_ONLY"), set("ProvisionedThroughput", units(6, 6))),
					badParameter("You cannot modify stream status while updating table IOPS")),
				expect(deleteTable(), "deleted rows"),
			},
		},
		{
			Name: "with on demand", Rule: "A stream may be enabled in the request that makes a table pay per request.", Source: sheet,
			steps: []step{
				expect(updateTable(enabling("KEYS_ONLY"), set("BillingMode", "PAY_PER_REQUEST")), done),
				expect(describeTable(), enabled("KEYS_ONLY")),
			},
		},
	}
	for _, view := range []string{"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"} {
		cases = append(cases, Case{
			Name: "created with " + view, Rule: "A table may be created with a stream of any view.", Source: api("CreateTable"), tables: noTables,
			steps: []step{
				expect(createTable(usualTable, usualSchema, enabling(view)), enabled(view)),
				expect(describeTable(), enabled(view)),
				expect(deleteTable(), "deleted rows"),
			},
		})
	}
	return cases
}
