package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableSettingsCases are about encryption, and about the throughput of tables that
// are paid per request.
func tableSettingsCases() []Case {
	const (
		plain      = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
		five       = "table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5"
		done       = "updating rows"
		gone       = "deleted rows"
		encryption = quirks + "table-streams-encryption-class.md"
		throughput = quirks + "table-throughput-billing.md"
		encrypted  = "; encrypted ENABLED KMS some key"
		initial    = "is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
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
	none := map[string]schema{}
	refused := func(name, rule, source, want string, options ...option) Case {
		return Case{Name: name, Rule: rule, Source: source, tables: none, steps: []step{expect(create(options...), want)}}
	}
	cases := []Case{
		{
			Name: "encrypted", Rule: "A table that is to be encrypted with a key of KMS is described so, by default with the key that AWS manages.", Source: encryption, tables: none,
			steps: []step{expect(create(sse(yes, "", "")), plain+encrypted), expect(describeTable(), plain+encrypted), expect(deleteTable(), gone)},
		},
		{
			Name: "encrypted by type", Rule: "A type alone encrypts.", Source: quirks + "details/DDB-TABLE-044.md", tables: none,
			steps: []step{expect(create(sse(nil, "KMS", "alias/aws/dynamodb")), plain+encrypted), expect(deleteTable(), gone)},
		},
		{
			Name: "not encrypted", Rule: "The key that AWS owns is not described.", Source: encryption, tables: none,
			steps: []step{expect(create(sse(no, "", "")), plain), expect(deleteTable(), gone), expect(create(sse(nil, "", "")), plain), expect(deleteTable(), gone)},
		},
		{
			Name: "change encryption", Rule: "Encryption can be changed.", Source: encryption,
			steps: []step{
				expect(updateTable(sse(no, "", "")), badParameter("Table is already encrypted by default")),
				expect(updateTable(sse(yes, "", "")), done), expect(describeTable(), plain+encrypted),
				expect(updateTable(sse(no, "", "")), done), expect(describeTable(), plain),
			},
		},
		{
			Name: "encryption alone", Rule: "Encryption is changed by itself.", Source: encryption,
			steps: []step{expect(updateTable(sse(yes, "", ""), set("BillingMode", "PAY_PER_REQUEST")),
				badParameter("Server-Side Encryption modification must be the only operation in the request"))},
		},
		refused("encryption of no type", "There are two types of encryption.", encryption,
			broken("Value 'kms' at 'sSESpecification.sSEType' failed to satisfy constraint: Member must satisfy enum value set: [AES256, KMS]"), sse(yes, "kms", "")),
		refused("encryption by AES256", "One of which is not supported.", encryption, badParameter("SSEType AES256 is not supported"), sse(yes, "AES256", "")),
		refused("a key without a type", "A key has a type.", encryption, badParameter("SSEType KMS is required if KMSMasterKeyId is specified"), sse(yes, "", "alias/aws/dynamodb")),
		refused("a type of nothing", "What is not enabled has no type.", encryption, badParameter("SSEType can not be specified if Enabled is false"), sse(no, "KMS", "")),
		refused("a key for nothing", "Nor has it a key.", encryption, badParameter("KMSMasterKeyId can not be specified if Enabled is false"), sse(no, "", "alias/aws/dynamodb")),

		{
			Name: "ceiling", Rule: "A table that is paid per request can have a ceiling.", Source: throughput, tables: none,
			steps: []step{expect(create(most(20, 15)), plain+"; at most 20/15"), expect(describeTable(), plain+"; at most 20/15"), expect(deleteTable(), gone)},
		},
		{
			Name: "ceiling of one", Rule: "Or a ceiling of one kind.", Source: throughput, tables: none,
			steps: []step{expect(create(most(20, 0)), plain+"; at most 20/0"), expect(deleteTable(), gone), expect(create(most(0, 0)), plain), expect(deleteTable(), gone)},
		},
		{
			Name: "change a ceiling", Rule: "A change of one kind leaves the other, and -1 takes a ceiling away.", Source: "https://github.com/nubo-db/dynoxide/issues/159",
			steps: []step{
				expect(updateTable(most(20, 15)), done), expect(updateTable(most(40, 0)), done), expect(describeTable(), plain+"; at most 40/15"),
				expect(updateTable(most(0, -1)), done), expect(describeTable(), plain+"; at most 40/0"),
				expect(updateTable(most(-1, 0)), done), expect(describeTable(), plain),
			},
		},
		{
			Name: "ceiling and billing", Rule: "The ceiling goes with payment per request.", Source: throughput, tables: none,
			steps: []step{
				expect(create(provisioned...), five), expect(updateTable(set("BillingMode", "PAY_PER_REQUEST"), most(20, 15)), done),
				expect(describeTable(), plain+"; at most 20/15"),
				expect(updateTable(provisioned...), done), expect(updateTable(most(20, 0)), badParameter("MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED")),
				expect(deleteTable(), gone),
			},
		},
		refused("ceiling of what is provisioned", "A provisioned table has no ceiling.", throughput,
			badParameter("MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED."), append([]option{most(0, 20)}, provisioned...)...),
		refused("ceiling of nothing", "A ceiling is positive.", throughput,
			badParameter("Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"), most(-1, -1)),
		{
			Name: "ceiling with something else", Rule: "A ceiling is changed with the billing, or by itself.", Source: throughput,
			steps: []step{expect(updateTable(most(20, 15), warm(12001, 0)), badParameter("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"))},
		},

		{
			Name: "warm", Rule: "A table can be ready for more than it would be.", Source: throughput, tables: none,
			steps: []step{expect(create(warm(12001, 0)), plain+"; warm 12001/4000 ACTIVE"), expect(describeTable(), plain+"; warm 12001/4000 ACTIVE"), expect(deleteTable(), gone)},
		},
		refused("too cold", "But for no less.", throughput, badParameter("Requested ReadUnitsPerSecond for WarmThroughput for table "+initial), warm(1, 1)),
		refused("colder than provisioned", "Nor for less than it is provisioned with.", throughput,
			badParameter("Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of ProvisionedThroughput"), append([]option{warm(4, 4)}, provisioned...)...),
		{
			Name: "warmer", Rule: "A table can be made ready for more, and never for less.", Source: throughput,
			steps: []step{
				expect(updateTable(warm(12001, 4001)), done), expect(describeTable(), plain+"; warm 12001/4001 ACTIVE"),
				expect(updateTable(warm(12000, 0)), badParameter("Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput, decreasing WarmThroughput is not supported")),
			},
		},
	}
	for i := range cases {
		cases[i].alone = true // as those of table_update
	}
	return cases
}
