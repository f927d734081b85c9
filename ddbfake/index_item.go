package ddbfake

import (
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// The rules in this file are about items. An attribute that is part of an index's key may be absent. If it is there, it
// has the key's type, is not empty, and is not too long.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html

// checkIndexKeys refuses an item if a key attribute of an index has another type than the key, or is too long. Global
// indexes are checked first.
func (t *table) checkIndexKeys(item packed.Attributes) error {
	for _, x := range t.indexes {
		for key := range x.all {
			if v := item.Get(key.Name); v != nil && attr.KindOf(v) != key.Kind {
				return x.typeMismatch(key, attr.KindOf(v))
			}
		}
	}
	for _, x := range t.indexes {
		if longKey(attr.Item(nil), item, x.hash) > maxHashKeyBytes {
			return invalid(hashKeyTooLong)
		}
		if longKey(attr.Item(nil), item, x.sort) > maxSortKeyBytes {
			return invalid(sortKeyTooLong)
		}
	}
	return nil
}

func (x *index) typeMismatch(key expr.Key, actual attr.Kind) error {
	return badParameter("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", key.Name,
		key.Kind, actual, x.name)
}

// checkIndexWrites refuses an update if its expression alone shows that it gives a key attribute another type.
func (t *table) checkIndexWrites(writes []expr.Written) error {
	for _, x := range t.indexes {
		for key := range x.all {
			for _, w := range writes {
				if w.Name == key.Name && w.Kind != key.Kind {
					return x.typeMismatch(key, w.Kind)
				}
			}
		}
	}
	return nil
}

// longKey returns the length of all these key attributes together, 0 if none of them has changed.
func longKey(before, item packed.Attributes, keys []expr.Key) int {
	n, changed := 0, false
	for _, key := range keys {
		if v := item.Get(key.Name); v != nil {
			n += keySize(v)
			changed = changed || !unchanged(before, key, v)
		}
	}
	if !changed {
		return 0
	}
	return n
}

func unchanged(before packed.Attributes, key expr.Key, v attr.Value) bool {
	old := before.Get(key.Name)
	return old != nil && attr.Equal(old, v)
}

// checkEmptyIndexKeys refuses an item with an empty key attribute. It is a function of its own for the same reason as
// keySchema.checkEmpty.
func (t *table) checkEmptyIndexKeys(item packed.Attributes) error {
	for _, x := range t.indexes {
		for key := range x.all {
			if kind := emptyKind(item.Get(key.Name)); kind != "" {
				return invalid("One or more parameter values are not valid. A value specified for a secondary index "+
					"key is not supported. The AttributeValue for a key attribute cannot contain an empty %s value. "+
					"IndexName: %s, IndexKey: %s", kind, x.name, key.Name)
			}
		}
	}
	return nil
}

// checkUpdatedIndexKeys refuses an update that leaves key attributes invalid. Attributes that it has not changed are
// not looked at: they may be older than the index.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
// Source: https://github.com/architect/dynalite/blob/main/test/updateItem.js
func (t *table) checkUpdatedIndexKeys(before, after packed.Attributes) error {
	const attempted = "The update expression attempted to update the secondary index key "
	for _, x := range t.indexes {
		for key := range x.all {
			if v := after.Get(key.Name); v != nil && attr.KindOf(v) != key.Kind && !unchanged(before, key, v) {
				return invalid(attempted + "to unsupported type")
			}
		}
	}
	for _, x := range t.indexes {
		if longKey(before, after, x.hash) > maxHashKeyBytes || longKey(before, after, x.sort) > maxSortKeyBytes {
			return invalid(attempted + "beyond allowed size limits")
		}
	}
	for _, x := range t.indexes {
		for key := range x.all {
			v := after.Get(key.Name)
			if kind := emptyKind(v); kind != "" && !unchanged(before, key, v) {
				return &requestError{invalid("One or more parameter values are not valid. The update expression "+
					"attempted to update a secondary index key to a value that is not supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value.", kind)}
			}
		}
	}
	return nil
}

// requestError is an action's error that a transaction reports for the whole request, not among its reasons.
type requestError struct{ error }

func (e *requestError) Unwrap() error { return e.error }

// emptyKind returns "string" for an empty string, "binary" for an empty binary, and "" for any other value.
func emptyKind(v attr.Value) string {
	switch v := v.(type) {
	case attr.S:
		if v == "" {
			return "string"
		}
	case attr.B:
		if len(v) == 0 {
			return "binary"
		}
	}
	return ""
}

// keySize is the length of a value as a part of a key; a value that cannot be one has size 0.
func keySize(v attr.Value) int {
	switch v.(type) {
	case attr.S, attr.N, attr.B:
		return attr.Size(v)
	}
	return 0
}
