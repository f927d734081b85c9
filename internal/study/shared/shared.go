// Package shared keeps the files of a corpus where many machines share them: in an S3 bucket, or on a branch of a git
// repository.
//
//	m, _, err := shared.Open(ctx, "s3://bucket/nights", false)
//	os.WriteFile(filepath.Join(m.Folder, "a.yaml"), data, 0o644)
//	err = m.Push(ctx, []string{"a.yaml"}, nil)
//	err = m.Close(ctx)
//
// A file never changes: the first file of a name stays. So writers need no lock, and a killed writer leaves a whole
// file or none. A program reads and writes its own folder, the mirror, and sends the files that it wrote.
//
// # Limits
//
// A mirror shows the state at its opening and at its last Push: other writers' files come with the next Open. Open
// fetches all files.
package shared

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Place is where files are kept. Its methods may be called by many processes at once, on many machines.
type Place interface {
	// Pull brings all files into a folder. ErrMissing says that the place does not exist yet.
	Pull(ctx context.Context, folder string) error
	// Push adds files of the folder, in their order, and then removes others. A file whose name is taken is left as it
	// is. A file that is already there, or already gone, is no error.
	Push(ctx context.Context, folder string, add, remove []string) error
}

// ErrMissing says that an address is empty.
var ErrMissing = errors.New("there is nothing")

// limit is the longest time that one exchange with a place may take. A campaign waits for it.
const limit = 2 * time.Minute

// Is reports whether an address names a shared place. Anything else is a folder.
func Is(address string) bool {
	return strings.HasPrefix(address, bucketScheme) || strings.HasPrefix(address, branchScheme)
}

// placeOf reads an address: s3://BUCKET/PREFIX, or git+URL#BRANCH.
func placeOf(ctx context.Context, address string) (Place, error) {
	if strings.HasPrefix(address, bucketScheme) {
		return newBucket(ctx, address)
	}
	return newBranch(address)
}

// Mirror is a folder with the files of a place.
type Mirror struct {
	Folder string

	place       Place
	address     string
	add, remove []string // what is still to be sent
}

// Open makes a mirror in a temporary folder. If begin is true, an empty address begins a corpus, and fresh is true;
// otherwise the error is ErrMissing.
func Open(ctx context.Context, address string, begin bool) (m *Mirror, fresh bool, err error) {
	place, err := placeOf(ctx, address)
	if err != nil {
		return nil, false, err
	}
	folder, err := os.MkdirTemp("", "isr-sim-corpus-")
	if err != nil {
		return nil, false, err
	}
	m = &Mirror{Folder: folder, place: place, address: address}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := place.Pull(ctx, folder); err != nil {
		if fresh = errors.Is(err, ErrMissing); !fresh || !begin {
			return nil, false, errors.Join(fmt.Errorf("%s: %w", address, err), os.RemoveAll(folder))
		}
	}
	return m, fresh, nil
}

// Push sends files of the mirror, and removes others from the place. Unsent files are sent by the next Push or by
// Close. A nil Mirror sends nothing. Push goes on for up to two minutes after ctx is done, so that findings are kept.
func (m *Mirror) Push(ctx context.Context, add, remove []string) error {
	if m == nil {
		return nil
	}
	m.add, m.remove = append(m.add, add...), append(m.remove, remove...)
	if len(m.add)+len(m.remove) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := m.place.Push(ctx, m.Folder, m.add, m.remove); err != nil {
		return fmt.Errorf("%s: %w", m.address, err)
	}
	m.add, m.remove = nil, nil
	return nil
}

// Close sends what is left, and deletes the mirror. If that fails, the mirror stays, and the error names it.
func (m *Mirror) Close(ctx context.Context) error {
	if m == nil {
		return nil
	}
	if err := m.Push(ctx, nil, nil); err != nil {
		return fmt.Errorf("%w\nhint: %s not sent; all is still in %s", err, count(len(m.add)+len(m.remove)), m.Folder)
	}
	return os.RemoveAll(m.Folder)
}

func count(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

// isFile reports whether a name can be the name of a file of a corpus: a place may contain anything else.
func isFile(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\:`) && !strings.HasPrefix(name, ".")
}

// wait waits before the n-th repetition, from 1: longer each time, and for another time than other processes, so that
// they do not all come back at once.
func wait(ctx context.Context, n int) error {
	spread := time.Duration((os.Getpid()*7919+n*104729)%1000) * time.Millisecond / 1000
	pause, cancel := context.WithTimeout(ctx, min(time.Duration(n), 40)*(20*time.Millisecond+40*spread))
	defer cancel()
	<-pause.Done()
	return ctx.Err()
}

func files(folder string, names []string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, name := range slices.Compact(slices.Clone(names)) {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		all[name] = data
	}
	return all, nil
}
