package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	text := must.Of(fixtures.Read("paused-writer"))(t)
	for _, name := range []string{"mine.yaml", "mine"} {
		must.OK(t,
			os.WriteFile(name, []byte(strings.Replace(string(text), "name: paused-writer", "name: mine", 1)), 0o644))
	}
	must.OK(t, os.Mkdir("a folder", 0o755))
	for word, want := range map[string]string{ // the scenario's name, or a part of the error
		"paused-writer":      "paused-writer",
		fixtures.Museum()[0]: fixtures.Museum()[0],
		"mine.yaml":          "mine",
		"mine":               "mine",
		"a folder": "found the directory a folder, expected a file\n" +
			"hint: name the files in it: 'a folder'/*.yaml",
		"paused-writr":       "expected a file or the name of an embedded scenario",
		"paused-writer.yaml": "hint: the embedded scenario is called paused-writer",
		"other.yaml":         "hint: embedded scenarios are named without a path",
		"paused-wrter":       "hint: did you mean \"paused-writer\"?",
		"frobnicate":         "hint: isr-sim list prints their names",
	} {
		s, err := catalog.Load(word)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && s.Name != want {
			t.Errorf("%s: got %+v and %v, want %s", word, s, err, want)
		}
	}
}
