// Package schema makes docs/record.schema.json: the JSON Schema of records, from the types of package record and their
// comments. It is a package of its own, so that no module that imports package property gets the libraries that make
// and check the schema.
//
//	go test ./internal/show/record/schema -schema.update
package schema
