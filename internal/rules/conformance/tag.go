package conformance

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func tagCases() []Case {
	numbered := func(from, to int) []types.Tag {
		var list []types.Tag
		for i := from; i < to; i++ {
			list = append(list, tags(fmt.Sprintf("t%02d", i), "v")...)
		}
		return list
	}
	keys := func(list []types.Tag) []string {
		var names []string
		for _, tag := range list {
			names = append(names, *tag.Key)
		}
		return names
	}
	const (
		tooMany  = "Number of Tags exceed the current limit for the provided ResourceArn"
		badKey   = "The Tag Key provided is invalid, Key: "
		badValue = "The Tag Value provided is invalid, Value: "
		reserved = "Tag Key cannot be prefixed with aws:, Key: "
		denied   = "AccessDeniedException: Access is denied"
	)
	k128, k129 := strings.Repeat("k", 128), strings.Repeat("k", 129)
	v256, v257 := strings.Repeat("é", 256), strings.Repeat("é", 257)
	created := func(name string, list []types.Tag) request {
		return createTable(name, "id S", set("Tags", list))
	}
	cases := []Case{
		newCase("add", "Tags are added to those that are there.", nubo+"tier2/tags/basic.test.ts",
			expect(listTags(), "[]"),
			expect(tagTable(tags("env", "test", "project", "x")), ok),
			expect(tagTable(tags("team", "y")), ok),
			expect(listTags(), `["env": "test", "project": "x", "team": "y"]`)),
		newCase("replace", "A tag that is there gets the new value.", docTags,
			expect(tagTable(tags("env", "test")), ok),
			expect(tagTable(tags("env", "production")), ok),
			expect(listTags(), `["env": "production"]`)),
		newCase("remove", "Tags are removed by key, and those that are not there do not matter.", controller,
			expect(tagTable(tags("a", "1", "b", "2", "c", "3")), ok),
			expect(untagTable([]string{"b", "none"}), ok),
			expect(listTags(), `["a": "1", "c": "3"]`),
			expect(untagTable([]string{"a", "c"}), ok),
			expect(listTags(), "[]")),
		newCase("case", "Keys are case-sensitive, and a value may be empty.", docTags,
			expect(tagTable(tags("Env", "", "env", "x")), ok),
			expect(listTags(), `["Env": "", "env": "x"]`)),
		newCase("characters", "Letters of any script, digits, spaces and + - = . _ : / @ are allowed.", controller,
			expect(tagTable(tags("ключ 1", "a b+c-d=e.f_g:h/i@j", " ", "表")), ok),
			expect(listTags(), `[" ": "表", "ключ 1": "a b+c-d=e.f_g:h/i@j"]`)),
		newCase("lengths", "A key has 128 characters at most, a value 256.", docTags,
			expect(tagTable(tags(k128, v256)), ok),
			expect(tagTable(tags(k129, "v")), invalid(badKey+k129)),
			expect(tagTable(tags("k", v257)), invalid(badValue+v257)),
			expect(untagTable([]string{k129}), invalid(badKey+k129))),
		newCase("50 tags", "A table has 50 tags at most.", docTags,
			expect(tagTable(numbered(0, 30)), ok),
			expect(tagTable(numbered(20, 50)), ok),
			expect(tagTable(tags("one", "more")), invalid(tooMany)),
			expect(tagTable(numbered(0, 50)), ok),
			expect(tagTable(numbered(0, 51)), invalid(tooMany)),
			expect(untagTable(keys(numbered(0, 51))), invalid(tooMany)),
			expect(untagTable(keys(numbered(0, 50))), ok),
			expect(listTags(), "[]")),
		newCase("all or nothing", "One tag that is not valid has all tags refused.", controller,
			expect(tagTable(tags("good", "x", "aws:zzz", "y")), invalid(reserved+"aws:zzz")),
			expect(tagTable(tags("good", "x", "b#d", "y")), invalid(badKey+"b#d")),
			expect(listTags(), "[]")),
		newCase("create with tags", "A table may be created with tags.", alternator+"test_tag.py",
			noTables,
			expect(created(usualTable, tags("env", "test")), "table rows (id S HASH) PAY_PER_REQUEST 0/0"),
			expect(deleteTable(), "deleted rows")),
		newCase("create with bad tags", "A table is not created with tags that are not valid.",
			alternator+"test_tag.py", noTables,
			expect(created(usualTable, tags("aws:foo", "x")), invalid(reserved+"aws:foo")),
			expect(created(usualTable, numbered(0, 51)), invalid(tooMany)),
			expect(describeTable(), "ResourceNotFoundException: Requested resource not found: Table: rows not found"),
			expect(created(usualTable, tags()), "table rows (id S HASH) PAY_PER_REQUEST 0/0"),
			expect(deleteTable(), "deleted rows")),
	}
	type refusal struct {
		name, rule, source string
		do                 request
		want               string
	}
	one := tags("k", "v")
	for _, r := range []refusal{
		{"no tags", "There is a tag to add.", controller, tagTable(nil),
			invalid("Atleast one Tag needs to be provided as Input.")},
		{"empty tags", "An empty list is none.", controller, tagTable(tags()),
			invalid("Atleast one Tag needs to be provided as Input.")},
		{"no keys", "There is a tag to remove.", controller, untagTable(nil),
			invalid("Atleast one Tag Key needs to be provided as Input.")},
		{"empty key", "A key is not empty.", controller, tagTable(tags("", "v")), invalid(badKey)},
		{"null key", "A tag has a key.", controller, tagTable([]types.Tag{{Value: aws.String("v")}}),
			invalid(badKey + "null")},
		{"null value", "A tag has a value.", controller, tagTable([]types.Tag{{Key: aws.String("k")}}),
			invalid(badValue + "null")},
		{"bad key", "A key has only certain characters.", controller, tagTable(tags("bad#char", "v")),
			invalid(badKey + "bad#char")},
		{"bad value", "A value has only certain characters.", controller, tagTable(tags("k", "100%")),
			invalid(badValue + "100%")},
		{"emoji", "A tag has no emoji.", controller, tagTable(tags("k", "🔑")), invalid(badValue + "🔑")},
		{"reserved prefix", "Keys with aws: are AWS's.", controller, tagTable(tags("aws:foo", "v")),
			invalid(reserved + "aws:foo")},
		{"reserved prefix in capitals", "Keys with AWS: are AWS's, too.", controller, tagTable(tags("AWS:foo", "v")),
			invalid(reserved + "AWS:foo")},
		{"reserved prefix removed", "Keys with aws: cannot be removed.", controller, untagTable([]string{"aws:foo"}),
			invalid(reserved + "aws:foo")},
		{"one key twice", "No key comes twice.", controller, tagTable(tags("dup", "1", "dup", "2")),
			invalid("Duplicate Tag Keys provided as input: Duplicate Tag Key found dup")},

		{"no ARN", "An ARN is required.", dynalite + "tagResource.js", tagTable(one, set("ResourceArn", nil)),
			invalid("Invalid TableArn")},
		{"a name", "A table's name is no ARN.", controller, listTags(set("ResourceArn", "not-an-arn")),
			badParameter("ARNs must start with 'arn:': not-an-arn")},
		{"missing table", "The table exists.", controller, listTags(onARN("missing")),
			"ResourceNotFoundException: Requested resource not found: ResourceArn: arn/missing not found"},
		{"tag a missing table", "A table that is tagged exists.", controller, tagTable(one, onARN("missing")),
			"ResourceNotFoundException: Requested resource not found: ResourceArn: arn/missing not found"},
		{"untag a missing table", "A table whose tags are removed exists.", controller,
			untagTable([]string{"k"}, onARN("missing")),
			"ResourceNotFoundException: Requested resource not found: ResourceArn: arn/missing not found"},
		{"another service", "An ARN of another service is denied.", extenddb,
			tagTable(one, set("ResourceArn", "arn:aws:s3:::mybucket")), denied},
		{"another account", "An ARN of another account is denied.", extenddb,
			tagTable(one, set("ResourceArn", "arn:aws:dynamodb:us-east-1:123456789012:table/rows")), denied},
		{"index", "An index has no tags.", alternator + "test_tag.py", listTags(onARN("rows/index/i")), badParameter(
			"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " +
				"arn/rows/index/i",
		)},
		{"backup", "A backup has no tags.", controller, listTags(onARN("rows/backup/b")),
			badParameter("Provided Arn is not a DynamoDB resource arn: arn/rows/backup/b")},
	} {
		cases = append(cases, newCase(r.name, r.rule, r.source, expect(r.do, r.want)))
	}
	return cases
}

