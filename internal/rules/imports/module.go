package imports

// Module holds the rules of this module. Level 1 stands first.
var Module = Rules{
	Module: "github.com/isr-sim/isr-sim",

	Levels: [][]string{
		{
			"internal/base", "internal/rules", "internal/search", "internal/server", "internal/show",
			"internal/study", "internal/trace", "internal/wire", // of a wing, only its words
			"ddbfake/internal/slab", "internal/base/inside", "internal/base/suggest",
		},
		{
			"ddbfake/attr", "ddbfake/internal/sdktest", "fakeclock", "fixtures", "fixtures/ddblocal",
			"internal/base/atomicfile", "internal/base/fingerprint", "internal/base/heap", "internal/base/mistake",
			"internal/base/promise", "internal/base/race", "internal/base/storeop", "internal/base/shell",
			"internal/base/words", "internal/cli/jobs", "internal/cli/progress", "internal/cli/terminal",
			"internal/rules/api", "internal/rules/imports", "internal/rules/lint", "internal/rules/must",
			"internal/show/verdicts", "internal/trace/mark", "internal/wire/hostname", "internal/wire/httpbody",
			"internal/wire/httpdoor", "internal/wire/sigv4", "internal/lab/policy",
			"internal/protocols/guard", "scenario/schedule",
		},
		{"ddbfake/internal/packed", "internal/base/faults", "internal/hooks/sim", "internal/rules/browser",
			"internal/rules/effort", "scenario/history", "scenario/policy"},
		{"ddbfake/internal/awsjson", "ddbfake/internal/expr"},
		{"ddbfake/internal/partiql"},
		{
			"ddbfake", "internal/lab/programs", "internal/rules/conformance", "internal/rules/conformance/differential",
			"internal/search/reschedule", "scenario/isr",
		},
		{"internal/protocols", "internal/protocols/pagecache", "internal/protocols/rowmap", "internal/server/hold",
			"internal/server/tables", "property/gen", "s3fake"},
		{"internal/server/control", "internal/study/shared", "internal/trace/recorder"},
		{"internal/protocols/mutant", "internal/protocols/policyprotocol", "scenario/isr/recipe"},
		{"scenario/invariant"},
		{"internal/hooks"},
		{"internal/nodes/objects", "internal/study/concurrent", "internal/trace/describe"},
		{"internal/nodes", "property/bodies", "scenario", "scenario/live"},
		{"internal/rules/scenariotest", "internal/search/schedules", "internal/search/worlds"},
		{"internal/search/campaign", "internal/show/record", "internal/study/compare"},
		{"internal/study/explain", "scenario/campaign"},
		{
			"internal/cli/catalog", "internal/lab", "internal/rules/schemas", "internal/show/format",
			"internal/show/prose", "internal/show/report",
		},
		{"internal/show/results"},
		{"internal/cli", "internal/show/keep", "internal/study/explore", "internal/study/selftest", "property"},
		{"internal/lab/policycommand", "internal/server/serve", "internal/cli/flags"},
		{"internal/cli/check", "internal/cli/fleet"},
		{"cmd/isr-sim", "internal/lab/strategies"},
	},

	Bans: []Ban{
		{
			From:   []string{"scenario/isr/...", "internal/protocols/pagecache"},
			To:     []string{"./ddbfake/..."},
			Reason: "the reference protocol sees a client interface, so that the same code runs on AWS",
		},
		{
			From: []string{"scenario/isr/...", "internal/protocols/pagecache"},
			To:   []string{"./scenario", "./internal/search/campaign", "./internal/hooks/sim", "./scenario/invariant"},
			Reason: "the reference protocol knows nothing of the simulator; internal/base/storeop alone it " +
				"may import, for the plain values in which it tells a checker what it did to its store",
		},
		{
			From: []string{"internal/hooks/sim"},
			To: []string{"./ddbfake/...", "./scenario/isr/...",
				"./internal/protocols/pagecache", "github.com/aws/..."},
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
				"scenario/campaign", "property", "internal/study/explain", "internal/study/explore", "internal/lab",
				"internal/lab/policycommand", "internal/show/keep", "internal/show/prose", "internal/show/results",
				"internal/study/selftest", "internal/cli", "internal/cli/flags", "internal/cli/check",
				"internal/cli/fleet", "cmd/isr-sim",
			},
			To:     []string{"./internal/search/campaign"},
			Reason: "one run knows nothing of campaigns; only packages that judge stores or print results do",
		},
		{
			From: []string{"scenario/live", "internal/trace/describe"},
			To: []string{"github.com/goccy/go-yaml/...", "./internal/protocols/mutant", "./scenario",
				"./internal/search/campaign"},
			Reason: "a program that has live traffic judged reads no scenario file and runs no mutant; " +
				"the words that both print stand in internal/trace/describe",
		},
		{
			From: []string{"..."},
			Except: []string{
				"property", "property/gen", "fixtures/ddblocal", "internal/rules/conformance",
				"internal/rules/conformance/differential",
				"internal/rules/browser", "internal/rules/effort", "internal/rules/scenariotest",
				"internal/search/worlds",
			},
			To: []string{"testing", "pgregory.net/rapid", "github.com/testcontainers/..."},
			// The command reaches these packages indirectly, through fixtures/ddblocal. The ban on flags names those
			// that must not come with it.
			Directly: true,
			Reason:   "only packages for tests import packages for tests",
		},
		{
			From: []string{"..."},
			Except: []string{
				"property", "property/gen", "fixtures/ddblocal", "internal/rules/conformance",
				"internal/rules/conformance/differential",
				"internal/rules/browser", "internal/rules/effort", "internal/rules/scenariotest",
				"internal/search/worlds", "internal/cli/check", "internal/cli/fleet",
				"internal/cli/flags", "cmd/isr-sim",
			},
			To: []string{
				"testing", "pgregory.net/rapid", "github.com/testcontainers/...", "github.com/docker/...",
				"github.com/moby/...",
			},
			Reason: "an import of the library brings no test flags and no Docker client",
		},
		{
			From: []string{"..."},
			Except: []string{"internal/cli", "internal/cli/flags", "internal/lab/policycommand", "internal/cli/check",
				"internal/cli/fleet", "cmd/isr-sim"},
			To:     []string{"github.com/spf13/..."},
			Reason: "the command line is the command's",
		},
		{
			From: []string{"property", "property/bodies", "property/gen", "scenario", "scenario/campaign"},
			To: []string{
				"./internal/protocols/mutant", "./internal/protocols/policyprotocol", "./scenario/policy",
			},
			Reason: "a test of somebody's cache links no broken one: files name them, and the command runs them",
		},
		{
			From: []string{"..."},
			Except: []string{"scenario/policy", "internal/lab", "internal/lab/policy",
				"internal/lab/policycommand", "cmd/isr-sim"},
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
			Except: []string{"internal/server/serve", "cmd/isr-sim"},
			To:     []string{"github.com/valyala/..."},
			Reason: "the server is the command's; the library has net/http",
		},
		{
			From:     []string{"cmd/isr-sim"},
			To:       []string{"github.com/valyala/..."},
			Directly: true,
			Reason:   "the command is flags and printing: internal/server/serve is the server",
		},
		{
			From: []string{"ddbfake/...", "fakeclock", "internal/hooks/sim", "scenario/isr/...",
				"internal/protocols/pagecache", "scenario/history"},
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
			From: []string{"cmd/isr-sim"},
			To:   []string{"./property"},
			Reason: "property's flags are those of go test; the command draws the same worlds by " +
				"internal/search/worlds, and never parses the flags that rapid registers",
		},
	},
}
