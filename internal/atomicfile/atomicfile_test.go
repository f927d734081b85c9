package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
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
	if err := atomicfile.Write(name, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	want("written,", "one")
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v (%v), want 0640", info.Mode(), err)
	}

	draft, err := atomicfile.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := draft.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	draft.Discard()
	draft.Discard()
	want("after a draft that was discarded,", "one")

	if draft, err = atomicfile.Create(name); err != nil {
		t.Fatal(err)
	}
	if _, err := draft.WriteString("two"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "one" {
		t.Errorf("before the commit it holds %q (%v), want %q", got, err, "one")
	}
	if err := draft.Commit(0o644); err != nil {
		t.Fatal(err)
	}
	draft.Discard()
	want("after the commit,", "two")
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(name, "not empty"), 0o700); err != nil {
		t.Fatal(err)
	}
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
