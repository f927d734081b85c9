package imports

// Module holds the rules of this module. Level 1 stands first.
var Module = Rules{
	Module: "github.com/isr-sim/isr-sim",

	Levels: [][]string{
		{"ddbfake/internal/slab"},
		{
			"ddbfake/attr", "ddbfake/internal/sdktest", "fakeclock", "fixtures",
			"fixtures/ddblocal",
			"internal/api", "internal/atomicfile", "internal/bodystep", "internal/fingerprint", "internal/heap", "internal/hostname", "internal/httpbody",
			"internal/httpdoor", "internal/imports", "internal/jobs", "internal/lint", "internal/progress", "internal/race",
			"internal/shell", "internal/sigv4", "internal/suggest", "internal/terminal", "internal/verdicts", "internal/words", "scenario/history", "scenario/policy",
		},
		{"ddbfake/internal/packed", "internal/browser", "internal/recorder", "scenario/sim"},
		{"ddbfake/internal/awsjson", "ddbfake/internal/expr"},
		{
			"ddbfake", "internal/conformance", "internal/conformance/differential", "internal/probe", "internal/programs",
			"internal/reschedule", "internal/swarm", "scenario/isr",
		},
		{"internal/hold", "internal/pagecache", "internal/rowmap", "property/gen", "s3fake"},
		{"internal/control", "internal/objects"},
		{"internal/mutant", "internal/nodes", "property/bodies", "internal/policyprotocol", "scenario/isr/recipe"},
		{"scenario/invariant"},
		{"internal/concurrent", "internal/describe", "internal/locking", "internal/tally"},
		{"scenario", "scenario/live"},
		{"internal/scenariotest", "internal/schedules"},
		{"internal/compare", "internal/record", "scenario/campaign"},
		{"internal/explain"},
		{"internal/catalog", "internal/format", "internal/gotest", "internal/lab", "internal/prose", "internal/record/schema", "internal/report", "internal/schemas",
			"internal/selftest"},
		{"internal/cli", "internal/explore", "property"},
		{"internal/policycommand", "internal/serve"},
		{"cmd/isr-sim", "internal/strategies"},
	},

	Bans: []Ban{
		{
			From:   []string{"scenario/isr/...", "internal/pagecache"},
			To:     []string{"./ddbfake/..."},
			Reason: "the reference protocol sees a client interface, so that the same code runs on AWS",
		},
		{
			From: []string{"scenario/isr/...", "internal/pagecache"},
			To:   []string{"./scenario", "./scenario/campaign", "./scenario/sim", "./scenario/invariant"},
			Reason: "the reference protocol knows nothing of the simulator; scenario/history alone it may import, " +
				"for the plain values in which it tells a checker what it did to its store",
		},
		{
			From: []string{"scenario/sim"},
			To:   []string{"./ddbfake/...", "./scenario/isr/...", "./internal/pagecache", "github.com/aws/..."},
			Reason: "the scheduler knows nothing of DynamoDB or ISR, " +
				"so that it can be read, tested and trusted alone",
		},
		{
			From:   []string{"ddbfake/..."},
			To:     []string{"./scenario/..."},
			Reason: "the fake is useful alone",
		},
		{
			From: []string{"..."},
			Except: []string{
				"scenario/campaign", "property", "internal/explain", "internal/explore", "internal/gotest", "internal/lab",
				"internal/policycommand", "internal/prose", "internal/selftest", "cmd/isr-sim",
			},
			To:     []string{"./scenario/campaign"},
			Reason: "one run knows nothing of campaigns; only packages that judge stores or print results do",
		},
		{
			From: []string{"scenario/live", "internal/describe"},
			To:   []string{"github.com/goccy/go-yaml/...", "./internal/mutant", "./scenario", "./scenario/campaign"},
			Reason: "a program that has live traffic judged reads no scenario file and runs no mutant; " +
				"the words that both print stand in internal/describe",
		},
		{
			From: []string{"..."},
			Except: []string{
				"property", "property/gen", "fixtures/ddblocal", "internal/conformance", "internal/conformance/differential",
				"internal/browser", "internal/scenariotest",
			},
			To: []string{"testing", "pgregory.net/rapid", "github.com/testcontainers/..."},
			// The command reaches them through fixtures/ddblocal; the ban on flags names the packages that must not come with
			// it.
			Directly: true,
			Reason:   "only packages for tests import packages for tests",
		},
		{
			From: []string{"..."},
			Except: []string{
				"property", "property/gen", "fixtures/ddblocal", "internal/conformance", "internal/conformance/differential",
				"internal/browser", "internal/scenariotest", "cmd/isr-sim",
			},
			To: []string{
				"testing", "pgregory.net/rapid", "github.com/testcontainers/...", "github.com/docker/...",
				"github.com/moby/...",
			},
			Reason: "an import of the library brings no test flags and no Docker client",
		},
		{
			From:   []string{"..."},
			Except: []string{"internal/cli", "internal/policycommand", "cmd/isr-sim"},
			To:     []string{"github.com/spf13/..."},
			Reason: "the command line is the command's",
		},
		{
			From:   []string{"..."},
			Except: []string{"scenario/policy", "internal/lab", "internal/policycommand", "cmd/isr-sim"},
			To:     []string{"gonum.org/...", "github.com/hashicorp/..."},
			Reason: "statistics, plots and LRU caches are the policy lab's: a store under test needs none of them",
		},
		{
			From:   []string{"property", "scenario/...", "ddbfake/..."},
			To:     []string{"github.com/aws/aws-sdk-go-v2/service/s3/...", "./s3fake"},
			Reason: "a cache without S3 is checked without its SDK: property/bodies is for the others",
		},
		{
			From:   []string{"..."},
			Except: []string{"internal/serve", "cmd/isr-sim"},
			To:     []string{"github.com/valyala/..."},
			Reason: "the server is the command's; the library has net/http",
		},
		{
			From:     []string{"cmd/isr-sim"},
			To:       []string{"github.com/valyala/..."},
			Directly: true,
			Reason:   "the command is flags and printing: internal/serve is the server",
		},
		{
			From:   []string{"ddbfake/...", "fakeclock", "scenario/sim", "scenario/isr/...", "internal/pagecache", "scenario/history"},
			To:     []string{"github.com/goccy/go-yaml/...", "gopkg.in/..."},
			Reason: "files are read by scenario alone",
		},
		{
			From:     []string{"..."},
			Except:   []string{"cmd/isr-sim", "property"}, // property registers one, and looks up the values of rapid's
			To:       []string{"flag"},
			Directly: true,
			Reason:   "flags are global: a library that registers one changes every command that imports it",
		},
		{
			From:   []string{"cmd/isr-sim"},
			To:     []string{"pgregory.net/rapid", "./property"},
			Reason: "rapid registers global flags, and the command has its own",
		},
	},
}
