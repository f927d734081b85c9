package imports

// Module holds the rules of this module. The lowest level comes first.
var Module = Rules{
	Module: "github.com/isr-sim/isr-sim",

	Levels: [][]string{
		{
			"internal/base", "internal/rules", "internal/search", "internal/server", "internal/show",
			"internal/study", "internal/trace", "internal/wire", // wings have only documentation
			"ddbfake/internal/slab", "internal/base/suggest", "clients/js",
		},
		{
			"ddbfake/attr", "ddbfake/internal/sdktest", "fakeclock", "fixtures",
			"internal/base/atomicfile", "internal/base/fingerprint", "internal/base/heap", "internal/base/mistake",
			"internal/base/promise", "internal/base/race", "internal/base/storeop", "internal/base/shell",
			"internal/base/words", "internal/base/yamlfile", "internal/cli/jobs", "internal/cli/terminal",
			"internal/rules/api", "internal/rules/imports", "internal/rules/lint", "internal/rules/must",
			"internal/show/verdicts", "internal/study/local", "internal/trace/mark",
			"internal/wire/hostname", "internal/wire/httpbody",
			"internal/wire/httpdoor", "internal/wire/sigv4", "internal/lab/policy",
			"internal/protocols/guard", "internal/base/schedule", "internal/kernel/livelock",
			"internal/kernel/symmetry",
		},
		{"ddbfake/internal/packed", "fixtures/ddblocal", "internal/audit/evidence", "internal/base/faults",
			"internal/cli/progress", "internal/sim",
			"internal/rules/browser", "internal/rules/effort", "scenario/history"},
		{"ddbfake/internal/awsjson", "ddbfake/internal/expr", "internal/audit/stream", "internal/kernel/deadline",
			"internal/sim/exhaustive", "internal/sim/strategy"},
		{"ddbfake/internal/partiql"},
		{
			"ddbfake", "internal/lab/programs", "internal/rules/conformance", "internal/rules/conformance/differential",
			"internal/search/reschedule", "scenario/isr",
		},
		{"internal/audit/evidence/evidencetest", "internal/protocols", "internal/protocols/pagecache",
			"internal/protocols/rowmap", "internal/server/hold", "internal/server/tables", "property/gen", "s3fake"},
		{"internal/server/control", "internal/study/shared", "internal/trace/recorder", "s3fake/sdk"},
		{"internal/protocols/mutant", "internal/protocols/policyprotocol", "scenario/isr/recipe"},
		{"internal/invariant"},
		{"internal/audit", "scenario/invariant"},
		{"internal/hooks"},
		{
			"internal/nodes/objects", "internal/study/concurrent", "internal/trace/describe",
			"internal/trace/request",
		},
		{"internal/subject"},
		{"internal/subject/calls", "internal/subject/locks", "internal/subject/pages"},
		{"internal/subject/list"},
		{"internal/kernel/spec"},
		{"internal/kernel", "internal/nodes", "property/bodies", "scenario/live"},
		{"internal/search/schedules", "internal/search/worlds", "scenario"},
		{
			"internal/rules/scenariotest", "internal/search/campaign", "internal/show/record",
			"internal/study/compare", "internal/subject/calls/draw", "internal/subject/locks/draw",
			"internal/subject/pages/draw",
		},
		{"internal/search/engine", "internal/study/explain", "internal/subject/list/draw"},
		{
			"internal/cli/catalog", "internal/lab", "internal/rules/schemas", "internal/show/format",
			"internal/show/prose", "internal/show/report",
		},
		{"internal/show/results"},
		{"internal/cli", "internal/show/keep", "internal/study/explore", "internal/study/selftest",
			"property"},
		{"internal/lab/policycommand", "internal/server/serve", "internal/cli/flags"},
		{"internal/cli/audit", "internal/cli/check", "internal/cli/fleet", "internal/cli/mcp"},
		{"cmd/isr-sim", "internal/lab/strategies", "internal/rules/counter"},
	},

	Bans: []Ban{
		{
			From:   []string{"scenario/isr/...", "internal/protocols/pagecache"},
			To:     []string{"./ddbfake/..."},
			Reason: "the reference protocol sees a client interface, so that the same code runs on AWS",
		},
		{
			From: []string{"scenario/isr/...", "internal/protocols/pagecache"},
			To: []string{"./internal/kernel/...", "./internal/search/campaign", "./internal/sim",
				"./internal/invariant"},
			Reason: "the reference protocol knows nothing of the simulator; internal/base/storeop alone it " +
				"may import, for the plain values in which it tells a checker what it did to its store",
		},
		{
			From: []string{"internal/sim/..."},
			To: []string{"./ddbfake/...", "./scenario/isr/...",
				"./internal/protocols/pagecache", "github.com/aws/..."},
			Reason: "the scheduler knows nothing of DynamoDB or ISR, " +
				"so that it can be read, tested and trusted alone",
		},
		{
			From:   []string{"..."},
			Except: []string{"internal/subject/list", "internal/subject/list/draw"},
			To: []string{"./internal/subject/calls/...", "./internal/subject/locks/...",
				"./internal/subject/pages/..."},
			Directly: true,
			Reason:   "a subject is known by its interface: a new one is a folder and a line in each list",
		},
		{
			From:   []string{"ddbfake/..."},
			To:     []string{"./scenario/..."},
			Reason: "the fake is useful alone",
		},
		{
			From: []string{"..."},
			Except: []string{
				"property", "internal/search/engine", "internal/study/explain", "internal/study/explore",
				"internal/lab", "internal/lab/policycommand", "internal/show/keep", "internal/show/prose",
				"internal/show/results",
				"internal/study/selftest", "internal/cli", "internal/cli/flags", "internal/cli/audit",
				"internal/cli/check",
				"internal/cli/fleet", "internal/cli/mcp", "cmd/isr-sim",
			},
			To:     []string{"./internal/search/campaign"},
			Reason: "one run knows nothing of campaigns; only packages that judge stores or print results do",
		},
		{
			From: []string{"scenario/live", "internal/trace/describe"},
			To: []string{"github.com/goccy/go-yaml/...", "./internal/protocols/mutant", "./internal/kernel/...",
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
				"internal/subject/calls/draw", "internal/subject/locks/draw", "internal/subject/pages/draw",
			},
			To: []string{"testing", "pgregory.net/rapid", "github.com/testcontainers/..."},
			// Only direct imports are banned, because the command reaches these packages through fixtures/ddblocal. The
			// ban on flags names the packages that it must not reach at all.
			Directly: true,
			Reason:   "only packages for tests import packages for tests",
		},
		{
			From: []string{"..."},
			Except: []string{
				"property", "property/gen", "fixtures/ddblocal", "internal/rules/conformance",
				"internal/rules/conformance/differential",
				"internal/rules/browser", "internal/rules/effort", "internal/rules/scenariotest",
				"internal/search/worlds", "internal/search/engine", "internal/cli/audit",
				"internal/cli/check", "internal/cli/fleet",
				"internal/subject/calls/draw", "internal/subject/locks/draw", "internal/subject/pages/draw",
				"internal/subject/list/draw",
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
			Except: []string{"internal/cli", "internal/cli/flags", "internal/lab/policycommand", "internal/cli/audit",
				"internal/cli/check",
				"internal/cli/fleet", "internal/cli/mcp", "cmd/isr-sim"},
			To:     []string{"github.com/spf13/..."},
			Reason: "the command line is the command's",
		},
		{
			From:   []string{"..."},
			Except: []string{"internal/cli/mcp", "cmd/isr-sim"},
			To:     []string{"github.com/modelcontextprotocol/...", "github.com/google/jsonschema-go/..."},
			Reason: "agents talk to the command: a test of somebody's cache links no server for them",
		},
		{
			From:   []string{"property", "property/bodies", "property/gen", "scenario"},
			To:     []string{"./internal/protocols/mutant", "./internal/protocols/policyprotocol"},
			Reason: "a test of somebody's cache links no broken one: files name them, and the command runs them",
		},
		{
			From:   []string{"..."},
			Except: []string{"internal/lab", "internal/lab/policy", "internal/lab/policycommand", "cmd/isr-sim"},
			To:     []string{"github.com/aclements/...", "github.com/ajstarks/...", "github.com/hashicorp/..."},
			Reason: "statistics, plots and LRU caches are the policy lab's: a store under test needs none of them",
		},
		{
			From:   []string{"property", "scenario/...", "ddbfake/..."},
			To:     []string{"github.com/aws/aws-sdk-go-v2/service/s3/...", "./s3fake"},
			Reason: "a cache without S3 is checked without its SDK: property/bodies is for the others",
		},
		{
			From:   []string{"cmd/isr-sim", "s3fake"},
			To:     []string{"github.com/aws/aws-sdk-go-v2/service/s3/..."},
			Reason: "that SDK alone takes a twentieth of the time in which the command is compiled",
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
			From: []string{"ddbfake/...", "fakeclock", "internal/sim", "scenario/isr/...",
				"internal/protocols/pagecache", "scenario/history"},
			To:     []string{"github.com/goccy/go-yaml/...", "gopkg.in/..."},
			Reason: "files are read by the kernel alone",
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