func accountCases() []Case {
	backups := func(options ...option) request {
		return func(w *world) any { return build(w, &dynamodb.DescribeContinuousBackupsInput{}, options) }
	}
	on35 := &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}
	on7 := &types.PointInTimeRecoverySpecification{
		PointInTimeRecoveryEnabled: aws.Bool(true), RecoveryPeriodInDays: aws.Int32(7),
	}
	off := &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(false)}
	recovery := func(to *types.PointInTimeRecoverySpecification, options ...option) request {
		return func(w *world) any {
			return build(w, &dynamodb.UpdateContinuousBackupsInput{PointInTimeRecoverySpecification: to}, options)
		}
	}
	return []Case{
		newCase("limits", "DescribeLimits tells the quotas on throughput of the account and of a table.",
			nubo+"tier2/account/limits.test.ts", noTables,
			expect(func(*world) any { return &dynamodb.DescribeLimitsInput{} },
				"limits of the account: true, of a table: true")),
		newCase("endpoints", "DescribeEndpoints tells an address and how long it is good.",
			nubo+"tier2/account/limits.test.ts", noTables,
			expect(func(*world) any { return &dynamodb.DescribeEndpointsInput{} },
				"an address: true, good for 1440 minutes")),
		newCase("backups",
			"A table has continuous backups, and no recovery to a point in time unless it is asked for.",
			nubo+"tier2/backups/continuous.test.ts", expect(backups(), "backups ENABLED, point in time DISABLED")),
		newCase("backups of no table", "A table that does not exist has an exception of its own.", controller,
			noTables, expect(backups(on("missing")), "TableNotFoundException: Table not found: missing")),
		newCase("backups without a name", "A table's name is required.", api("DescribeContinuousBackups"),
			noTables,
			expect(backups(noName()),
				broken("Value null at 'tableName' failed to satisfy constraint: Member must not be null"))),
		newCase("recovery", "Recovery to a point in time is turned on for 35 days unless fewer are asked for, and off.",
			api("UpdateContinuousBackups"),
			expect(recovery(on35), "point in time ENABLED for 35 days"),
			expect(backups(), "backups ENABLED, point in time ENABLED"),
			expect(recovery(on7), "point in time ENABLED for 7 days"),
			expect(recovery(off), "point in time DISABLED for 0 days"),
			expect(backups(), "backups ENABLED, point in time DISABLED")),
		newCase("recovery of no table", "A table that does not exist has an exception of its own.", controller,
			noTables, expect(recovery(on35, on("missing")), "TableNotFoundException: Table not found: missing")),
		newCase("recovery without a setting", "The setting is required.", api("UpdateContinuousBackups"),
			expect(recovery(nil),
				broken("Value null at 'pointInTimeRecoverySpecification' failed to satisfy constraint: Member must "+
					"not be null"))),
		newCase("insights", "A table that never had contributor insights has none.", api("DescribeContributorInsights"),
			expect(func(w *world) any { return build(w, &dynamodb.DescribeContributorInsightsInput{}, nil) },
				"insights DISABLED")),
		newCase("streaming", "A table that never streamed to Kinesis has no destination.",
			api("DescribeKinesisStreamingDestination"),
			expect(func(w *world) any { return build(w, &dynamodb.DescribeKinesisStreamingDestinationInput{}, nil) },
				"destinations: 0")),
		newCase("no exports", "An account that never exported has no exports.", api("ListExports"), noTables,
			expect(func(*world) any { return &dynamodb.ListExportsInput{} }, "exports: 0")),
		newCase("no global tables", "An account that never had a global table of 2017 has none.",
			api("ListGlobalTables"), noTables,
			expect(func(*world) any { return &dynamodb.ListGlobalTablesInput{} }, "global tables: 0")),
		newCase("no imports", "An account that never imported has no imports.", api("ListImports"), noTables,
			expect(func(*world) any { return &dynamodb.ListImportsInput{} }, "imports: 0")),
		newCase("no backups", "A table that was never backed up has no backups.", api("ListBackups"),
			expect(func(w *world) any { return build(w, &dynamodb.ListBackupsInput{}, nil) }, "[]")),
	}
}
