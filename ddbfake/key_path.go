package ddbfake

import (
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// nestedPaths is an expression whose paths may lead into an attribute.
type nestedPaths interface {
	Nested(expr.Args) []string
}

// checkNested refuses paths into a key attribute of the table or of one of its indexes: a key value is never nested.
//
// Source: https://github.com/architect/dynalite/blob/main/test/getItem.js (projections), scan.js (filters)
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_gsi.py
// (test_gsi_wrong_type_attribute_update_nested, run on AWS)
func (t *table) checkNested(e nestedPaths, args expr.Args) error {
	for _, name := range e.Nested(args) {
		switch {
		case t.schema.has(name):
			return invalid(
				"Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: %s",
				name,
			)
		case t.isIndexed(name):
			return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not "+
				"allowed: IndexKey: %s", name)
		}
	}
	return nil
}

// isIndexed says whether an attribute is part of the key of an index.
func (t *table) isIndexed(name string) bool {
	for _, x := range t.indexes {
		if x.has(name) {
			return true
		}
	}
	return false
}
