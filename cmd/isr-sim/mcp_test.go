package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/mcp"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// agent is a client that has only the server.
type agent struct {
	*testing.T

	session *sdk.ClientSession
}

// newAgent connects a client to a server in an empty folder. told is called for each report of progress.
func newAgent(t *testing.T, told func(*sdk.ProgressNotificationParams), allow ...string) agent {
	t.Helper()
	t.Chdir(t.TempDir())
	root := newRoot(&cli.Output{To: io.Discard}, io.Discard)
	server := must.Of((&mcp.Server{Root: root, Version: "v1", Run: run, Allow: allow}).New(t.Context()))(t)
	here, there := sdk.NewInMemoryTransports()
	must.Of(server.Connect(t.Context(), there, nil))(t)
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "v1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			told(r.Params)
		},
	})
	session := must.Of(client.Connect(t.Context(), here, nil))(t)
	t.Cleanup(func() { _ = session.Close() }) // the test is over
	return agent{t, session}
}

// call calls a tool. The arguments are JSON.
func (a agent) call(ctx context.Context, tool, arguments string) (mcp.Answer, error) {
	a.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	params.SetProgressToken(tool)
	var answer mcp.Answer
	r, err := a.session.CallTool(ctx, params)
	if err != nil {
		return answer, err
	}
	if whole := must.Of(json.Marshal(r))(a.T); len(whole) > 20_000 {
		a.Errorf("%s %s: an answer of %d bytes", tool, arguments, len(whole))
	}
	must.OK(a.T, json.Unmarshal(must.Of(json.Marshal(r.StructuredContent))(a.T), &answer))
	if r.IsError != (answer.Error != nil) {
		a.Errorf("%s %s: an error %v without a kind", tool, arguments, r.IsError)
	}
	return answer, nil
}

func (a agent) must(tool, arguments string, values ...any) mcp.Answer {
	a.Helper()
	answer := must.Of(a.call(a.Context(), tool, fmt.Sprintf(arguments, values...)))(a.T)
	if answer.Error != nil {
		a.Fatalf("%s: %v", tool, answer.Error)
	}
	return answer
}

// bugs are the bugs that examples/programs/mutants.py puts into the example caches, here as built-in protocols.
var bugs = []struct{ protocol, scenario, invariant string }{
	{"blind-publish", "paused-writer", "stale-writer"},
	{"guard-token-alone", "two-contenders", "expired-publish"},
	{"guard-expiry-alone", "two-contenders", "stale-writer"},
	{"no-second-look", "two-contenders", "single-flight"},
	{"acquire-by-get-then-put", "two-contenders", "lock-theft"},
	{"acquire-a-second-early", "paused-writer", "lock-theft"},
	{"two-transactions", "two-contenders", "atomic-publish"},
	{"body-after-pointer", "two-contenders", "no-dangling-pointer"},
	{"shared-body-name", "steady-reads", "linearizable"},
	{"lock-ttl-in-milliseconds", "two-contenders", "ttl-well-formed"},
	{"own-commit-as-conflict", "lost-response", "liveness"},
	{"fresh-as-of-read", "skewed-clocks", "freshness"},
}

// An agent finds bugs, replays them and explains them, with nothing but the answers of the tools.
func TestAgentFindsBugs(t *testing.T) {
	a := newAgent(t, func(*sdk.ProgressNotificationParams) {})
	for _, bug := range bugs[:effort.Quick(len(bugs), 3)] {
		ran := must.Of(a.call(t.Context(), "run",
			fmt.Sprintf(`{"scenarios": [%q], "protocol": %q}`, bug.scenario, bug.protocol)))(t)
		if len(ran.Results) != 1 || ran.ExitCode != cli.ExitViolated || ran.Results[0].Invariant != bug.invariant {
			t.Errorf("%s: got %+v", bug.protocol, ran)
			continue
		}
		record := ran.Results[0].Record
		replayed := a.must("replay", `{"scenario": %q}`, record)
		if len(replayed.Results) == 0 || replayed.Results[0].Invariant != bug.invariant || replayed.State == nil {
			t.Errorf("%s: replayed as %+v", bug.protocol, replayed)
		}
		explained := a.must("explain", `{"scenario": %q, "tails": 3}`, record)
		if explained.Explanation == nil || !strings.Contains(explained.Text, bug.invariant) {
			t.Errorf("%s: explained as %+v", bug.protocol, explained)
		}
	}
}

