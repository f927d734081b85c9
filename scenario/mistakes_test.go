package scenario_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/scenario"
)

var update = flag.Bool("scenario.update", false, "write testdata/mistakes.txt and docs/scenario.schema.json anew")

// mistakesOf returns the mistakes that an error of Parse holds.
func mistakesOf(t *testing.T, err error) []*scenario.SyntaxError {
	t.Helper()
	if one, ok := err.(*scenario.SyntaxError); ok {
		return []*scenario.SyntaxError{one}
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("got %T %v, want mistakes", err, err)
	}
	var out []*scenario.SyntaxError
	for _, e := range several.Unwrap() {
		one, ok := errors.AsType[*scenario.SyntaxError](e)
		if !ok {
			t.Fatalf("got %T %v, want a *SyntaxError", e, e)
		}
		out = append(out, one)
	}
	return out
}

// Each line of testdata/mistakes.yaml whose comment names a mistake has it, and no other line has one. All are found in
// one go, in order, each with the line, a caret and a hint.
func TestAllMistakesAtOnce(t *testing.T) {
	data, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = scenario.Parse("mistakes.yaml", data)
	if err == nil {
		t.Fatal("no mistake found")
	}
	got := map[int]int{}
	mistakes := mistakesOf(t, err)
	for i, m := range mistakes {
		got[m.Line]++
		if m.Hint == "" {
			t.Errorf("line %d: %s: no hint", m.Line, m.Problem)
		}
		if i > 0 && m.Line < mistakes[i-1].Line {
			t.Errorf("line %d stands behind line %d", m.Line, mistakes[i-1].Line)
		}
	}
	want := map[int]int{}
	for i, line := range strings.Split(string(data), "\n") {
		if _, comment, ok := strings.Cut(line, " # "); ok {
			want[i+1] = 1 + strings.Count(comment, " and ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes by line (-want +got):\n%s", diff)
	}
	if len(mistakes) < 18 {
		t.Errorf("found %d kinds of mistakes, want 18 at least", len(mistakes))
	}
	const golden = "testdata/mistakes.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, readErr := os.ReadFile(golden)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if diff := cmp.Diff(string(text), err.Error()+"\n"); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// Each of two mistakes is reported, and nothing that only follows from one of them.
func TestMistakesDoNotCascade(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []string // position and the beginning of the problem
	}{
		{"a misspelt name is no missing name", "nam: x\nactors: [{name: a, script: [get /]}]\n", []string{`1:1 found key "nam"`}},
		{"a misspelt actor is no unknown actor", "name: x\nactors:\n  - nam: bob\n    script: [get /]\nfaults: [throttled actor=bob]\n",
			[]string{`3:5 found key "nam"`}},
		{"unreadable actors are no missing actors", "name: x\nactors:\n  - name: bob\n    script: [get /\nsettle: 5\n",
			[]string{"5:1 not YAML", "5:9 found the number 5"}},
		{"both of two", "name: x\nactors: [{name: a, script: [get home]}, {name: b, script: [got /]}]\n",
			[]string{`2:29 found the key "home"`, `2:60 found the command "got /"`}},
		{"neither name nor actors", "about: x\n", []string{"1:1 found no name", "1:1 found no actors"}},
		{"two tables", "name: x\nrows: nothing\nactors: [{name: a, script: [get /]}]\nfaults: [throttled table=t]\n",
			[]string{`2:7 found rows "nothing"`}},
		{"two broken parts", "name: [x\nabout: {y\nactors: [{name: a, script: [get home]}]\n",
			[]string{"2:1 not YAML", "3:1 not YAML", `3:29 found the key "home"`}},
		{"no source", "name: x\nsource: []\nbroken: blind-publish\nactors: [{name: a, script: [get /]}]\n", []string{"2:9 found no source"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := scenario.Parse("f.yaml", []byte(test.file))
			var got []string
			for _, m := range mistakesOf(t, err) {
				got = append(got, fmt.Sprintf("%d:%d %s", m.Line, m.Column, m.Problem))
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], test.want[i]) {
					t.Errorf("got %q, want %q", got[i], test.want[i])
				}
			}
		})
	}
}

// A file with a mistake in every line does not fill the screen.
func TestManyMistakesAreCounted(t *testing.T) {
	_, err := scenario.Parse("f.yaml", []byte("name: x\nactors:\n  - name: a\n    script:\n"+strings.Repeat("    - go\n", 70)))
	if err == nil || strings.Count(err.Error(), "found the command") != 50 || !strings.HasSuffix(err.Error(), "\nand 20 more mistakes in f.yaml") {
		t.Errorf("got %v", err)
	}
}
