//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// Lock takes no lock: abandoned drafts of killed processes stay.
func Lock(string) (*os.File, error) { return nil, errors.ErrUnsupported }
