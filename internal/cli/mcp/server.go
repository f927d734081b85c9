// Package mcp serves the commands of isr-sim to agents, by the Model Context Protocol. A tool is a command with some of
// its flags: it runs in this process, and its results are values. Paths stay in the server's folder, and only the
// programs that were named at the server's start may run.
package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Server answers the calls of one client at a time.
type Server struct {
	Root    *cobra.Command
	Version string
	// Run runs a command line, and returns its exit code.
	Run func(ctx context.Context, args []string, stdout, stderr io.Writer) int
	// Allow are the programs that may run.
	Allow []string

	root   *os.Root
	folder string
	turn   chan struct{} // commands run one after another, each on all cores
	ended  context.Context
	mu     sync.Mutex
	texts  []string
}

// runs is the folder for records of runs.
const runs = "isr-sim-check/runs"

// Instructions tell an agent how to begin.
const Instructions = "isr-sim finds bugs of what is kept in DynamoDB: page caches, locks, idempotency layers. check " +
	"tries a program in drawn worlds; run tries a scenario. A violation names an invariant and leaves a file: " +
	"replay it for the steps and the state after one, explain it for the events that it needed, shrink it. All is " +
	"repeatable: the same call has the same answer."

// Serve answers calls from in until in or ctx ends. When it returns, no call is running any more.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ended, end := context.WithCancel(ctx)
	defer end()
	server, err := s.New(ended)
	if err != nil {
		return cli.Unknown(err, "")
	}
	defer func() { _ = s.root.Close() }() // nothing that was written through it is still open
	err = server.Run(ended, &mcp.IOTransport{Reader: ending{in, end}, Writer: out})
	end()
	s.turn <- struct{}{} // the last call is over
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		err = nil
	}
	return cli.Unknown(err, "")
}

// ending is the input of the server. When it ends, the calls end, too, because no client waits for their answers.
type ending struct {
	io.ReadCloser
	end context.CancelFunc
}

// Read implements io.Reader.
func (e ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.end()
	}
	return n, err
}

// New makes a server whose calls end with ctx.
func (s *Server) New(ctx context.Context) (*mcp.Server, error) {
	var err error
	if s.folder, err = os.Getwd(); err != nil {
		return nil, err
	}
	if s.root, err = os.OpenRoot("."); err != nil {
		return nil, err
	}
	s.turn, s.ended = make(chan struct{}, 1), ctx
	server := mcp.NewServer(&mcp.Implementation{Name: "isr-sim", Version: s.Version},
		&mcp.ServerOptions{Instructions: Instructions, Capabilities: &mcp.ServerCapabilities{}})
	for _, t := range Tools(s.Root) {
		if err := t.describe(); err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		var answer any = answerSchema // once: with each tool it would be five sixths of the list
		if t.Name != "check" {
			answer = map[string]string{"type": "object", "description": "of the schema of check's answer"}
		}
		server.AddTool(&mcp.Tool{Name: t.Name, Description: strings.TrimSpace(t.Short + ". " + t.Note),
			InputSchema: t.schema, OutputSchema: answer}, s.handler(&t))
	}
	return server, nil
}

func (s *Server) handler(t *Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(s.ended, stop)()
		a := &Answer{Document: verdicts.Document{Version: s.Version, Command: t.Name}}
		in, err := t.read(req.Params.Arguments)
		switch {
		case err != nil:
		case t.Name == readTool.Name:
			var r *mcp.CallToolResult
			if r, err = s.again(in); err == nil {
				return r, nil
			}
		case t.Name == suggestTool.Name:
			err = s.suggest(ctx, a, in)
		default:
			err = s.command(ctx, t, in, a, &notes{ctx: ctx, req: req})
		}
		if err != nil {
			var is bool
			if a.Error, is = errors.AsType[*CallError](err); !is {
				a.Error = &CallError{Kind: Failed, Message: err.Error()}
			}
			if a.ExitCode = cli.ExitUsage; a.Error.Kind == Cancelled || a.Error.Kind == Failed {
				a.ExitCode = cli.ExitUnknown
			}
		}
		return s.whole(a), nil
	}
}

