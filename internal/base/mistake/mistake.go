// Package mistake tells the mistakes of users from other errors.
package mistake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// Error is a mistake of a user.
type Error struct {
	Err  error
	Hint string // the remedy; may be empty
}

// New is the mistake err, with its remedy.
func New(err error, hint string) error { return &Error{err, hint} }

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that was wrapped.
func (e *Error) Unwrap() error { return e.Err }

// JSON says in words of JSON what does not fit: no reader of an error knows the types of Go.
func JSON(err error) error {
	if of, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Errorf("found %s as %s", of.Value, cmp.Or(of.Field, "the whole"))
	}
	return err
}