// The state after a step has the rows, the clocks and the nodes. The whole trace can be read in parts.
func TestAgentSeesTheState(t *testing.T) {
	a := newAgent(t, func(*sdk.ProgressNotificationParams) {})
	const blind = `{"scenario": "paused-writer", "protocol": "blind-publish", "seed": "17911839290282890590", ` +
		`"choices": "0000000000"`
	got := a.must("replay", blind+`, "step": 49}`)
	if s := got.State; s == nil || len(s.Rows) != 1 || len(s.Nodes) != 2 || s.Nodes[0].State != "paused" ||
		s.Nodes[1].State != "running" || !strings.Contains(fmt.Sprint(s.Rows[0].Row["lease_token"]), "bob-6") ||
		s.Nodes[1].Clock != s.Time {
		t.Errorf("after step 49: %+v", s)
	}
	text := got.Text
	for rest := got.Rest; rest != nil; {
		more := a.must("read", `{"answer": %d, "offset": %d}`, rest.Answer, rest.Offset)
		text, rest = text+more.Text, more.Rest
	}
	var out, stderr strings.Builder
	_ = run(t.Context(), strings.Fields("replay --protocol blind-publish --seed 17911839290282890590 --choices "+
		"0000000000 paused-writer"), &out, &stderr)
	if got.Rest == nil || text != out.String() {
		t.Errorf("got a trace of %d bytes in parts, want %d:\n%s", len(text), out.Len(), text)
	}
	stepped := a.must("replay", `{"scenario": "stepped-clock", "seed": "3", "choices": "-", "step": 10}`)
	if n := stepped.State.Nodes[0]; n.Ahead != "-4s" || !n.Clock.Equal(stepped.State.Time.Add(-4e9)) {
		t.Errorf("a clock that was set back by 4s: %+v", n)
	}
}

// Each problem has its kind.
func TestAgentIsRefused(t *testing.T) {
	a := newAgent(t, func(*sdk.ProgressNotificationParams) {}, "sh allowed.sh")
	must.OK(t, os.Symlink(t.TempDir(), "link"))
	must.OK(t, os.Symlink("/etc/passwd", "scenario.yaml"))
	must.OK(t, os.Mkdir("isr-sim-check", 0o755))
	must.OK(t, os.Symlink("/etc/passwd", "isr-sim-check/failed.yaml"))
	must.OK(t, os.WriteFile("starts.yaml", []byte("name: starts\nactors: [{name: a, script: [get /]}]\n"+
		"replay: {protocol: exec touch started, seed: 1, choices: \"-\"}\n"), 0o644))
	for _, test := range []struct {
		tool, arguments string
		want            mcp.Kind
	}{
		{"run", `{}`, mcp.BadArguments},
		{"run", `{"scenarios": []}`, mcp.BadArguments},
		{"run", `{"scenarios": "paused-writer"}`, mcp.BadArguments},
		{"run", `{"scenarios": ["paused-writer"], "corpus": "/tmp"}`, mcp.BadArguments},
		{"run", `{"scenarios": ["paused-writr"]}`, mcp.BadArguments},
		{"run", `{"scenarios": ["--exec=touch started"]}`, mcp.BadArguments},
		{"run", `{"scenarios": ["paused-writer"], "protocol": "exec touch started"}`, mcp.BadArguments},
		{"run", `{"scenarios": ["-"]}`, mcp.BadArguments},
		{"replay", `{"scenario": "starts.yaml"}`, mcp.BadArguments},
		{"replay", `{"scenario": "paused-writer", "seed": "1", "choices": "-", "step": 100000}`, mcp.BadArguments},
		{"read", `{"answer": 1000, "offset": 0}`, mcp.BadArguments},
		{"suggest_rows", `{"rows": []}`, mcp.BadArguments},
		{"suggest_rows", `{"server": "http://192.0.2.1", "table": "t"}`, mcp.BadArguments},
		{"scenario_check", `{"scenarios": ["../x.yaml"]}`, mcp.Outside},
		{"scenario_check", `{"scenarios": ["/etc/passwd"]}`, mcp.Outside},
		{"scenario_check", `{"scenarios": ["link/x.yaml"]}`, mcp.Outside},
		{"scenario_check", `{"scenarios": ["scenario.yaml"]}`, mcp.Outside},
		{"check", `{"protocol": "recipe-a"}`, mcp.Outside}, // files of an earlier check
		{"check", `{"protocol": "recipe-a", "keep": "link/kept"}`, mcp.Outside},
		{"check", `{"protocol": "recipe-a", "keep": "kept", "rows": "../rows.yaml"}`, mcp.Outside},
		{"shrink", `{"scenario": "paused-writer", "output": "link/s.yaml"}`, mcp.Outside},
		{"suggest_rows", `{"rows": [{"id": "a"}], "output": "../rows.yaml"}`, mcp.Outside},
		{"check", `{"exec": "touch started"}`, mcp.NotAllowed},
		{"run", `{"scenarios": ["paused-writer"], "exec": "sh allowed.sh; touch started"}`, mcp.NotAllowed},
		{"replay", `{"scenario": "starts.yaml", "exec": "touch started"}`, mcp.NotAllowed},
	} {
		got := must.Of(a.call(t.Context(), test.tool, test.arguments))(t)
		if got.Error == nil || got.Error.Kind != test.want || got.ExitCode != cli.ExitUsage {
			t.Errorf("%s %s: got %+v, want %s", test.tool, test.arguments, got.Error, test.want)
		}
	}
	if left := must.Of(filepath.Glob("*started*"))(t); len(left) > 0 {
		t.Errorf("a program ran: %v", left)
	}
}

