// Package schemas checks files against the schemas that docs publishes, with a validator of another project. It is a
// package of its own, so that no module that imports package scenario or property gets the libraries that make and
// check schemas.
//
//	go test ./internal/rules/schemas -schemas.update
package schemas
