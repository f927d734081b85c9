package imports

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModule holds the rules over this module, as the go command sees it.
func TestModule(t *testing.T) {
	readDirectories(t)
	for _, complaint := range Module.Check(load(t)) {
		t.Error(complaint)
	}
}

// load asks the go command for the import graph of the module and of all that it imports.
func load(t *testing.T) Graph {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Imports", Module.Module+"/...")
	var complaints strings.Builder
	list.Stderr = &complaints
	output, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.String())
	}
	graph := Graph{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var listed struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			return graph
		} else if err != nil {
			t.Fatal(err)
		}
		graph[listed.ImportPath] = listed.Imports
	}
}

// readDirectories reads every directory of the module: go test caches this test's result, and runs it again only when a
// file that it has asked for has changed. It cannot see what the go command reads.
func readDirectories(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && len(entry.Name()) > 2 && entry.Name()[0] == '.' {
			return fs.SkipDir // .git and its like
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
