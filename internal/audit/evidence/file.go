package evidence

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

// File is a file of evidence.
type File struct {
	Name string
	Kind Kind
	Once bool // it can be read only once
	// KeyNames are the attributes of the key. A full export does not tell them: Open takes them from another file of
	// the table. If there is none, they can be set before the file is read; without them the records have no Key.
	KeyNames []string

	table string                        // of its first record; "" if it is not known
	open  func() (io.ReadCloser, error) // nil if there is nothing to read
	part  *part                         // what the manifest of an export says about the file
	gaps  []Gap                         // that were found before the file was read
}

// part is a data file of an export, as the export's manifest tells.
type part struct {
	table, region, view string
	time                time.Time // of a full export
	from, to            time.Time // of an incremental export
	items               int
	md5                 string // in base64; "" if it is not known
}

// errStop stops the reading of a file when its caller wants no more.
var errStop = errors.New("enough")

// Entries reads the file's records and gaps, in the order of the file. A file of CloudTrail has no records, and a gap
// if Writes has found that it was cut. Several files may be read at the same time.
func (f *File) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, gap := range f.gaps {
			if !yield(Entry{Gap: &gap}, nil) {
				return
			}
		}
		if f.open == nil || f.Kind == CloudTrail {
			return
		}
		last := &Record{Place: Place{f.Name, 1}}
		gap := func(format string, a ...any) error {
			g := Gap{Why: fmt.Sprintf(format, a...), Place: last.Place}
			switch {
			case f.part != nil: // exports are not in the order of time
				g.Table, g.From, g.To = f.part.table, f.part.from, f.part.end()
			case !last.Net:
				g.From = last.Time
			}
			if !yield(Entry{Gap: &g}, nil) {
				return errStop
			}
			return nil
		}
		n, err := f.messages(func(m *message, place Place) error {
			var e Entry
			switch {
			case m.shardEnd:
				return nil
			case m.gap != nil:
				var err error
				if m.gap.Table, _, err = tableOf(m.arn); err != nil {
					return err
				}
				m.gap.Place, e.Gap = place, m.gap
			default:
				r, err := f.record(m)
				if err != nil {
					return err
				}
				r.Place, last, e.Record = place, &r, &r
			}
			if !yield(e, nil) {
				return errStop
			}
			return nil
		})
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = gap(cut)
		case err == nil && f.part != nil && n != f.part.items:
			err = gap("the file has %d items, and the manifest of the export says %d", n, f.part.items)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Entry{}, err)
		}
	}
}

// Writes reads the writes that a file of CloudTrail tells of. Other files have none.
func (f *File) Writes() iter.Seq2[Write, error] {
	return func(yield func(Write, error) bool) {
		if f.Kind != CloudTrail {
			return
		}
		gap := Gap{Why: cut}
		_, err := f.messages(func(m *message, place Place) error {
			gap.Place = place
			return m.writes(func(w Write) error {
				gap.From, w.Place = w.Time, place
				if !yield(w, nil) {
					return errStop
				}
				return nil
			})
		})
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			f.gaps = []Gap{gap}
		case err != nil && !errors.Is(err, errStop):
			yield(Write{}, err)
		}
	}
}

const cut = "the file ends within a record"

// messages visits the messages of the file, and returns how many there were. If the file was cut, the error is
// io.ErrUnexpectedEOF.
func (f *File) messages(visit func(*message, Place) error) (n int, err error) {
	file, err := f.open()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	sum := md5.New()
	source := io.Reader(file)
	if f.part != nil && f.part.md5 != "" {
		source = io.TeeReader(source, sum)
	}
	text, err := unzipped(source)
	d := newDecoder(text, map[string]string{})
	at := 1 // the number of the message that is read or visited
	for err == nil {
		err = d.messages(func(m *message) error {
			n = at
			err := m.of(f.Kind)
			if err == nil {
				err = visit(m, Place{f.Name, at})
			}
			if err == nil {
				at++
			}
			return err
		})
	}
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errStop):
		return n, err
	default:
		return n, f.mistake(err, at, d.UnreadBuffer())
	}
	if f.part != nil && f.part.md5 != "" {
		if _, err := io.Copy(io.Discard, source); err != nil {
			return n, err
		}
		if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != f.part.md5 {
			return n, mistake.New(fmt.Errorf("%s: found the MD5 %s, and the manifest of the export says %s", f.Name,
				got, f.part.md5), "copy the file from its bucket again")
		}
	}
	return n, nil
}

// unzipped returns the text of a file that may be compressed.
func unzipped(file io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(file, 64<<10)
	if head, _ := buffered.Peek(1); string(head) == "\x1f" { // of the two magic bytes: the file may be cut
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}

// foreign are the beginnings of files in other formats, and what to do about them.
var foreign = []struct{ begins, format, hint string }{
	{"$ion_1_0", "an export in Amazon Ion", ionHint},
	{"\xe0\x01\x00\xea", "an export in Amazon Ion", ionHint},
	{"\xff\xfe", "text in UTF-16", utf8Hint},
	{"\xfe\xff", "text in UTF-16", utf8Hint},
	{"\xef\xbb\xbf", "a byte order mark", utf8Hint},
	{"PK\x03\x04", "a ZIP archive", "unpack it"},
	{"PAR1", "a file of Parquet", "deliver records as JSON"},
}

const (
	ionHint  = "export the table again, with --export-format DYNAMODB_JSON"
	utf8Hint = "write the file as UTF-8 without a byte order mark"
	hint     = "records of DynamoDB Streams, Lambda, Kinesis and Firehose, exports in DYNAMODB_JSON and files of " +
		"CloudTrail can be read"
)

// mistake says what is wrong with the file, and at which message. The parameter ahead is the text that comes next.
func (f *File) mistake(err error, at int, ahead []byte) error {
	if at == 1 {
		for _, format := range foreign {
			if bytes.HasPrefix(ahead, []byte(format.begins)) {
				return mistake.New(fmt.Errorf("%s: found %s", f.Name, format.format), format.hint)
			}
		}
	}
	if syntax, is := errors.AsType[*jsontext.SyntacticError](err); is {
		err = fmt.Errorf("found %s, expected JSON", strings.TrimPrefix(syntax.Err.Error(), "jsontext: "))
	} else if inner := errors.Unwrap(err); inner != nil {
		err = inner // the reason why the file cannot be read or unpacked
	}
	return mistake.New(fmt.Errorf("%v: %w", Place{f.Name, at}, err), hint)
}

// tell finds out of which kind the file is, by its first record.
func (f *File) tell() error {
	f.Kind = Empty
	_, err := f.messages(func(m *message, _ Place) error {
		f.Kind, f.KeyNames = m.kind, slices.Sorted(maps.Keys(m.change.keys))
		r, _ := m.record() // an error comes again when the file is read
		f.table = r.Table
		return errStop
	})
	if errors.Is(err, errStop) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// named returns the file with the given name, which may also be a pipe.
func named(name string) (*File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		pipe, err := os.Open(name)
		return piped(name, pipe), err
	}
	return &File{Name: name, open: func() (io.ReadCloser, error) { return os.Open(name) }}, nil
}

// piped is what a pipe brings. It can be read once, after tell has read its beginning.
func piped(name string, pipe io.Reader) *File {
	var head bytes.Buffer
	f := &File{Name: name, Once: true}
	f.open = func() (io.ReadCloser, error) {
		f.open = func() (io.ReadCloser, error) { return io.NopCloser(io.MultiReader(&head, pipe)), nil }
		return io.NopCloser(io.TeeReader(pipe, &head)), nil
	}
	return f
}