// command runs a command of isr-sim.
func (s *Server) command(ctx context.Context, t *Tool, in map[string]any, a *Answer, told *notes) error {
	line := strings.Fields(t.command)
	for _, name := range strings.Fields(t.flags) {
		for _, word := range words(in[name]) {
			word, err := s.allowed(name, word)
			if err != nil {
				return err
			}
			line = append(line, "--"+name+"="+word)
		}
	}
	own, err := os.MkdirTemp("", "isr-sim-mcp-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(own) }() // on failure the system clears its temporary folder
	results := filepath.Join(own, "results")
	if t.cmd.Flags().Lookup("format") != nil {
		line = append(line, "--format=json="+results)
	}
	if t.cmd.Flags().Lookup("record") != nil && t.Name != "check" {
		line = append(line, "--record="+filepath.Join(own, "runs")+"/")
	}
	line = append(line, "--")
	for _, name := range append(words(in["scenario"]), words(in["scenarios"])...) {
		if name, err = s.scenario(name); err != nil {
			return err
		}
		line = append(line, name)
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return &CallError{Kind: Cancelled, Message: "the call was given up before it began"}
	}
	var out bytes.Buffer
	a.ExitCode = s.Run(ctx, line, &out, told)
	a.Text = out.String() + told.String()
	switch {
	case ctx.Err() != nil:
		return &CallError{Kind: Cancelled, Message: "the call was given up, and nothing of it is running"}
	case a.ExitCode == cli.ExitUsage:
		message, hint, _ := strings.Cut(strings.TrimPrefix(told.String(), "isr-sim: "), "hint: ")
		return &CallError{BadArguments, strings.TrimSpace(message), strings.TrimSpace(hint)}
	}
	if text, err := os.Open(results); err == nil {
		d, err := verdicts.Read(text)
		_ = text.Close() // it was only read
		if err != nil {
			return err
		}
		a.Document = *d
	}
	step, _ := in["step"].(float64)
	return s.kept(t, a, filepath.Join(own, "runs"), int(step))
}

// kept puts the records of a command into the answer, and those of run and prove into the folder as well.
func (s *Server) kept(t *Tool, a *Answer, folder string, step int) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if t.scenarios < 0 {
			if err := s.write(filepath.Join(runs, filepath.Base(file)), text); err != nil {
				return err
			}
			continue
		}
		r, err := record.Read(bytes.NewReader(text))
		if err != nil {
			return err
		}
		a.Explanation = r.Explanation
		a.Text = strings.ReplaceAll(a.Text, "record: "+file+"\n", "")
		if t.Name == "replay" {
			if a.State, err = stateAfter(r, step); err != nil {
				return err
			}
		}
	}
	a.Text = strings.ReplaceAll(a.Text, folder, runs)
	for i := range a.Results {
		r := &a.Results[i]
		if r.Record = strings.Replace(r.Record, folder, runs, 1); t.Name == "replay" {
			r.Record = ""
		}
	}
	return nil
}

// write writes a file of the folder.
func (s *Server) write(name string, text []byte) error {
	if err := s.root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return outside(name, err)
	}
	return outside(name, s.root.WriteFile(name, text, 0o644))
}

// allowed checks the value of a flag that names a file or a program.
func (s *Server) allowed(flag, word string) (string, error) {
	switch flag {
	case "exec":
		if !slices.Contains(s.Allow, word) {
			return "", &CallError{NotAllowed, fmt.Sprintf("exec: found %q, expected one that --allow names", word),
				"allowed: " + cmp.Or(strings.Join(s.Allow, "; "), "none")}
		}
	case "rows":
		if _, err := isr.SchemaNamed(word); err == nil {
			return word, nil
		}
		return s.inside(word)
	case "output":
		return s.inside(word)
	case "keep":
		for _, file := range []string{"failed.yaml", "failed.json", "failed.html"} {
			if _, err := s.inside(filepath.Join(word, file)); err != nil {
				return "", err
			}
		}
		return s.inside(word)
	}
	return word, nil
}

// scenario checks the name of a scenario. Standard input is refused, because the client's calls come from there.
func (s *Server) scenario(name string) (string, error) {
	if name == catalog.Stdin {
		return "", &CallError{BadArguments, "found -, expected a file or the name of an embedded scenario", ""}
	}
	if _, err := fixtures.Read(name); err == nil && !catalog.IsFile(name) {
		return name, nil
	}
	return s.inside(name)
}

// inside returns a path relative to the folder, and refuses one that leads out of it, even by links.
func (s *Server) inside(path string) (string, error) {
	if filepath.IsAbs(path) {
		var err error
		if path, err = filepath.Rel(s.folder, path); err != nil {
			return "", outside(path, err)
		}
	}
	for at := path; ; at = filepath.Dir(at) {
		_, err := s.root.Stat(at)
		if err == nil || errors.Is(err, fs.ErrNotExist) && at == "." {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", outside(path, err)
		}
	}
}

func outside(path string, err error) error {
	if err == nil {
		return nil
	}
	if of, is := errors.AsType[*fs.PathError](err); is {
		err = of.Err
	}
	return &CallError{Outside, fmt.Sprintf("found the path %s: %v", path, err),
		"paths are of files in the folder in which the server was started"}
}

// notes are a command's progress and what it prints besides its output.
type notes struct {
	ctx context.Context
	req *mcp.CallToolRequest

	mu         sync.Mutex
	text       strings.Builder
	last, base int
	percent    int // the percentage that was last reported
	next       int // this value is reported whatever the percentage is
}

// Write implements io.Writer.
func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

// String is what was written.
func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// Progress implements progress.Told. The numbers only grow, even from one scenario to the next.
func (n *notes) Progress(what string, done, of int) {
	token := n.req.Params.GetProgressToken()
	n.mu.Lock()
	if done < n.last {
		n.base, n.percent, n.next = n.base+n.last, 0, 0
	}
	n.last = done
	percent := 100
	if of > 0 {
		percent = 1 + 99*done/of
	}
	told := token != nil && (of == 0 || percent > n.percent || done >= n.next)
	if told {
		n.percent, n.next = percent, 2*done
	}
	p := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n.base + done), Message: what}
	if of > 0 {
		p.Total = float64(n.base + of)
	}
	n.mu.Unlock()
	if told {
		_ = n.req.Session.NotifyProgress(n.ctx, p) // a client that is gone is no reason to stop
	}
}
