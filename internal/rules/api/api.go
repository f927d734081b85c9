// Package api lists the exported names of the packages that this module promises to others, in the form of
// docs/API.txt: one line per name, with its type. Its test compares the file with the code, so that a change of the
// surface shows in review. It refuses names that a caller could not use, because their types are unexported or
// internal.
package api

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Surface has the exports of one package.
type Surface struct {
	// Lines are its names with their types, sorted.
	Lines []string
	// Hidden has the lines with types that a caller can see but not name, each with the reason; sorted.
	Hidden []string
}

// Of lists what a package exports. Paths are printed without the module's.
func Of(module string, pkg *types.Package) Surface {
	l := &lister{module: module, pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		if token.IsExported(name) {
			l.object(pkg.Scope().Lookup(name))
		}
	}
	slices.Sort(l.Lines)
	slices.Sort(l.Hidden)
	return l.Surface
}

type lister struct {
	Surface
	module string
	pkg    *types.Package
}

// add records a line, and the types in it that a caller cannot name.
func (l *lister) add(line string, in types.Type) {
	line = fmt.Sprintf("pkg %s, %s", l.path(l.pkg), line)
	l.Lines = append(l.Lines, line)
	if in == nil {
		return
	}
	for _, hidden := range l.hidden(in) {
		l.Hidden = append(l.Hidden, fmt.Sprintf("%s: %s", line, hidden))
	}
}

func (l *lister) object(object types.Object) {
	switch object := object.(type) {
	case *types.Const:
		text := fmt.Sprintf("const %s = %s", object.Name(), object.Val())
		if basic, ok := object.Type().(*types.Basic); !ok || basic.Info()&types.IsUntyped == 0 {
			text = fmt.Sprintf("const %s %s = %s", object.Name(), l.text(object.Type()), object.Val())
		}
		l.add(text, object.Type())
	case *types.Var:
		l.add(fmt.Sprintf("var %s %s", object.Name(), l.text(object.Type())), object.Type())
	case *types.Func:
		l.add(fmt.Sprintf("func %s%s", object.Name(), l.signature(object)), object.Type())
	case *types.TypeName:
		l.typeName(object)
	default:
		panic(fmt.Sprintf("%s: a package exports no %T", object, object))
	}
}

func (l *lister) typeName(object *types.TypeName) {
	if object.IsAlias() {
		right := types.Unalias(object.Type())
		if alias, ok := object.Type().(*types.Alias); ok {
			right = alias.Rhs()
		}
		if named, ok := right.(*types.Named); ok && internal(named.Obj().Pkg()) {
			l.named(object, named) // outside the package it has no other name
			return
		}
		l.add(fmt.Sprintf("type %s = %s", object.Name(), l.text(right)), right)
		return
	}
	l.named(object, object.Type().(*types.Named))
}

func (l *lister) named(object *types.TypeName, named *types.Named) {
	name := object.Name() + l.parameters(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		l.add(fmt.Sprintf("type %s struct", name), nil)
		l.fields(name, under)
	case *types.Interface:
		l.add(fmt.Sprintf("type %s interface", name), nil)
		l.elements(name, under)
	default:
		l.add(fmt.Sprintf("type %s %s", name, l.text(under)), under)
	}
	for method := range named.Methods() {
		if method.Exported() {
			l.method(method.Signature().Recv().Type(), method)
		}
	}
	l.promoted(named)
}

func (l *lister) method(receiver types.Type, method *types.Func) {
	l.add(fmt.Sprintf("method (%s) %s%s", l.text(receiver), method.Name(), l.signature(method)), method.Type())
}

func (l *lister) fields(name string, of *types.Struct) {
	for field := range of.Fields() {
		switch {
		case !field.Exported() && field.Embedded():
			if embedded, ok := deref(field.Type()).Underlying().(*types.Struct); ok {
				l.fields(name, embedded) // promoted like its own
			}
		case field.Embedded():
			l.add(fmt.Sprintf("type %s struct, embedded %s", name, l.text(field.Type())), field.Type())
		case field.Exported():
			l.add(fmt.Sprintf("type %s struct, %s %s", name, field.Name(), l.text(field.Type())), field.Type())
		}
	}
}

// promoted lists the methods that a struct gets from unexported embedded types. They are listed nowhere else.
func (l *lister) promoted(named *types.Named) {
	if types.IsInterface(named) {
		return
	}
	pointer := types.NewPointer(named)
	for selection := range types.NewMethodSet(pointer).Methods() {
		method := selection.Obj().(*types.Func)
		if !method.Exported() || len(selection.Index()) == 1 {
			continue
		}
		hidden := true
		var within types.Type = named
		for _, i := range selection.Index()[:len(selection.Index())-1] {
			field := deref(within).Underlying().(*types.Struct).Field(i)
			hidden = hidden && !field.Exported()
			within = field.Type()
		}
		if hidden {
			l.method(pointer, method)
		}
	}
}

func deref(t types.Type) types.Type {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		return pointer.Elem()
	}
	return t
}

func (l *lister) elements(name string, of *types.Interface) {
	for method := range of.ExplicitMethods() {
		if method.Exported() {
			l.add(fmt.Sprintf("type %s interface, %s%s", name, method.Name(), l.signature(method)), method.Type())
		} else {
			l.add(fmt.Sprintf("type %s interface, unexported methods", name), nil)
		}
	}
	for embedded := range of.EmbeddedTypes() {
		l.add(fmt.Sprintf("type %s interface, embedded %s", name, l.text(embedded)), embedded)
	}
}

