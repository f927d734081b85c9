package cli

import "io"

// Output is where a command prints. It keeps the first error, such as that of a full disk or a closed pipe, so that
// half of an output is not taken for all of it.
type Output struct {
	To  io.Writer
	Err error
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}
