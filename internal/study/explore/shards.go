package explore

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ShardFile is a file of explorations.
type ShardFile struct {
	Name         string
	Explorations []*Exploration
}

// Shards are files of campaigns to merge. The zero Shards is empty.
type Shards struct {
	Files []ShardFile
	// Out is a file to leave out of folders: the result of an earlier merge.
	Out string

	wrong []string // what is wrong with files that are not among Files
}

// Read takes a file, a tarball of files (.tar, .tar.gz, .tgz), or all files and tarballs of a folder. In folders and
// tarballs only files named .json count, and complete JSON of another kind is left out. Merge names the damaged files.
// The parameter called is the user's name for the place.
func (s *Shards) Read(place, called string) {
	info, err := os.Stat(place)
	if err != nil {
		s.wrong = append(s.wrong, err.Error())
		return
	}
	before := len(s.Files) + len(s.wrong)
	if !info.IsDir() {
		err = s.file(place, called, true)
	} else {
		once := map[string]bool{} // a file and the links to it count once
		err = filepath.WalkDir(place+"/", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path == filepath.Clean(s.Out) || !isShard(path) && !isTarball(path) {
				return err
			}
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				return err
			}
			if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() || once[real] {
				return err
			}
			once[real] = true
			inside, err := filepath.Rel(place, path)
			if err != nil {
				return err
			}
			return s.file(path, strings.TrimSuffix(called, "/")+"/"+filepath.ToSlash(inside), false)
		})
	}
	if err != nil {
		s.wrong = append(s.wrong, err.Error())
	}
	if len(s.Files)+len(s.wrong) == before {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: %v", called, errOther))
	}
}

// add leaves out a file of another kind, unless the user named it.
func (s *Shards) add(name string, text []byte, named bool) {
	switch xs, err := ReadExplorations(name, text); {
	case err == nil:
		s.Files = append(s.Files, ShardFile{name, xs})
	case named || !errors.Is(err, errOther):
		s.wrong = append(s.wrong, err.Error())
	}
}

func (s *Shards) file(path, called string, named bool) error {
	switch {
	case isTarball(path):
		if err := s.tarball(path, called, !strings.HasSuffix(path, ".tar")); err != nil {
			s.wrong = append(s.wrong,
				fmt.Sprintf("%s: found a tarball that is damaged (%v), expected a whole one", called, err))
		}
	default:
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.add(called, text, named)
	}
	return nil
}

func isShard(name string) bool { return strings.HasSuffix(name, ".json") }

func isTarball(name string) bool {
	return strings.HasSuffix(name, ".tar") || strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// mostBytes bounds a file in a tarball, because a few packed bytes may stand for any number. A shard is far smaller.
const mostBytes = 64 << 20

// tarball reads the files up to the first error.
func (s *Shards) tarball(path, called string, packed bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	var from io.Reader = file
	if packed {
		if from, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	for files := tar.NewReader(from); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || !isShard(header.Name) {
			continue
		}
		if header.Size > mostBytes {
			s.wrong = append(s.wrong, fmt.Sprintf("%s:%s: found %d bytes, expected %d at most", called, header.Name,
				header.Size, mostBytes))
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		s.add(called+":"+header.Name, text, false)
	}
}

// Shard is a part of a campaign: the i-th of n shards runs every n-th schedule, beginning with the i-th. Together the
// shards run exactly the schedules of the campaign. The zero Shard is the whole campaign.
type Shard struct {
	Index int `json:"index"` // from 1
	Count int `json:"count"`
}

// ParseShard reads what String prints: 2/4 is the second of four.
func ParseShard(text string) (Shard, error) {
	index, count, _ := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errCount := strconv.Atoi(count)
	if errIndex != nil || errCount != nil || n < 1 || i < 1 || i > n {
		return Shard{}, fmt.Errorf("shard: found %q, expected i/n with i from 1 to n, such as 2/4", text)
	}
	return Shard{i, n}, nil
}

// String returns the shard as flags write it: 2/4.
func (s Shard) String() string {
	s = s.whole()
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// whole returns the shard 1/1 for the zero Shard, and any other shard as it is.
func (s Shard) whole() Shard {
	if s.Count < 1 {
		return Shard{1, 1}
	}
	return s
}

func (s Shard) partial() bool { return s.Count > 1 }

// size is the number of schedules in the shard, out of n.
func (s Shard) size(n int) int {
	s = s.whole()
	return (n - s.Index + s.Count) / s.Count
}

// schedule is the index of the shard's k-th schedule, both from 0.
func (s Shard) schedule(k int) int {
	s = s.whole()
	return s.Index - 1 + k*s.Count
}