// text prints a type as the package itself writes it, with the names of other packages as qualifiers.
func (l *lister) text(t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == l.pkg {
			return ""
		}
		return other.Name()
	})
}

func (l *lister) signature(of *types.Func) string {
	return strings.TrimPrefix(l.text(of.Type()), "func")
}

func (l *lister) parameters(of *types.TypeParamList) string {
	var texts []string
	for parameter := range of.TypeParams() {
		texts = append(texts, parameter.Obj().Name()+" "+l.text(parameter.Constraint()))
	}
	if texts == nil {
		return ""
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func (l *lister) path(pkg *types.Package) string {
	return strings.TrimPrefix(pkg.Path(), l.module+"/")
}

// hidden names the types in a type that another module cannot name: unexported ones, and those of internal packages. It
// does not look into a named type, which has its own lines.
func (l *lister) hidden(t types.Type) (why []string) {
	complain := func(object *types.TypeName) {
		pkg := object.Pkg()
		switch {
		case pkg == nil: // error, any
		case !object.Exported():
			why = append(why, fmt.Sprintf("%s is not exported", l.text(object.Type())))
		case internal(pkg):
			why = append(why, fmt.Sprintf("%s is of %s, which is internal", l.text(object.Type()), l.path(pkg)))
		}
	}
	var visit func(types.Type)
	visitAll := func(of *types.TypeList) {
		for t := range of.Types() {
			visit(t)
		}
	}
	visit = func(t types.Type) {
		switch t := t.(type) {
		case *types.Basic:
		case *types.TypeParam: // its constraint is in the line of the generic type or function
		case *types.Named:
			complain(t.Obj())
			visitAll(t.TypeArgs())
		case *types.Alias:
			complain(t.Obj())
			visitAll(t.TypeArgs())
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		case *types.Chan:
			visit(t.Elem())
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case *types.Tuple:
			for v := range t.Variables() {
				visit(v.Type())
			}
		case *types.Signature:
			for parameter := range t.TypeParams().TypeParams() {
				visit(parameter.Constraint())
			}
			visit(t.Params())
			visit(t.Results())
		case *types.Struct:
			for field := range t.Fields() {
				visit(field.Type())
			}
		case *types.Interface:
			for method := range t.ExplicitMethods() {
				visit(method.Type())
			}
			for embedded := range t.EmbeddedTypes() {
				visit(embedded)
			}
		case *types.Union:
			for term := range t.Terms() {
				visit(term.Type())
			}
		default:
			panic(fmt.Sprintf("%s: no case for a %T", t, t))
		}
	}
	visit(t)
	slices.Sort(why)
	return slices.Compact(why)
}

func internal(pkg *types.Package) bool {
	return pkg != nil && slices.Contains(strings.Split(pkg.Path(), "/"), "internal")
}

// Count is the number of names that a package exports.
type Count struct {
	Package     string
	Before, Now int
}

// Table prints the number of exported names, before and now, of each package and of all.
func Table(counts []Count) string {
	var out strings.Builder
	slices.SortFunc(counts, func(a, b Count) int { return cmp.Compare(a.Package, b.Package) })
	total := Count{Package: "all"}
	for _, c := range counts {
		total.Before += c.Before
		total.Now += c.Now
	}
	fmt.Fprintf(&out, "# %-32s %6s %6s\n", "package", "before", "now")
	for _, c := range append(counts, total) {
		fmt.Fprintf(&out, "# %-32s %6s %6s\n", c.Package, dash(c.Before), dash(c.Now))
	}
	return out.String()
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// Module is the path of this module.
const Module = "github.com/isr-sim/isr-sim"

// Promised are the packages that docs/INSTALL.md makes a promise about. All others are commands, examples, or
// internal.
var Promised = []string{
	"ddbfake", "ddbfake/attr", "fakeclock", "fixtures", "fixtures/ddblocal", "property", "property/bodies",
	"property/gen", "s3fake", "s3fake/sdk", "scenario", "scenario/history", "scenario/invariant", "scenario/isr",
	"scenario/isr/recipe", "scenario/live",
}

// Commands are the folders of programs, of examples, and of the kits that programs contain: nobody imports their
// packages.
var Commands = []string{"clients", "cmd", "examples"}

// Allowed are the hidden types that a promised package may nevertheless show, each with its reason. The key is an
// element of Surface.Hidden.
var Allowed = map[string]string{}

// Before is the number of names that each package exported in commit af11106, before the surface was reviewed.
var Before = map[string]int{
	"ddbfake": 205, "ddbfake/attr": 100, "ddbfake/conformance": 58, "ddbfake/conformance/differential": 59,
	"ddbfake/control": 32, "ddbfake/expr": 94, "fakeclock": 40, "fixtures": 4, "fixtures/ddblocal": 15, "property": 15,
	"scenario": 415, "scenario/concurrent": 24, "scenario/history": 82, "scenario/invariant": 60, "scenario/isr": 212,
	"scenario/isr/mutant": 1, "scenario/live": 36, "scenario/sim": 201,
}
