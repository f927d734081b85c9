//go:build ignore

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mutant is a file in which the text of one place is replaced.
type mutant struct {
	file, function string
	line, column   int
	from, to       int // bytes
	text           string
	before, after  string // the lines, without space around them
	in             *ast.FuncDecl
	number         int // counts from 1 in the package
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d %s\n\t- %s\n\t+ %s", m.file, m.line, m.function, m.before, m.after)
}

// key identifies the mutant in the list of accepted ones, even if its line has moved.
func (m mutant) key() string {
	return strings.Join([]string{m.file, m.function, m.before, m.after}, "\n")
}

// mutator finds the mutants of a file.
type mutator struct {
	name   string
	source []byte
	fset   *token.FileSet
	in     *ast.FuncDecl
	found  []*mutant
}

func (m *mutator) at(p token.Pos) int { return m.fset.Position(p).Offset }

func (m *mutator) code(n ast.Node) string { return string(m.source[m.at(n.Pos()):m.at(n.End())]) }

// replace adds a mutant in which text stands in place of the code between two places.
func (m *mutator) replace(from, to token.Pos, text string) {
	a, b := m.at(from), m.at(to)
	start := bytes.LastIndexByte(m.source[:a], '\n') + 1
	end := b + bytes.IndexByte(append(m.source[b:len(m.source):len(m.source)], '\n'), '\n')
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	m.found = append(m.found, &mutant{
		file: m.name, function: m.in.Name.Name, line: m.fset.Position(from).Line, column: m.fset.Position(from).Column,
		from: a, to: b, text: text, in: m.in,
		before: words(string(m.source[start:end])),
		after:  words(string(m.source[start:a]) + text + string(m.source[b:end])),
	})
}

// others lists, for each operator, the operators that replace it in mutants.
var others = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ},
	token.GEQ: {token.GTR, token.LSS}, token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO},
	token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND},
}

// inspect adds the mutants of a node and of all nodes within. It leaves out two kinds of numbers, because changing them
// has no effect: a capacity is a hint, and -1 stands for "none", as any negative number does.
func (m *mutator) inspect(n ast.Node) bool {
	switch n := n.(type) {
	case nil:
		return false
	case *ast.UnaryExpr:
		if n.Op == token.SUB && m.code(n) == "-1" {
			return false
		}
	case *ast.CallExpr:
		if m.code(n.Fun) == "make" && len(n.Args) > 1 {
			if _, slice := n.Args[0].(*ast.ArrayType); slice {
				ast.Inspect(n.Args[1], m.inspect)
			}
			return false
		}
	}
	m.visit(n)
	return true
}

// visit adds the mutants of one node.
func (m *mutator) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		all := others[n.Op]
		if strings.HasSuffix(m.code(n.X), ".Seq") && strings.HasSuffix(m.code(n.Y), ".Seq") && len(all) > 0 {
			all = all[len(all)-1:] // only the opposite: no two events have the same number
		}
		for _, other := range all {
			m.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			m.replace(n.Pos(), n.End(), m.code(n.X))
			m.replace(n.Pos(), n.End(), m.code(n.Y))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			m.replace(n.Pos(), n.End(), m.code(n.X))
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			m.replace(n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"))
		}
	case *ast.BasicLit:
		// a fingerprint may begin with any number
		if n.Kind == token.INT && !bytes.HasSuffix(m.source[:m.at(n.Pos())], []byte("Hash(")) {
			m.replace(n.Pos(), n.End(), "("+n.Value+"+1)")
		}
	case *ast.IfStmt:
		m.condition(n.Cond)
	case *ast.ForStmt:
		m.condition(n.Cond)
	case *ast.SwitchStmt:
		m.cases(n.Body, n.Tag == nil)
	case *ast.TypeSwitchStmt:
		m.cases(n.Body, false)
	case *ast.BlockStmt:
		m.statements(n.List)
	case *ast.CaseClause:
		m.statements(n.Body)
	case *ast.CallExpr: // a link of a chain: a.F(b).F(c)
		if f, ok := n.Fun.(*ast.SelectorExpr); ok {
			if _, ok := f.X.(*ast.CallExpr); ok {
				m.replace(n.Pos(), n.End(), m.code(f.X))
			}
		}
	}
}

// condition adds the negation of a condition, unless it is a comparison: comparisons have mutants of their own.
func (m *mutator) condition(c ast.Expr) {
	switch c := c.(type) {
	case nil:
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			m.replace(c.Pos(), c.End(), "!("+m.code(c)+")")
		}
	case *ast.UnaryExpr:
	default:
		m.replace(c.Pos(), c.End(), "!("+m.code(c)+")")
	}
}

// cases adds the mutants of a switch: negated conditions, and values that are left out.
func (m *mutator) cases(body *ast.BlockStmt, conditions bool) {
	for _, s := range body.List {
		clause := s.(*ast.CaseClause)
		for i, e := range clause.List {
			switch {
			case conditions:
				m.condition(e)
			case len(clause.List) == 1: // nothing happens then
				if len(clause.Body) > 0 {
					m.replace(clause.Colon+1, clause.End(), "")
				}
			case i == 0:
				m.replace(e.Pos(), clause.List[1].Pos(), "")
			default:
				m.replace(clause.List[i-1].End(), e.End(), "")
			}
		}
	}
}

// statements adds the mutants that lack one of the statements.
func (m *mutator) statements(all []ast.Stmt) {
	for _, s := range all {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
			if m.code(s) != "t.Helper()" { // the line that a failure names: a twin is called from another one anyway
				m.replace(s.Pos(), s.End(), "")
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				var blanks []string // a variable that is read only here stays in use
				for _, e := range slices.Concat(s.Lhs, s.Rhs) {
					if id, ok := e.(*ast.Ident); !ok || id.Name != "_" && id.Name != "nil" {
						blanks = append(blanks, "_ = "+m.code(e))
					}
				}
				if !slices.ContainsFunc(s.Rhs, calls) {
					m.replace(s.Pos(), s.End(), strings.Join(blanks, "; "))
				} else {
					m.replace(s.Pos(), s.End(), "")
				}
			}
		case *ast.BranchStmt:
			if s.Tok == token.CONTINUE || s.Tok == token.BREAK {
				m.replace(s.Pos(), s.End(), "")
			}
		}
	}
}

// calls says whether an expression calls something.
func calls(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		found = found || call
		return !found
	})
	return found
}

func mutants(name string) (*mutator, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m := &mutator{name: name, source: source, fset: token.NewFileSet()}
	parsed, err := parser.ParseFile(m.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Name.Name == "String" {
			continue
		}
		m.in = f
		ast.Inspect(f.Body, m.inspect)
	}
	slices.SortStableFunc(m.found,
		func(a, b *mutant) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	m.found = slices.CompactFunc(m.found,
		func(a, b *mutant) bool { return a.from == b.from && a.to == b.to && a.text == b.text })
	return m, nil
}