// If a client gives up a call, the call ends with its programs, and the next call has its turn.
func TestAgentGivesUp(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	a := newAgent(t, func(p *sdk.ProgressNotificationParams) {
		if p.Progress > 0 && p.Total == 1e9 {
			giveUp()
		}
	})
	if _, err := a.call(ctx, "run", `{"scenarios": ["two-contenders"], "schedules": 1000000000}`); err == nil {
		t.Error("a call that was given up has an answer")
	}
	a.must("list", `{}`)
}

// The server runs as a command, on its standard input and output, with a program that never answers. A call that is
// given up gets an answer of kind cancelled, its program is gone, and the server ends with its input.
func TestMCPOnStdio(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh runs the program")
	}
	folder := t.TempDir()
	const program = `echo $$ >pid; exec sleep 1000`
	cmd := exec.CommandContext(t.Context(), "isr-sim", "mcp", "--allow", program)
	cmd.Dir = folder
	in, out := must.Of(cmd.StdinPipe())(t), must.Of(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 1<<20)
	send := func(message string) { must.Done(t)(io.WriteString(in, `{"jsonrpc":"2.0",`+message+"}\n")) }
	want := func(text string) {
		t.Helper()
		for answers.Scan() {
			if strings.Contains(answers.Text(), text) {
				return
			}
		}
		t.Fatalf("no answer has %s", text)
	}
	send(`"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"a","version":"1"}}`)
	want(`"serverInfo"`)
	send(`"method":"notifications/initialized"`)
	send(`"id":2,"method":"tools/call","params":{"name":"check","arguments":{"exec":"` + program + `"}}`)
	pid := filepath.Join(folder, "pid")
	for clock := clockwork.NewRealClock(); read(pid) == ""; { // the program has started
		clock.Sleep(time.Millisecond)
	}
	send(`"method":"notifications/cancelled","params":{"requestId":2}`)
	want(`"kind":"cancelled"`)
	if err := exec.CommandContext(t.Context(), "kill", "-0", strings.TrimSpace(read(pid))).Run(); err == nil {
		t.Error("the program of a call that was given up is running")
	}
	must.OK(t, in.Close())
	must.OK(t, cmd.Wait())
}

