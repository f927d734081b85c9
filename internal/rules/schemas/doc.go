// Package schemas checks files against the schemas that docs publishes, with a validator of another project. It is a
// separate package, so that a module that imports package scenario or property does not get the libraries that make and
// check schemas.
//
//	go test ./internal/rules/schemas -schemas.update
package schemas
