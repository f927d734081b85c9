package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

// summary is manifest-summary.json.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
type summary struct {
	Table  string    `json:"tableArn"`
	Time   time.Time `json:"exportTime"`     // of a full export
	From   time.Time `json:"exportFromTime"` // of an incremental export
	To     time.Time `json:"exportToTime"`
	Format string    `json:"outputFormat"`
	View   string    `json:"outputView"`
	Items  int       `json:"itemCount"`
}

// listed is a line of manifest-files.json.
type listed struct {
	Items int    `json:"itemCount"`
	MD5   string `json:"md5Checksum"`
	Key   string `json:"dataFileS3Key"`
}

// export reads the manifest of an export. It opens each data file with add, and notes in it what the manifest says of
// it. It returns a file without records, whose gaps are the data that is missing.
func (f *File) export(add func(name string) (*File, error)) (*File, error) {
	text, err := os.ReadFile(f.Name)
	if err != nil {
		return nil, err
	}
	var s summary
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, mistake.New(fmt.Errorf("%s: %w", f.Name, err), "")
	}
	if s.Format != "DYNAMODB_JSON" {
		return nil, mistake.New(fmt.Errorf("%s: found an export in the format %s, expected DYNAMODB_JSON", f.Name,
			s.Format), ionHint)
	}
	p := part{view: s.View, time: s.Time, from: s.From, to: s.To}
	if p.table, p.region, err = tableOf(s.Table); err != nil {
		return nil, mistake.New(fmt.Errorf("%s: %w", f.Name, err), "")
	}
	own := filepath.Dir(f.Name)
	gaps := &File{Name: filepath.Join(own, "manifest-files.json"), Kind: Full}
	if !s.To.IsZero() {
		gaps.Kind = Incremental
	}
	list, err := os.Open(gaps.Name)
	if err != nil {
		return nil, mistake.New(err, "copy the whole folder of the export from its bucket")
	}
	defer list.Close() //nolint:errcheck // it was only read
	missing := func(line int, format string, a ...any) {
		gaps.gaps = append(gaps.gaps, Gap{Table: p.table, From: p.from, To: p.end(), Why: fmt.Sprintf(format, a...),
			Place: Place{gaps.Name, line}})
	}
	items, line := 0, 1
	for d := jsontext.NewDecoder(list); ; line++ {
		var l listed
		if err := json.UnmarshalDecode(d, &l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, mistake.New(fmt.Errorf("%v: %w", Place{gaps.Name, line}, err), "")
		}
		items += l.Items
		// A full export has a folder "data" of its own, and incremental exports share one.
		name := filepath.Join(own, "data", path.Base(l.Key))
		if _, err := os.Stat(name); err != nil {
			name = filepath.Join(filepath.Dir(own), "data", path.Base(l.Key))
		}
		data, err := add(name)
		if errors.Is(err, fs.ErrNotExist) {
			missing(line, "the data file %s is not there", l.Key)
			continue
		}
		if err != nil {
			return nil, err
		}
		of := p
		of.items, of.md5 = l.Items, l.MD5
		data.part, data.table = &of, of.table
	}
	if items != s.Items {
		missing(line, "the data files have %d items, and the summary of the export says %d", items, s.Items)
	}
	return gaps, nil
}

// end is the time after which the export says nothing.
func (p *part) end() time.Time {
	if p.to.IsZero() {
		return p.time
	}
	return p.to
}