func read(file string) string {
	text, _ := os.ReadFile(file) // "" until the file exists
	return string(text)
}

// A flag that a command no longer has would end the server.
func TestAgentHasAllTools(t *testing.T) {
	a := newAgent(t, func(*sdk.ProgressNotificationParams) {}) // this reads all tools
	tools := must.Of(a.session.ListTools(t.Context(), nil))(t)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if len(tool.Description) < 20 {
			t.Errorf("%s: %q", tool.Name, tool.Description)
		}
	}
	for _, want := range []string{"check", "run", "replay", "explain", "shrink", "prove", "list", "scenario_check",
		"suggest_rows", "read"} {
		if !slices.Contains(names, want) {
			t.Errorf("no tool %s among %v", want, names)
		}
	}
}

// An agent gets a mapping from five rows: the attributes of pages and of locks, with their units. A scenario can read
// this mapping.
func TestAgentMapsRows(t *testing.T) {
	a := newAgent(t, func(*sdk.ProgressNotificationParams) {})
	db := ddbfake.New(ddbfake.Options{})
	must.OK(t, db.Load("us-east-1", strings.NewReader(`{"tables": [{"name": "locks", "settings": {"table": {
		"TableName": "locks", "AttributeDefinitions": [{"AttributeName": "what", "AttributeType": "S"}],
		"KeySchema": [{"AttributeName": "what", "KeyType": "HASH"}],
		"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}},
		"items": [{"what": {"S": "lock:nightly"}, "owner": {"S": "w"}, "expires": {"N": "1764470010"}}]}]}`)))
	server := httptest.NewServer(control.Handler(db, control.Options{}))
	defer server.Close()
	for _, test := range []struct{ from, want, attributes, read, unsure string }{
		{`"rows": [
			{"id": "page#/home", "html": "<p>", "updatedAt": 1764470000123, "lockedBy": "w", "lockedUntil": 1764470010123},
			{"id": "page#/a", "html": "<p>", "updatedAt": 1764470000123},
			{"id": "page#/b", "html": "<p>", "updatedAt": 1764470000123, "views": 3},
			{"id": "page#/c", "html": "<p>", "updatedAt": 1764470000123, "lockedBy": null},
			{"id": "page#/d", "html": "<p>", "updatedAt": 1764470000123}]`,
			`rows:
  - partition: "id = page#{key}"
    body: html
    generated: updatedAt ms
    token: lockedBy
    expires: lockedUntil ms
`,
			"map[html:body lockedBy:token lockedUntil:expires updatedAt:generated]",
			"[page and lock page page page page]",
			"views has no meaning"},
		{`"rows": [
			{"PK": {"S": "TENANT#acme#PAGE#/home"}, "SK": {"S": "PAGE"}, "object": {"S": "o/1"},
				"readAt": {"S": "2026-11-30T04:00:00Z"}, "fresh_until": {"S": "2026-11-30T04:01:00Z"},
				"ttl": {"N": "1764570000"}},
			{"PK": {"S": "TENANT#acme#PAGE#/home"}, "SK": {"S": "LOCK"}, "owner": {"S": "w"},
				"until": {"S": "2026-11-30T04:01:00Z"}}]`,
			`rows:
  - partition: "PK = TENANT#{tenant}#PAGE#{key}"
    sort: SK = LOCK
    token: owner
    expires: until iso8601
  - partition: "PK = TENANT#{tenant}#PAGE#{key}"
    sort: SK = PAGE
    body-key: object
    generated: readAt iso8601
    fresh-until: fresh_until iso8601
    ttl: ttl
`,
			"map[fresh_until:fresh-until object:body-key owner:token readAt:generated ttl:ttl until:expires]",
			"[page lock]", "until is taken for the end of the lease"},
		{`"rows": [{"key": "p:/home", "value": "x", "storedAt": 1764470000123, "lock": {"owner": "w", "until": 1764470010123}},
			{"key": "p:/a", "value": "x", "storedAt": 1764470000123}]`,
			`rows:
  - partition: key = p:{key}
    body: value
    generated: storedAt ms
    token: lock.owner
    expires: lock.until ms
`,
			"map[lock.owner:token lock.until:expires storedAt:generated value:body]", "[page and lock page]",
			"p is in the key of all sample rows"},
		{`"rows": [{"id": "fn#1", "status": "INPROGRESS", "expiration": 1764570000, "in_progress_expiration": 1764570000123},
			{"id": "fn#2", "status": "COMPLETED", "expiration": 1764570000, "data": "x"}]`,
			`rows: powertools
`, "map[data:body expiration:fresh-until in_progress_expiration:expires]", "[lock page]",
			"ready mapping powertools"},
		{fmt.Sprintf(`"server": %q, "table": "locks"`, server.URL),
			`rows:
  - table: locks
    partition: what = lock:{key}
    token: owner
    expires: expires
`,
			"map[expires:expires owner:token]", "[lock]", "expires is taken for the end of the lease"},
	} {
		got := a.must("suggest_rows", `{%s, "output": "rows.yaml"}`, test.from)
		s := got.Suggestion
		if diff := cmp.Diff(test.want, got.Text); diff != "" || read("rows.yaml") != got.Text {
			t.Errorf("%s: the mapping (-want +got):\n%s", test.from, diff)
		}
		if fmt.Sprint(s.Attributes) != test.attributes || fmt.Sprint(s.Read) != test.read ||
			!strings.Contains(fmt.Sprint(s.Unsure), test.unsure) {
			t.Errorf("%s: got %+v", test.from, s)
		}
		must.Of(catalog.Rows("rows.yaml"))(t)
	}
}

