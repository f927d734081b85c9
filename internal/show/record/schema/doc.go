// Package schema is where docs/record.schema.json comes from: the JSON Schema of records, made from the types of package
// record and their comments. It is a package of its own, so that no module that imports package property gets the
// libraries which make and check it.
//
//	go test ./internal/show/record/schema -schema.update
package schema
