package gotest

import (
	"bytes"
	"go/format"
	"strings"
	"text/template"
	"unicode"

	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// text returns a Go test of the shrunk run: pkg is the name in its package clause, and file is the path from the test
// to the scenario. The test of a protocol that is broken on purpose holds that the run violates the invariant; the test
// of any other protocol, that it no longer does.
func text(k *campaign.Shrunk, pkg, file string) ([]byte, error) {
	s := k.Scenario
	run, err := s.Recorded()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = goTest.Execute(&b, map[string]any{
		"Package": pkg, "File": file, "Name": "Test" + identifier(s.Name) + identifier(run.Protocol.Name),
		"About": strings.Split(s.About, "\n"), "Invariant": k.Outcome.Violation.Invariant.Name, "OnPurpose": run.Protocol.Breaks != "",
	})
	if err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

var goTest = template.Must(template.New("go test").Parse(`package {{.Package}}

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/scenario"
)

// {{.Name}} replays a recorded run.
//{{range .About}}
// {{.}}{{end}}
func {{.Name}}(t *testing.T) {
	s, err := scenario.Load({{printf "%q" .File}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	var trace strings.Builder
	run.Trace = &trace
	o, err := run.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
{{- if .OnPurpose}}
	if o.Violation == nil || o.Violation.Invariant.Name != {{printf "%q" .Invariant}} {
		t.Errorf("%s\n%swant a violation of {{.Invariant}}", trace.String(), o.Explain(s.Name, run.Protocol.Name))
	}
{{- else}}
	if o.Violation != nil {
		t.Errorf("%s\n%s", trace.String(), o.Explain(s.Name, run.Protocol.Name))
	}
{{- end}}
}
`))

// identifier makes part of a Go identifier of a name: paused-writer becomes PausedWriter.
func identifier(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
			continue
		case upper:
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
	}
	return b.String()
}
