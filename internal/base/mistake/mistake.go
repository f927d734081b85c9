// Package mistake distinguishes users' mistakes from other errors.
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

// New returns the mistake err, with its remedy.
func New(err error, hint string) error { return &Error{err, hint} }

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that was wrapped.
func (e *Error) Unwrap() error { return e.Err }

// JSON describes an error of decoding in terms of JSON: readers of an error do not know Go's types.
func JSON(err error) error {
	if of, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Errorf("found %s as %s", of.Value, cmp.Or(of.Field, "the whole"))
	}
	return err
}