// TestAgentsRead: the skill and llms.txt agree with the help, the tools and README.md.
func TestAgentsRead(t *testing.T) {
	root := newRoot(&cli.Output{To: io.Discard}, io.Discard)
	var tools, commands, pages, exits strings.Builder
	for _, tool := range mcp.Tools(root) {
		fmt.Fprintf(&tools, "- `%s`: %s\n", tool.Name, strings.TrimSpace(tool.Short+". "+tool.Note))
	}
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			fmt.Fprintf(&commands, "- `isr-sim %s`: %s\n", cmd.Use, cmd.Short)
		}
	}
	const address = "https://github.com/isr-sim/isr-sim/blob/main/"
	for _, row := range table(t, page(t, "README.md"), "## More") {
		name, link := linkOf(row[0])
		fmt.Fprintf(&pages, "- [%s](%s%s): %s\n", filepath.Base(name), address, link, row[1])
	}
	for _, row := range table(t, page(t, "CI.md"), "## Exit codes") {
		fmt.Fprintf(&exits, "- %s: %s\n", row[0], row[1])
	}
	about := strings.TrimSpace(root.Short)
	for file, want := range map[string]string{
		"llms.txt": "# isr-sim\n\n> " + about + "\n\n" + longHelp + "\n\n## Pages\n\n" + pages.String() +
			"\n## Commands\n\n" + commands.String() + "\n## Tools of isr-sim mcp\n\n" + tools.String(),
		"skills/isr-sim/SKILL.md": "---\nname: isr-sim\ndescription: " + about + ". Use it for code that keeps page " +
			"caches, locks, leases or idempotency records in DynamoDB, in any language.\n---\n\n# isr-sim\n\n" +
			mcp.Instructions + "\n\nThe server of these tools is `isr-sim mcp --allow 'COMMAND'`, started in the " +
			"project's folder. Without it, the commands of the same names take the same arguments as flags.\n\n## " +
			"Tools\n\n" + tools.String() + "\n## Exit codes\n\n" + exits.String() +
			"\n## Code in Go\n\nNo tool runs it: write a test with `property.CheckStore`, `CheckLock` or " +
			"`CheckOnce` (" + address + "docs/CHECK.md) and run `go test`.\n",
	} {
		name := filepath.Join("..", "..", file)
		if *rewriting {
			must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
			must.OK(t, os.WriteFile(name, []byte(want), 0o644))
		}
		if diff := cmp.Diff(want, read(name)); diff != "" {
			t.Errorf("%s (-help +file); go test ./cmd/isr-sim -run TestAgentsRead -docs.update:\n%s", file, diff)
		}
	}
}
