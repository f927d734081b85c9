package cli

import "io"

// Output is the writer of a command. It keeps the first error, such as a full disk or a closed pipe, so that a partial
// output is not mistaken for a whole one.
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
