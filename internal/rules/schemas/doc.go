// Package schemas holds files against the schemas that docs publishes, with a validator that is not ours. It is a package
// of its own, so that no module that imports package scenario gets this validator.
package schemas
