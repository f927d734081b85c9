// Package lint has the rules of this module that no ready-made linter checks. They are tests, so `go test ./...` fails
// if a rule is broken.
//
// # The rule
//
// A run must print the same bytes every time, and Go visits a map in a different order every time. So code outside
// tests must not range over a map, and must sort each iterator of a map, like this:
//
//	for _, name := range slices.Sorted(maps.Keys(m)) { ... }
//
// Where the order provably changes nothing (a sum, a copy into another map), a comment on the line before the loop, or
// on the same line, says why:
//
//	//isrsim:unordered copies one map into another
//	for name, value := range m {
//		out[name] = value
//	}
//
// A comment without a reason, or without a loop over a map, is reported, too, so that no comment outlives its loop.
//
// # Limits
//
// The rule sees loops and the iterators of package maps. It does not see an order that leaks through reflection,
// through a function of another module, or through a comparison that takes different elements for equal.
package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// MapOrder reports the code that visits a map in random order without a reason.
var MapOrder = &analysis.Analyzer{
	Name: "maporder",
	Doc:  "reports loops over maps and iterators of maps, whose order is random, without an //isrsim:unordered reason",
	Run:  runMapOrder,
}

const unorderedMark = "//isrsim:unordered"

// mark is one //isrsim:unordered comment.
type mark struct {
	pos    token.Pos
	reason string
	used   bool
}

func runMapOrder(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		if strings.HasSuffix(pass.Fset.Position(file.FileStart).Filename, "_test.go") {
			continue
		}
		checkFile(pass, file)
	}
	return nil, nil
}

func checkFile(pass *analysis.Pass, file *ast.File) {
	line := func(pos token.Pos) int { return pass.Fset.Position(pos).Line }
	marks := map[int]*mark{} // by the line that the comment ends on
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if reason, ok := strings.CutPrefix(comment.Text, unorderedMark); ok {
				// A reason that continues on the next comment lines still belongs to the loop below them.
				marks[line(group.End())] = &mark{pos: comment.Pos(), reason: strings.TrimSpace(reason)}
			}
		}
	}
	sorted := map[ast.Expr]bool{} // iterators whose elements the caller sorts
	ast.Inspect(file, func(node ast.Node) bool {
		what := ""
		switch node := node.(type) {
		case *ast.RangeStmt:
			if isMap(pass.TypesInfo.TypeOf(node.X)) {
				what = "range over a map visits it in random order"
			}
		case *ast.CallExpr:
			switch name := calledName(pass.TypesInfo, node); name {
			case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc", "maps.Collect":
				sorted[ast.Unparen(node.Args[0])] = true
			case "maps.All", "maps.Keys", "maps.Values":
				if !sorted[node] {
					what = name + " visits the map in random order"
				}
			}
		}
		if what == "" {
			return true
		}
		for _, at := range []int{line(node.Pos()), line(node.Pos()) - 1} {
			if m := marks[at]; m != nil && m.reason != "" {
				m.used = true
				return true
			}
		}
		pass.Reportf(node.Pos(),
			"%s: use slices.Sorted(maps.Keys(m)), or say above it why the order reaches nothing: %s <reason>",
			what, unorderedMark)
		return true
	})
	for _, group := range file.Comments {
		m := marks[line(group.End())]
		if m == nil || m.used || m.pos < group.Pos() || m.pos >= group.End() {
			continue
		}
		if m.reason == "" {
			pass.Reportf(m.pos, "%s needs a reason on the same line", unorderedMark)
		} else {
			pass.Reportf(m.pos, "%s stands above nothing that visits a map", unorderedMark)
		}
	}
}

// isMap reports whether t is a map, or a type parameter that stands for maps.
func isMap(t types.Type) bool {
	if parameter, ok := t.(*types.TypeParam); ok {
		return coreIsMap(parameter)
	}
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// calledName returns "package.Function" for a call of a package's function, and "" for any other call.
func calledName(info *types.Info, call *ast.CallExpr) string {
	function, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok || function.Pkg() == nil || function.Signature().Recv() != nil {
		return ""
	}
	return function.Pkg().Path() + "." + function.Name()
}

// coreIsMap reports whether every type that the parameter allows is a map, as in func f[M ~map[K]V, ...](m M).
func coreIsMap(parameter *types.TypeParam) bool {
	constraint, ok := parameter.Constraint().Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for embedded := range constraint.EmbeddedTypes() {
		union, ok := embedded.(*types.Union)
		if !ok {
			if _, ok := embedded.Underlying().(*types.Map); ok {
				return true
			}
			continue
		}
		for term := range union.Terms() {
			if _, ok := term.Type().Underlying().(*types.Map); ok {
				return true
			}
		}
	}
	return false
}
