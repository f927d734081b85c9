//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// lock takes no lock: what a killed process has left stays.
func lock(string) (*os.File, error) { return nil, errors.ErrUnsupported }
