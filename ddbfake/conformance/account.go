package conformance

import "github.com/aws/aws-sdk-go-v2/service/dynamodb"

func accountCases() []Case {
	backups := func(options ...option) request {
		return func(w *world) any { return build(w, &dynamodb.DescribeContinuousBackupsInput{}, options) }
	}
	none := map[string]schema{}
	return []Case{
		{
			Name: "limits", Rule: "DescribeLimits tells the quotas on throughput of the account and of a table.", Source: nubo + "tier2/account/limits.test.ts",
			tables: none,
			steps: []step{
				expect(func(*world) any { return &dynamodb.DescribeLimitsInput{} }, "limits of the account: true, of a table: true"),
			},
		},
		{
			Name: "endpoints", Rule: "DescribeEndpoints tells an address and how long it is good.", Source: nubo + "tier2/account/limits.test.ts",
			tables: none,
			steps: []step{
				expect(func(*world) any { return &dynamodb.DescribeEndpointsInput{} }, "an address: true, good for 1440 minutes"),
			},
		},
		{
			Name: "backups", Rule: "A table has continuous backups, and no recovery to a point in time unless it is asked for.", Source: nubo + "tier2/backups/continuous.test.ts",
			steps: []step{expect(backups(), "backups ENABLED, point in time DISABLED")},
		},
		{
			Name: "backups of no table", Rule: "A table that does not exist has an exception of its own.", Source: controller,
			tables: none,
			steps: []step{
				expect(backups(on("missing")), "TableNotFoundException: Table not found: missing"),
			},
		},
		{
			Name: "backups without a name", Rule: "A table's name is required.", Source: api("DescribeContinuousBackups"),
			tables: none,
			steps: []step{
				expect(backups(noName()), broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null")),
			},
		},
	}
}
