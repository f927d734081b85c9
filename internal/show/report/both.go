package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/isr-sim/isr-sim/internal/show/record"
)

var (
	//go:embed both.css
	bothCSS string
	//go:embed both.js
	bothJS string
)

// Both writes one page with the reports of two runs side by side, such as a failed run and the smaller one that shrink
// made of it. If the reader selects a step in one run, the page also selects it in the other run, provided that this
// run has the step.
func Both(out io.Writer, left, right Part) error {
	view := both{
		CSS: template.CSS(css + bothCSS), JS: template.JS(bothJS), //nolint:gosec // files of this package
		// The browser applies this policy to the two inner pages, too, in addition to their own.
		Policy: "default-src 'none'; style-src '" + hash(css) + "' '" + hash(css+bothCSS) + "'; script-src '" +
			hash(js) + "' '" + hash(bothJS) +
			"'; img-src data:; base-uri 'none'; form-action 'none'",
		Pairs: pairs(left.Record, right.Record),
	}
	for i, p := range []Part{left, right} {
		var page strings.Builder
		if err := Page(&page, p.Record, p.Commands); err != nil {
			return err
		}
		view.Parts[i] = part{Name: clean(p.Name), Words: read(p.Record).cleaned(), Page: page.String()}
	}
	return templates.ExecuteTemplate(out, "both", view)
}

// Part is one of two runs that are drawn side by side.
type Part struct {
	Name     string // what the page calls the run, such as the file of its record
	Record   *record.Record
	Commands []Command
}

type both struct {
	CSS    template.CSS
	JS     template.JS
	Policy string
	Parts  [2]part
	Pairs  [][2]int
}

type part struct {
	Name  string
	Words words
	Page  string
}

// maxPaired bounds the size of the table that pairs uses.
const maxPaired = 4_000_000

// pairs finds the steps that two runs have in common: the longest sequence of steps of the same node, kind and words
// that both have in this order. If the runs are too long for that, each step is paired with the next equal step of the
// longer run.
func pairs(a, b *record.Record) [][2]int {
	same := func(i, j int) bool {
		x, y := a.Steps[i], b.Steps[j]
		return x.Lane == y.Lane && x.Kind == y.Kind && x.Text == y.Text
	}
	n, m := len(a.Steps), len(b.Steps)
	found := [][2]int{}
	if n*m > maxPaired {
		for i, j := 0, 0; j < m; j++ {
			for k := i; k < n; k++ {
				if same(k, j) {
					found, i = append(found, [2]int{k, j}), k+1
					break
				}
			}
		}
		return found
	}
	longest := make([][]int32, n+1) // the length of the longest common sequence from i and j on
	for i := range longest {
		longest[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if same(i, j) {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j):
			found = append(found, [2]int{i, j})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return found
}
