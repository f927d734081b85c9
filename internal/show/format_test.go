package show_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/format"
)

const untidy = `# about the file

name:    untidy   # its name
about: |
  A story,
    with a line further in.

  And a second paragraph.

# before the cache
cache:   {lease:  10s,revalidate: 1m}   
promise:
      max-age:    5s # an age
actors:
- name: 'alice'
  script:
  - get /home # first
  # then
  - "sleep 5s"
-   name: bob
    script: [ get /home,sleep 5s ]
    pauses: 1
    clock:
         steps: [-1s]
reach: [published, served-fresh, lock-taken-over, lock-refused, publish-refused, own-commit-met, served-stale, expired-row-read, pause]
# the end
`

const tidy = `# about the file

name: untidy # its name
about: |
  A story,
    with a line further in.

  And a second paragraph.

# before the cache
cache: {lease: 10s, revalidate: 1m}
promise:
  max-age: 5s # an age
actors:
  - name: 'alice'
    script:
      - get /home # first
      # then
      - "sleep 5s"
  - name: bob
    script: [get /home, sleep 5s]
    pauses: 1
    clock:
      steps: [-1s]
reach: [published, served-fresh, lock-taken-over, lock-refused, publish-refused, own-commit-met, served-stale,
  expired-row-read, pause]
# the end
`

func TestScenario(t *testing.T) {
	for name, text := range map[string]string{
		"untidy": untidy, "tidy": tidy, "from Windows": strings.ReplaceAll(untidy, "\n", "\r\n"),
		"lone CRs": strings.ReplaceAll(untidy, "\n", "\r"),
	} {
		got := must.Of(format.Scenario("f.yaml", []byte(text)))(t)
		if diff := cmp.Diff(tidy, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEmbeddedScenariosAreFormatted(t *testing.T) {
	for _, name := range slices.Concat(fixtures.Names(), fixtures.Museum()) {
		text, err := fixtures.Read(name)
		must.OK(t, err)
		got, err := format.Scenario(name+".yaml", text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(string(text), string(got)); diff != "" {
			t.Errorf("%s (-is +formatted):\n%s", name, diff)
		}
	}
}

func TestScenarioRefusesMistakes(t *testing.T) {
	_, err := format.Scenario("f.yaml", []byte("nam: x\n"))
	if err == nil || !strings.HasPrefix(err.Error(), `f.yaml:1:1: found key "nam"`) {
		t.Errorf("got %v", err)
	}
}
