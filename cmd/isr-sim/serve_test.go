package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"
)

// TestDocsServeFlags: the table has the flags of the command.
func TestDocsServeFlags(t *testing.T) {
	want := map[string]string{}
	newServe().Flags().VisitAll(func(f *pflag.Flag) {
		want["--"+f.Name] = strings.Replace(strings.Trim(f.DefValue, "[]"), "m0s", "m", 1)
	})
	got := map[string]string{}
	for _, row := range table(t, page(t, "SERVE.md"), "aws dynamodb list-tables") {
		got[row[0]] = row[1]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags of serve (-code +docs/SERVE.md):\n%s", diff)
	}
}

// server is the isr-sim serve that a script started.
type server struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *strings.Builder
}

// serverKey finds a script's server among the values of its environment.
type serverKey struct{}

// setupServer gives a script room for a server.
func setupServer(env *testscript.Env) error {
	env.Values[serverKey{}] = new(server)
	return nil
}

// serveCmd starts isr-sim serve with these arguments: serve ARGUMENT... It sets ENDPOINT, CONTROL and S3 to the
// addresses in the first line.
func serveCmd(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := ts.Value(serverKey{}).(*server)
	if neg || !ok || s.cmd != nil {
		ts.Fatalf("usage: serve [ARGUMENT...], once")
	}
	s.stderr = new(strings.Builder)
	process.Lock() // locked, because the server gets this process's environment
	s.cmd = exec.Command("isr-sim", append([]string{"serve"}, args...)...)
	s.cmd.Dir, s.cmd.Stderr = ts.MkAbs("."), s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	process.Unlock()
	ts.Check(err)
	ts.Defer(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	s.stdout = bufio.NewReader(stdout)
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait()
		ts.Fatalf("isr-sim serve printed %q and then %v: %s", line, err, s.stderr)
	}
	var printed struct{ Endpoint, Control, S3 string }
	ts.Check(json.Unmarshal([]byte(line), &printed))
	ts.Setenv("ENDPOINT", printed.Endpoint)
	ts.Setenv("CONTROL", printed.Control)
	ts.Setenv("S3", printed.S3)
	fmt.Fprint(ts.Stdout(), line)
}

// endsCmd stops the server with a signal, and asserts that it ends with an exit code, 0 unless another is given: ends
// SIGINT|SIGTERM [CODE]. The lines after the first one are the output.
func endsCmd(ts *testscript.TestScript, neg bool, args []string) {
	s, ok := ts.Value(serverKey{}).(*server)
	signals := map[string]os.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM}
	if neg || !ok || s.cmd == nil || len(args) < 1 || len(args) > 2 || signals[args[0]] == nil {
		ts.Fatalf("usage: ends SIGINT|SIGTERM [CODE], after serve")
	}
	want := 0
	if len(args) == 2 {
		code, err := strconv.Atoi(args[1])
		ts.Check(err)
		want = code
	}
	ts.Check(s.cmd.Process.Signal(signals[args[0]]))
	rest, err := io.ReadAll(s.stdout)
	ts.Check(err)
	err = s.cmd.Wait()
	fmt.Fprint(ts.Stdout(), string(rest))
	fmt.Fprint(ts.Stderr(), s.stderr)
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		ts.Fatalf("isr-sim serve ended with %v, want exit code %d: %s", err, want, s.stderr)
	}
}

// requestCmd sends a request, as curl does: request METHOD URL [BODY [HEADER...]]. The output is the status and the
// body.
func requestCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: request METHOD URL [BODY [HEADER...]]")
	}
	var body io.Reader
	if len(args) > 2 {
		body = strings.NewReader(args[2])
	}
	request, err := http.NewRequest(args[0], args[1], body)
	ts.Check(err)
	request.Header.Set("Content-Type", "application/json")
	for _, header := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s\n", response.StatusCode, text)
}
