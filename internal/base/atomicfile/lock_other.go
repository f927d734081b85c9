//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// lock takes no lock: abandoned drafts of killed processes stay.
func lock(string) (*os.File, error) { return nil, errors.ErrUnsupported }
