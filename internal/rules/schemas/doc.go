// Package schemas checks files against the schemas that docs publishes, with a validator of another project. It is a
// package of its own, so that no module that imports package scenario gets this validator.
package schemas
