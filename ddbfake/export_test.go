package ddbfake

// NotAFaultError is the error that tests from outside tell from others.
type NotAFaultError = notAFaultError
