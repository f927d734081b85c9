package audit_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/evidence/evidencetest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// readLines opens one file from memory and returns what it says.
func readLines(t testing.TB, text []byte) (lines []string) {
	t.Helper()
	for _, f := range must.Of(evidence.Open([]string{"-"}, bytes.NewReader(text)))(t) {
		lines = append(lines, linesOf(t, f)...)
	}
	return lines
}

// A file that was cut, at whichever byte, says the same as the whole, up to a gap: never anything else, and never less
// without a gap.
func TestCuts(t *testing.T) {
	var lines []byte
	for i := range int64(3) {
		lines = evidencetest.AppendJSON(lines, record(i))
	}
	answer := slices.Concat([]byte(`{"Records":[`), bytes.Join(bytes.Fields(lines), []byte(",")), []byte(`]}`))
	trail := []byte(`{"Records":[` + event + "," + event + "," + event + `]}`)
	for _, tc := range []struct {
		name      string
		text      []byte
		separable bool // a cut between two records cannot be told
	}{
		{"lines", lines, true},
		{"lines compressed", zipped(lines), false},
		{"an answer", answer, false},
		{"an answer compressed", zipped(answer), false},
		{"events of CloudTrail", trail, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			whole := readLines(t, tc.text)
			if len(whole) != 3 {
				t.Fatalf("the whole says %q", whole)
			}
			most := 0
			for end := 1; end < len(tc.text); end++ {
				got := readLines(t, tc.text[:end])
				records := got
				if len(got) > 0 && strings.Contains(got[len(got)-1], " gap in ") {
					records = got[:len(got)-1]
				} else if !tc.separable || tc.text[end-1] != '\n' && tc.text[end-1] != '}' {
					t.Fatalf("cut after %d bytes: got %q, want a gap at the end", end, got)
				}
				if !slices.Equal(records, whole[:len(records)]) {
					t.Fatalf("cut after %d bytes: got %q, want the beginning of %q", end, got, whole)
				}
				most = max(most, len(records))
			}
			if most < 2 {
				t.Errorf("a cut file said at most %d records", most)
			}
		})
	}
	change := `{"Metadata":{"WriteTimestampMicros":{"N":"1693681200000001"}},"Keys":{"id":{"S":"a"}}}`
	for want, text := range map[string]string{
		"2 gap in  from 2027-01-15T08:00:01Z to then: the file ends within a record": string(lines[:len(lines)-9]),
		"1 gap in  from then to then: the file ends within a record":                 change + change[:20],
	} {
		if got := readLines(t, []byte(text)); got[len(got)-1] != want {
			t.Errorf("got %q, want it to end with %s", got, want)
		}
	}
}

const event = `{"eventTime":"2026-01-31T12:00:00Z","eventSource":"dynamodb.amazonaws.com","eventName":"PutItem",` +
	`"requestParameters":{"tableName":"orders","key":{"id":"a"}}}`

func record(i int64) evidence.Record {
	key := attr.Item{"id": attr.S("session-1")}
	row := func(n int64) attr.Item { return attr.Item{"id": key["id"], "n": attr.Int(n)} }
	return evidence.Record{
		Table: "sessions", Region: "eu-west-1", Key: key, Before: row(i), After: row(i + 1), Images: true,
		Time: time.Unix(1800000000+i, 0), ID: fmt.Sprintf("id%d", i), Sequence: evidence.Sequence(fmt.Sprint(i + 1)),
	}
}

// A data file whose MD5 is not that of the manifest was not copied as it was.
func TestChecksum(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.Mkdir("data", 0o755))
	data := zipped([]byte(`{"Item":{"id":{"S":"a"}}}` + "\n"))
	must.OK(t, os.WriteFile("data/a.json.gz", data, 0o644))
	must.OK(t, os.WriteFile("manifest-summary.json", []byte(`{"tableArn":"arn:aws:dynamodb:us-east-1:1:table/orders",`+
		`"manifestFilesS3Key":"x","itemCount":1,"outputFormat":"DYNAMODB_JSON"}`), 0o644))
	sum := md5.Sum(data)
	for of, want := range map[string]string{
		base64.StdEncoding.EncodeToString(sum[:]): "",
		"ccc3dIp/7887Xhl7+DaEBQ==": "data/a.json.gz: found the MD5 " + base64.StdEncoding.EncodeToString(sum[:]) +
			", and the manifest of the export says ccc3dIp/7887Xhl7+DaEBQ==",
	} {
		must.OK(t, os.WriteFile("manifest-files.json", []byte(fmt.Sprintf(
			`{"itemCount":1,"md5Checksum":%q,"dataFileS3Key":"data/a.json.gz"}`, of)), 0o644))
		got := ""
		if err := firstError("manifest-summary.json"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, tc := range []struct{ name, text, want string }{
		{"manifest-files.json", "{", "manifest-files.json:1: "},
		{"manifest-summary.json", `{"manifestFilesS3Key":"x","outputFormat":"ION"}`,
			"manifest-summary.json: found an export in the format ION, expected DYNAMODB_JSON"},
		{"manifest-summary.json", `{"manifestFilesS3Key":"x","outputFormat":"DYNAMODB_JSON"}`,
			`manifest-summary.json: found the ARN "", expected one of a table of DynamoDB`},
	} {
		must.OK(t, os.WriteFile(tc.name, []byte(tc.text), 0o644))
		if err := firstError("manifest-summary.json"); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.text, err, tc.want)
		}
	}
}

