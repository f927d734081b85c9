package imports

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestModule holds the rules over this module, as the go command sees it.
func TestModule(t *testing.T) {
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
