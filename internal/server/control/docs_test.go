package control_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// docs/SERVE.md and the package documentation list exactly the resources and methods that exist. (bash .ci/clients
// runs the commands of the page.)
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/SERVE.md")
	must.OK(t, err)
	source, err := os.ReadFile("doc.go")
	must.OK(t, err)
	f := newFake(t)
	var index struct{ Resources []string }
	if _, text := f.ask("GET", "/", ""); json.Unmarshal([]byte(text), &index) != nil {
		t.Fatalf("the index is no JSON: %s", text)
	}
	var want []string
	for _, line := range index.Resources {
		methods, path, _ := strings.Cut(line, " ")
		for method := range strings.SplitSeq(methods, ",") {
			want = append(want, method+" /"+strings.TrimPrefix(strings.TrimPrefix(path, control.Prefix), "/"))
		}
	}
	slices.Sort(want)
	for name, test := range map[string]struct{ text, form string }{
		"docs/SERVE.md": {string(page), "(?m)^\\| `(GET|POST|DELETE) (/[a-z0-9/-]*)`"},
		"doc.go":        {string(source), `(?m)^\t(GET|POST|DELETE) +(/[a-z0-9/-]*)`},
	} {
		var got []string
		for _, m := range regexp.MustCompile(test.form).FindAllStringSubmatch(test.text, -1) {
			got = append(got, m[1]+" "+m[2])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("resources (-code +%s):\n%s", name, diff)
		}
	}
}
