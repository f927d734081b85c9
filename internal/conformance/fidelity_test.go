package conformance_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/conformance"
	"github.com/isr-sim/isr-sim/internal/conformance/differential"
)

var updateFidelity = flag.Bool("fidelity.update", false, "TestFidelity writes docs/FIDELITY.md anew")

// TestFidelity holds docs/FIDELITY.md to its sources: the dispatch table, the cases and their deviations, the listed
// differences, and the comments of the sources.
func TestFidelity(t *testing.T) {
	const page = "../../docs/FIDELITY.md"
	want := fidelity(t)
	if *updateFidelity {
		if err := os.WriteFile(page, want, 0o644); err != nil { //nolint:gosec // a page is for everybody to read
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/FIDELITY.md is out of date: go test ./internal/conformance -run TestFidelity -fidelity.update")
	}
}

func fidelity(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`# Fidelity

How far ` + "`ddbfake`" + ` is DynamoDB, and how that is known. This page is generated from the dispatch table, the conformance
cases, the listed differences and the sources; a test fails when it is out of date.

`)
	writeOperations(&b)
	writeCases(&b)
	writeOwn(t, &b)
	writeLocal(&b)
	writeDifferences(&b)
	return b.Bytes()
}

func writeOperations(b *bytes.Buffer) {
	supported := ddbfake.Operations()
	b.WriteString("## Operations\n\nSupported:\n\n")
	for _, name := range supported {
		fmt.Fprintf(b, "- `%s`\n", name)
	}
	var refused []string
	client := reflect.TypeFor[*dynamodb.Client]()
	for i := range client.NumMethod() {
		m := client.Method(i)
		if m.Type.NumIn() == 4 && strings.HasSuffix(m.Type.In(2).String(), m.Name+"Input") && !slices.Contains(supported, m.Name) {
			refused = append(refused, "`"+m.Name+"`")
		}
	}
	fmt.Fprintf(b, "\nRefused with an `UnsupportedError`, which is an UnknownOperationException on the wire: %s.\n\n", strings.Join(refused, ", "))
}

func writeCases(b *bytes.Buffer) {
	count := map[string]int{}
	sources := map[string]int{}
	var topics []string
	for _, c := range conformance.Cases() {
		if count[c.Topic] == 0 {
			topics = append(topics, c.Topic)
		}
		count[c.Topic]++
		if c.Source == conformance.LocalOnly {
			sources[c.Topic]++
		}
	}
	fmt.Fprintf(b, "## Conformance\n\n%d cases, which the fake passes through each of its doors. The last column counts those whose rule is known\n"+
		"from DynamoDB Local alone; the others cite AWS's documentation or a suite that is run against the service.\n\n"+
		"| topic | cases | from Local alone |\n|---|---|---|\n", len(conformance.Cases()))
	for _, topic := range topics {
		fmt.Fprintf(b, "| %s | %d | %d |\n", topic, count[topic], sources[topic])
	}
	b.WriteString("\n")
}

// writeOwn collects the deviations that the sources of the fake name.
func writeOwn(t *testing.T, b *bytes.Buffer) {
	t.Helper()
	b.WriteString("## Where the fake differs from DynamoDB\n\n| where | deviation |\n|---|---|\n")
	found := 0
	err := filepath.WalkDir("../../ddbfake", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, paragraph := range strings.Split(group.Text(), "\n\n") {
				if text, ok := strings.CutPrefix(paragraph, "Deviation: "); ok {
					text, _, _ = strings.Cut(text, "\nSource: ")
					fmt.Fprintf(b, "| `%s` | %s |\n", strings.TrimPrefix(filepath.ToSlash(path), "../../"), cell(text))
					found++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Fatal("no source of ddbfake names a deviation: they are looked for in the wrong folder")
	}
	for _, k := range differential.Local {
		if k.FakeIsWrong {
			fmt.Fprintf(b, "| %s | %s |\n", k.Operations, cell(k.Reason))
		}
	}
	b.WriteString("\n")
}

// writeLocal writes where DynamoDB Local fails a case, by reason.
func writeLocal(b *bytes.Buffer) {
	places := map[string][]string{}
	for _, c := range conformance.Cases() {
		for _, d := range c.Deviations() {
			if d.Store == conformance.Local {
				places[d.Reason] = append(places[d.Reason], fmt.Sprintf("%s/%s (%d)", c.Topic, c.Name, d.Step))
			}
		}
	}
	b.WriteString("## Where DynamoDB Local differs: conformance\n\nCases in which DynamoDB Local 3.3.1 answers otherwise, with the number of the step. What each answers, and the source\n" +
		"of the rule, stands with the case.\n\n| why we take DynamoDB Local to be wrong | steps | cases |\n|---|---|---|\n")
	reasons := slices.SortedFunc(maps.Keys(places), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(places[y]), len(places[x])), cmp.Compare(x, y))
	})
	for _, reason := range reasons {
		fmt.Fprintf(b, "| %s | %d | %s |\n", cell(reason), len(places[reason]), cell(strings.Join(places[reason], ", ")))
	}
	b.WriteString("\n")
}

func writeDifferences(b *bytes.Buffer) {
	b.WriteString("## Where DynamoDB Local differs: random sequences\n\nWhat `go test ./internal/conformance -run Differential` passes over; anything else fails it. The texts are patterns.\n\n" +
		"| operations | where | the fake | DynamoDB Local | why | source |\n|---|---|---|---|---|---|\n")
	for _, k := range differential.Local {
		operations := k.Operations
		if operations == "" {
			operations = "all"
		}
		where, fake, local := code(k.Path), code(k.Fake), code(k.Local)
		if k.Silent != nil {
			where, fake, local = "rows", "", ""
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | <%s> |\n", operations, where, fake, local, cell(k.Reason), k.Source)
	}
}

// cell makes a text one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }
