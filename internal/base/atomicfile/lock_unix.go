//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock takes the lock of a draft, which ends when the returned file is closed, or the process dies. It uses a second
// descriptor, so that the draft can be closed first. The error is ErrHeld if another process has the lock.
func Lock(draft string) (*os.File, error) {
	file, err := os.OpenFile(draft, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrHeld
	}
	if err == nil { // since it was opened, it may have been renamed or removed
		was, errWas := file.Stat()
		is, errIs := os.Lstat(draft)
		if errWas != nil || errIs != nil || !os.SameFile(was, is) {
			err = ErrHeld
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", draft, err)
	}
	return file, nil
}
