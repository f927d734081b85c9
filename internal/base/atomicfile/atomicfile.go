// Package atomicfile writes files that appear completely or not at all. A reader never sees half a file, and the old
// file stays until the new one is complete.
//
//	err := atomicfile.Write("found.yaml", text, 0o644)
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file.
func Write(name string, data []byte, mode fs.FileMode) error {
	draft, err := Create(name)
	if err != nil {
		return err
	}
	defer draft.Discard()
	if _, err := draft.Write(data); err != nil {
		return err
	}
	return draft.Commit(mode)
}

// Draft is a file that is being written, in the folder of its final name.
type Draft struct {
	*os.File
	name   string // its final name
	over   bool
	direct bool // the draft is the final file itself: a terminal, a pipe or a device, which no file replaces
	// lock is held while the draft is written: a draft whose lock is free was left behind by a killed process. It is
	// nil if the system or the folder has no locks.
	lock *os.File
}

// Check returns why a file cannot be written, before the work for its content is done.
func Check(name string) error {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return nil // a pipe is opened once
	}
	draft, err := Create(name)
	draft.Discard()
	return err
}

// Create begins a file. The file's folder must exist. Finally the caller calls Commit or Discard.
func Create(name string) (*Draft, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("found the directory %s, expected a file", name)
	}
	if err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &Draft{File: file, name: name, direct: true}, nil
	}
	return create(name)
}

// mostDrafts bounds the number of processes that write a file at the same time.
const mostDrafts = 1000

// create makes the file of a draft: .NAME.1.tmp, or the first number whose draft no other process is writing. It
// removes a draft that a killed process has left there.
func create(name string) (*Draft, error) {
	folder, base := filepath.Split(name)
	for n := 1; ; n++ {
		draft := fmt.Sprintf("%s.%s.%d.tmp", folder, base, n)
		file, err := os.OpenFile(draft, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			held, err := Lock(draft)
			if !errors.Is(err, ErrHeld) && !errors.Is(err, fs.ErrNotExist) {
				return &Draft{File: file, name: name, lock: held}, nil
			}
			_ = file.Close() // another process took it for an abandoned one
			continue
		}
		if !errors.Is(err, fs.ErrExist) || n == mostDrafts {
			return nil, err
		}
		if left, err := Lock(draft); err == nil {
			if os.Remove(draft) == nil {
				n--
			}
			_ = left.Close()
		}
	}
}

// Place returns the name that the file will have.
func (d *Draft) Place() string { return d.name }

// Commit renames the file to its final name, replacing an older one. If that fails, nothing has changed.
func (d *Draft) Commit(mode fs.FileMode) error {
	d.over = true
	if d.direct {
		return d.Close()
	}
	defer d.unlock()
	err := errors.Join(d.Chmod(mode), d.Close())
	if err == nil {
		err = os.Rename(d.Name(), d.name)
	}
	if err != nil {
		_ = os.Remove(d.Name()) // the first error matters: the file could not be written
	}
	return err
}

// Discard removes the draft. After Commit, or for a nil Draft, it does nothing.
func (d *Draft) Discard() {
	if d == nil || d.over {
		return
	}
	d.over = true
	_ = d.Close()
	if !d.direct {
		_ = os.Remove(d.Name())
	}
	d.unlock()
}

func (d *Draft) unlock() {
	if d.lock != nil {
		_ = d.lock.Close()
	}
}

// ErrHeld means that another process has the lock of a file.
var ErrHeld = errors.New("another process writes this file")
