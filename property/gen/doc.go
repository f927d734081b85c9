/*
Package gen has generators of rapid for properties of code that keeps rows in DynamoDB: keys, tenants, rows, attribute
values, clocks, TTL lags and faults. A Model is a table so simple that one can
see that it is right, to compare with.

# Example

A property of a repository: it holds the same as a map, whatever is saved and removed.

	rapid.Check(t, func(t *rapid.T) {
		table := gen.Table{Name: "pages", Partition: "pk"}
		db := ddbfake.New(ddbfake.Options{Lag: gen.Lags().Draw(t, "lag")})
		model := gen.NewModel(table)
		for range 20 {
			row := table.Rows().Draw(t, "row")
			save(db.Client(), row) // the code under test
			model.Put(row)
		}
		if diff := model.Diff(db); diff != "" {
			t.Fatal(diff)
		}
	})

Whole scenarios, as property.CheckStore draws them, come from property.Check.Scenarios.

The package's tests have a complete example, in example_repository_test.go.

# Determinism

A value depends on rapid's draws alone. Everything shrinks towards the plain case: a short text, no fault, a clock that
is right.

# Limits

Keys are strings. Values are those by which ddbfake is compared with DynamoDB Local; strings in sets are
ASCII. A Model has no TTL: compare before rows expire, or delete expired ones from it too.

An import of this package brings package rapid, with its flags: import it from tests only.
*/
package gen