// A reader that has enough ends at once, at whichever entry.
func TestEnough(t *testing.T) {
	archive := must.Of(txtar.ParseFile("evidence/testdata/full-export.txtar"))(t)
	t.Chdir(t.TempDir())
	for _, file := range archive.Files {
		must.OK(t, os.MkdirAll(filepath.Dir(file.Name), 0o755))
		must.OK(t, os.WriteFile(file.Name, file.Data, 0o644))
	}
	must.OK(t, os.Remove("want"))
	lines := evidencetest.AppendJSON(evidencetest.AppendJSON(nil, record(1)), record(2))
	must.OK(t, os.WriteFile("lines.json", lines, 0o644))
	must.OK(t, os.WriteFile("trail.json", []byte(strings.Repeat(event, 3)), 0o644))
	most := map[evidence.Kind]int{}
	for _, f := range must.Of(evidence.Open([]string{"."}, nil))(t) {
		all := len(linesOf(t, f))
		for enough := range all {
			got := 0
			for range f.Entries() {
				if got++; got > enough {
					break
				}
			}
			for range f.Writes() {
				if got++; got > enough {
					break
				}
			}
			if got != enough+1 {
				t.Errorf("%s: got %d of %d, want %d", f.Name, got, all, enough+1)
			}
		}
		most[f.Kind] = max(most[f.Kind], all)
	}
	if most[evidence.Full] < 2 || most[evidence.Stream] < 2 || most[evidence.CloudTrail] < 2 {
		t.Errorf("the files have at most %v", most)
	}
}

// A pipe with a name is read once, like standard input.
func TestPipe(t *testing.T) {
	out, in, err := os.Pipe()
	must.OK(t, err)
	defer out.Close()
	name := fmt.Sprintf("/dev/fd/%d", out.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	must.Of(in.Write(evidencetest.AppendJSON(evidencetest.AppendJSON(nil, record(1)), record(2))))(t)
	must.OK(t, in.Close())
	for _, f := range must.Of(evidence.Open([]string{name}, nil))(t) {
		if got := linesOf(t, f); len(got) != 2 || !strings.HasPrefix(got[0], "1 sessions@") {
			t.Errorf("got %q, want two records", got)
		}
	}
}

// endless is a file without end, which counts what was read of it.
type endless struct {
	text  []byte
	bytes int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.bytes%len(e.text):])
	e.bytes += n
	return n, nil
}

// The reader holds a bounded part of a file: it takes no more of it than its buffer ahead of the record that it tells.
func TestReadsAsItGoes(t *testing.T) {
	line := evidencetest.AppendJSON(nil, record(1))
	in := &endless{text: slices.Concat(bytes.TrimSpace(line), []byte(","))}
	source := io.MultiReader(strings.NewReader(`{"NextShardIterator":"x","Records":[`), in)
	read := 0
	for _, f := range must.Of(evidence.Open([]string{"-"}, source))(t) {
		for _, err := range f.Entries() {
			must.OK(t, err)
			read += len(line)
			if ahead := in.bytes - read; ahead > 256<<10 {
				t.Fatalf("it has read %d bytes ahead", ahead)
			}
			if read > 8<<20 {
				break
			}
		}
	}
	if read == 0 {
		t.Error("it has read nothing")
	}
}

// Whatever a file has, reading it ends with an error or without one.
func FuzzRead(f *testing.F) {
	for _, name := range must.Of(filepath.Glob("evidence/testdata/*.txtar"))(f) {
		for _, file := range must.Of(txtar.ParseFile(name))(f).Files {
			f.Add(file.Data)
		}
	}
	f.Add(zipped([]byte(`{"Item":{}}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		files, err := evidence.Open([]string{"-"}, bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, f := range files {
			for e, err := range f.Entries() {
				if r := e.Record; err == nil && r != nil && r.Images && (r.Before == nil && r.After == nil ||
					!r.State && len(r.Key) == 0) {
					t.Errorf("got the record %+v", r)
				}
			}
			for range f.Writes() {
			}
		}
	})
}
