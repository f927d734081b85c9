package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

// Open opens files, and finds the kind of each by its content. A path is a file, a folder (with all files below it,
// except those whose names begin with "." or "_", and checksums), or "-" for standard input. Files may be compressed by
// gzip.
//
// Files that only describe others, such as the manifest of an export, are not among the result.
func Open(paths []string, stdin io.Reader) ([]*File, error) {
	var files []*File
	known := map[string]*File{} // by name
	add := func(name string) (f *File, err error) {
		if f := known[name]; f != nil {
			return f, nil
		}
		if name == "-" {
			f = piped("standard input", stdin)
		} else if f, err = named(name); err != nil {
			return nil, err
		}
		if err = f.tell(); err == nil {
			files, known[name] = append(files, f), f
		}
		return f, err
	}
	for _, path := range paths {
		if path == "-" {
			if _, err := add(path); err != nil {
				return nil, err
			}
			continue
		}
		path = filepath.Clean(path)
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (name == path || !isBeside(entry.Name())) {
				_, err = add(name)
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			err = mistake.New(err, "name files, folders, or - for standard input")
		}
		if err != nil {
			return nil, err
		}
	}
	for _, f := range slices.Clone(files) {
		if f.Kind == manifest {
			gaps, err := f.export(add)
			if err != nil {
				return nil, err
			}
			files = append(files, gaps)
		}
	}
	for _, f := range files {
		if i := slices.IndexFunc(files, f.sharesKey); f.Kind == Full && i >= 0 {
			f.KeyNames = files[i].KeyNames
		}
	}
	files = slices.DeleteFunc(files, func(f *File) bool {
		return f.Kind == manifest || f.Kind == listing || f.open == nil && f.gaps == nil
	})
	if len(files) == 0 {
		return nil, mistake.New(fmt.Errorf("found no file of records in %q", paths), hint)
	}
	return files, nil
}

// sharesKey reports whether another file tells the key of the rows of f, as far as the tables are known.
func (f *File) sharesKey(other *File) bool {
	return len(other.KeyNames) > 0 && (f.table == other.table || f.table == "" || other.table == "")
}

// isBeside tells the files in a folder that have no records.
func isBeside(name string) bool {
	ext := filepath.Ext(name)
	return name[0] == '.' || name[0] == '_' || ext == ".md5" || ext == ".checksum"
}
