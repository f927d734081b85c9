package main

import (
	"errors"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// tutorial is a reader who follows the first half of docs/TUTORIAL.md, block by block, in an empty folder.
type tutorial struct {
	*testing.T
	dir    string // the reader's module
	root   string // the clone
	output string // the output of the last command
}

func (r *tutorial) read(name string) string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// write writes a file of Go. gofmt must not change it.
func (r *tutorial) write(name, text string) {
	r.Helper()
	formatted, err := format.Source([]byte(text))
	if err != nil {
		r.Fatalf("%s: %v", name, err)
	}
	if diff := cmp.Diff(string(formatted), text); diff != "" {
		r.Errorf("%s (-gofmt +page):\n%s", name, diff)
	}
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// change applies the hunks of a diff, which lines "..." separate. Each hunk must fit in exactly one place.
func (r *tutorial) change(name, diff string) {
	r.Helper()
	text := r.read(name)
	for _, hunk := range strings.Split(diff, "...\n") {
		var before, after strings.Builder
		for line := range strings.Lines(hunk) {
			if line[0] != '+' {
				before.WriteString(line[1:])
			}
			if line[0] != '-' {
				after.WriteString(line[1:])
			}
		}
		if n := strings.Count(text, before.String()); n != 1 {
			r.Fatalf("%s: a hunk fits in %d places, want one:\n%s", name, n, hunk)
		}
		text = strings.Replace(text, before.String(), after.String(), 1)
	}
	r.write(name, text)
}

// run runs a command, which must exit as its comment says: 0, or "# exits 1: ...".
func (r *tutorial) run(command string) {
	r.Helper()
	command, comment, _ := strings.Cut(command, " # ")
	want := 0
	if strings.HasPrefix(comment, "exits 1:") {
		want = 1
	}
	shell := exec.CommandContext(r.Context(), "bash", "-c", strings.ReplaceAll(command, "/path/to/the/clone", r.root))
	shell.Dir, shell.Env = r.dir, append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	shell.Stderr = &stderr
	stdout, err := shell.Output()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		r.Fatal(err)
	}
	if got := shell.ProcessState.ExitCode(); got != want {
		r.Fatalf("%s exits %d, want %d\n%s%s", command, got, want, stdout, stderr.String())
	}
	r.output = string(stdout)
}

// masked masks the parts of an output of go test that differ each time.
func masked(output string) string {
	for pattern, mask := range map[string]string{ //isrsim:unordered no pattern matches the mask of another
		`\([0-9.]+s\)`: "(N)", `(?m)\t[0-9.]+s$`: "\tN", `(?m)^( +[a-z]+\.go):[0-9]+:`: "$1:N:", `(?m)^ +$`: "",
		`TestCache-[0-9-]+\.fail`: "FILE",
	} {
		output = regexp.MustCompile(pattern).ReplaceAllString(output, mask)
	}
	return output
}

// TestTutorial: a reader can follow the first half of docs/TUTORIAL.md, and gets the results that it shows. The
// tutorial's module begins with a copy of this module's go.sum, so that no network is needed; go mod tidy then drops
// what is unused.
func TestTutorial(t *testing.T) {
	effort.Nightly(t)
	root, err := filepath.Abs("../..")
	must.OK(t, err)
	r := &tutorial{T: t, dir: t.TempDir(), root: root}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, "go.sum"), sums, 0o644)
	}
	must.OK(t, err)
	text, _, found := strings.Cut(page(t, "TUTORIAL.md"), "\n# The command\n")
	if !found {
		t.Fatal("docs/TUTORIAL.md has no second half")
	}
	named := regexp.MustCompile("(?:Write|Change) `([a-z_]+\\.go)`:\n\n$")
	done := map[string]int{}
	for _, at := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)\n```$").FindAllStringSubmatchIndex(text, -1) {
		language, block := text[at[2]:at[3]], text[at[4]:at[5]]+"\n"
		done[language]++
		switch language {
		case "go", "diff":
			name := named.FindStringSubmatch(text[:at[0]])
			switch {
			case name == nil:
				t.Fatalf("no file is named before\n%s", block)
			case language == "diff":
				r.change(name[1], block)
			default:
				r.write(name[1], block)
			}
		case "sh":
			for command := range strings.Lines(block) {
				r.run(strings.TrimSuffix(command, "\n"))
			}
		case "text":
			if diff := difference(masked(block), masked(r.output)); diff != "" {
				t.Errorf("output (-docs/TUTORIAL.md +go test):\n%s", diff)
			}
		default:
			t.Errorf("a block of %s, which nothing runs", language)
		}
	}
	if diff := cmp.Diff(map[string]int{"go": 2, "diff": 2, "sh": 6, "text": 3}, done); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if lines := strings.Count(r.read("cache_test.go"), "\n"); lines > 40 {
		t.Errorf("adapter and mapping have %d lines, want at most 40", lines)
	}
}
