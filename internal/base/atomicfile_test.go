package base_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestAFileIsThereWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	want := func(when, text string) {
		t.Helper()
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%s the file holds %q (%v), want %q", when, got, err, text)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s the folder holds %v (%v), want the file alone", when, entries, err)
		}
	}
	must.OK(t, atomicfile.Write(name, []byte("one"), 0o640))
	want("written,", "one")
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v (%v), want 0640", info.Mode(), err)
	}

	draft, err := atomicfile.Create(name)
	must.OK(t, err)
	must.Done(t)(draft.WriteString("half"))
	draft.Discard()
	draft.Discard()
	want("after a draft that was discarded,", "one")

	if draft, err = atomicfile.Create(name); err != nil {
		t.Fatal(err)
	}
	must.Done(t)(draft.WriteString("two"))
	if got, err := os.ReadFile(name); err != nil || string(got) != "one" {
		t.Errorf("before the commit it holds %q (%v), want %q", got, err, "one")
	}
	must.OK(t, draft.Commit(0o644))
	draft.Discard()
	want("after the commit,", "two")
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "folder")
	must.OK(t, os.MkdirAll(filepath.Join(name, "not empty"), 0o700))
	if err := atomicfile.Write(name, []byte("text"), 0o644); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v (%v), want what was there", entries, err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "none", "file"), nil, 0o644); err == nil {
		t.Error("a file was written where there is no folder")
	}
}

// A kill in the middle of a write leaves a draft. The next write of the file removes it, but no other file's draft.
func TestADraftThatWasLeft(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	names := func() (all []string) {
		for _, e := range must.Of(os.ReadDir(dir))(t) {
			all = append(all, e.Name())
		}
		return all
	}
	under := must.Of(atomicfile.Create(name))(t)
	must.Done(t)(under.WriteString("under way"))
	for _, left := range []string{".file.2.tmp", ".file.3.tmp", ".file2.1.tmp"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, left), []byte("half"), 0o600))
	}
	must.OK(t, atomicfile.Write(name, []byte("one"), 0o644))
	want := []string{".file.1.tmp", ".file.3.tmp", ".file2.1.tmp", "file"}
	if runtime.GOOS == "windows" {
		want = slices.Insert(want, 1, ".file.2.tmp")
	}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("beside a draft that is being written and others that were left: %q, want %q", got, want)
	}
	must.OK(t, under.Commit(0o644))
	if got := string(must.Of(os.ReadFile(name))(t)); got != "under way" {
		t.Errorf("the file holds %q, want what was written last", got)
	}
	var many sync.WaitGroup
	for i := range 20 {
		many.Go(func() {
			if err := atomicfile.Write(name, []byte{byte(i)}, 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()
	if got := names(); slices.Contains(got, ".file.1.tmp") || len(got) > 3 {
		t.Errorf("after twenty writers at once: %q", got)
	}
}

// A write to a device does not replace it by a file, and fails if the device is full.
func TestADeviceIsWrittenAndNotReplaced(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no such device here:", err)
	}
	if err := atomicfile.Write(full, []byte("text"), 0o644); err == nil ||
		!strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v, want no space", err)
	}
	if info, err := os.Stat(full); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is now %v (%v)", info.Mode(), err)
	}
	// A pipe, under the name that a shell gives it.
	read, pipe, err := os.Pipe()
	must.OK(t, err)
	must.OK(t, atomicfile.Write(fmt.Sprintf("/dev/fd/%d", pipe.Fd()), []byte("text"), 0o644))
	_ = pipe.Close()
	if got, err := io.ReadAll(read); err != nil || string(got) != "text" {
		t.Errorf("the pipe has %q (%v)", got, err)
	}
}
