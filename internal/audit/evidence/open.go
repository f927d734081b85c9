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

// Open finds out what the files have, by their content. A path is a file, a folder (with all files below it, except
// those whose names begin with "." or "_", and checksums), or "-" for standard input. Files may be compressed by gzip.
//
// Files that only describe others, such as the manifest of an export, are not among the result.
func Open(paths []string, stdin io.Reader) ([]*File, error) {
	var files []*File
	named := map[string]*File{}
	add := func(f *File) error {
		if err := f.tell(); err != nil {
			return err
		}
		if named[f.Name] == nil {
			files, named[f.Name] = append(files, f), f
		}
		return nil
	}
	for _, path := range paths {
		if path == "-" {
			if err := add(standardInput(stdin)); err != nil {
				return nil, err
			}
			continue
		}
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			name = filepath.Clean(name)
			switch {
			case err != nil:
				return err
			case entry.IsDir(), name != filepath.Clean(path) && isBeside(entry.Name()):
				return nil
			}
			return add(onDisk(name))
		})
		if errors.Is(err, fs.ErrNotExist) {
			err = mistake.New(err, "name files, folders, or - for standard input")
		}
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, mistake.New(fmt.Errorf("found no file in %q", paths), "name files, folders with files, or - for "+
			"standard input")
	}
	for _, f := range slices.Clone(files) {
		if f.Kind == manifest {
			more, err := f.export(named)
			if err != nil {
				return nil, err
			}
			files = append(files, more...)
		}
	}
	return slices.DeleteFunc(files, func(f *File) bool { return f.Kind == manifest || f.Kind == listing }), nil
}

// isBeside tells the files in a folder that have no records.
func isBeside(name string) bool {
	ext := filepath.Ext(name)
	return name[0] == '.' || name[0] == '_' || ext == ".md5" || ext == ".checksum"
}
