//go:build ignore

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// environment is the variable with the number of the mutant that a test binary is. With unmutated, functions run an
// unchanged twin.
const (
	environment = "MUTANT_AT_WORK"
	unmutated   = -1
)

// chooser is the file that is added to a package with twins.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var mutantAtWork = func() int { n, _ := strconv.Atoi(os.Getenv("` + environment + `")); return n }()
`

// edit is a change of a text.
type edit struct {
	from, to int
	text     string
}

func (m *mutator) edited(from, to int, edits []edit) string {
	edits = slices.SortedStableFunc(slices.Values(edits), func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var text strings.Builder
	for _, e := range edits {
		if from <= e.from && e.to <= to {
			text.Write(m.source[from:e.from])
			text.WriteString(e.text)
			from = e.to
		}
	}
	text.Write(m.source[from:to])
	return text.String()
}

// hasTwins says whether a function can hand its calls on to a twin. An init cannot, nor can a function that calls
// recover: the deferred function itself must do so.
func hasTwins(f *ast.FuncDecl) bool {
	recovers := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name, _ := call.Fun.(*ast.Ident)
			recovers = recovers || name != nil && name.Name == "recover"
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
	return !recovers && (f.Recv != nil || f.Name.Name != "init")
}

// twins returns the text of the file with a twin of its function for each mutant: the function hands its calls on to
// the twin of the mutant at work. of is the mutant that each line belongs to.
func (m *mutator) twins(mutants []*mutant) (text []byte, of map[int]*mutant) {
	var edits []edit
	var more bytes.Buffer
	of = map[int]*mutant{}
	first := bytes.Count(m.source, []byte("\n")) + 2
	for i := 0; i < len(mutants); {
		f := mutants[i].in
		j := i
		for j < len(mutants) && mutants[j].in == f {
			j++
		}
		named, call := m.call(f)
		edits = append(edits, named...)
		head := " switch mutantAtWork { case 0:"
		for k := i - 1; k < j; k++ {
			number, changed := unmutated, named
			if k >= i {
				m := mutants[k]
				number, changed = m.number, append(slices.Clip(named), edit{m.from, m.to, m.text})
			}
			twin := fmt.Sprintf("%sTwin%d", f.Name.Name, number+1)
			changed = append(slices.Clip(changed), edit{m.at(f.Name.Pos()), m.at(f.Name.End()), twin})
			head += fmt.Sprintf(" case %d: %s;", number, fmt.Sprintf(call, twin))
			code := m.edited(m.at(f.Pos()), m.at(f.End()), changed)
			for range strings.Count(code, "\n") + 1 {
				if k >= i {
					of[first+bytes.Count(more.Bytes(), []byte("\n"))] = mutants[k]
				}
				before, after, _ := strings.Cut(code, "\n")
				more.WriteString(before + "\n")
				code = after
			}
		}
		body := m.at(f.Body.Lbrace) + 1
		edits = append(edits, edit{body, body, head + " };"})
		i = j
	}
	return []byte(m.edited(0, len(m.source), edits) + "\n" + more.String()), of
}

// call returns the edits that name each parameter of a function, and the format of a statement that passes them to a
// twin.
func (m *mutator) call(f *ast.FuncDecl) (named []edit, format string) {
	n := 0
	names := func(list *ast.FieldList) (all []string) {
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				n++
				all = append(all, fmt.Sprintf("parameter%d", n))
				named = append(named, edit{m.at(field.Type.Pos()), m.at(field.Type.Pos()), all[len(all)-1] + " "})
			}
			for _, name := range field.Names {
				all = append(all, name.Name)
				if name.Name == "_" {
					n++
					all[len(all)-1] = fmt.Sprintf("parameter%d", n)
					named = append(named, edit{m.at(name.Pos()), m.at(name.End()), all[len(all)-1]})
				}
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				all[len(all)-1] += "..."
			}
		}
		return all
	}
	format = "%s"
	if f.Recv != nil {
		format = names(f.Recv)[0] + ".%s"
	}
	if types := names(f.Type.TypeParams); types != nil {
		format += "[" + strings.Join(types, ", ") + "]"
	}
	format += "(" + strings.Join(names(f.Type.Params), ", ") + ")"
	if f.Type.Results != nil {
		return named, "return " + format
	}
	return named, format + "; return"
}
