package evidence_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func zipped(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}

// told prints what a file says, one line for each write and entry.
func told(t testing.TB, f *evidence.File) (lines []string) {
	t.Helper()
	say := func(err error, format string, a ...any) {
		if err != nil {
			format, a = "error: %v", []any{err}
		}
		lines = append(lines, fmt.Sprintf(format, a...))
	}
	for w, err := range f.Writes() {
		say(err, "%d %s@%s %v by %s: %s at %s", w.Place.Line, w.Table, w.Region, w.Key, w.Actor, w.Operation,
			when(w.Time))
	}
	for e, err := range f.Entries() {
		if g := e.Gap; g != nil {
			say(err, "%d gap in %s from %s to %s: %s", g.Place.Line, g.Table, when(g.From), when(g.To), g.Why)
		} else if err != nil || e.Record != nil {
			say(err, "%s", line(e.Record))
		}
	}
	return lines
}

func line(r *evidence.Record) string {
	if r == nil {
		return ""
	}
	images := fmt.Sprintf("%v -> %v", r.Before, r.After)
	if !r.Images {
		images = "unseen"
	}
	s := fmt.Sprintf("%d %s@%s %v %s at %s", r.Place.Line, r.Table, r.Region, r.Key, images, when(r.Time))
	if r.Unit > 0 {
		s += "+" + r.Unit.String()
	}
	s += " #" + string(r.Sequence)
	if r.ID != "" {
		s += " " + r.ID
	}
	for _, flag := range []struct {
		on   bool
		name string
	}{{r.TTL, "ttl"}, {r.State, "state"}, {r.Net, "net"}} {
		if flag.on {
			s += " " + flag.name
		}
	}
	return s
}

func when(t time.Time) string {
	if t.IsZero() {
		return "then"
	}
	return t.Format(time.RFC3339Nano)
}

// Each archive has the files of one kind of source, in the form that AWS documents, and what they say.
func TestSources(t *testing.T) {
	archives := must.Of(filepath.Glob("testdata/*.txtar"))(t)
	if len(archives) < 6 {
		t.Fatalf("found %d archives", len(archives))
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive := must.Of(txtar.ParseFile(name))(t)
			t.Chdir(t.TempDir())
			want := ""
			for _, file := range archive.Files {
				text := file.Data
				if file.Name == "want" {
					want = string(text)
					continue
				}
				if strings.HasSuffix(file.Name, ".gz") {
					text = zipped(text)
				}
				must.OK(t, os.MkdirAll(filepath.Dir(file.Name), 0o755))
				must.OK(t, os.WriteFile(file.Name, text, 0o644))
			}
			files := must.Of(evidence.Open([]string{"."}, nil))(t)
			got := ""
			for _, f := range files {
				if f.Kind == evidence.Full && f.KeyNames == nil {
					f.KeyNames = []string{"id"}
				}
				got += f.Name + " is " + string(f.Kind) + "\n" + strings.Join(append(told(t, f), ""), "\n")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be read is named, with its place, what was found, and what to do.
func TestMistakes(t *testing.T) {
	record := `{"eventName":"INSERT","dynamodb":{"ApproximateCreationDateTime":1,"Keys":{"id":{"S":"a"}},"NewImage":{"id":{"S":"a"}},"SequenceNumber":"1"}}`
	with := func(from, to string) string { return strings.Replace(record, from, to, 1) }
	deep := strings.Repeat(`{"L":[`, 40) + strings.Repeat(`]}`, 40)
	for _, tc := range []struct{ name, text, want string }{
		{"a text", "hello\n", `f:1: found invalid character 'h' at start of value, expected JSON`},
		{"malformed", record + "\n" + with(":", ";"),
			`f:2: found invalid character ';' after object name (expecting ':'), expected JSON`},
		{"an unknown object", `{"b":1,"a":2}`, `f:1: found an object with ["a" "b"], expected a record`},
		{"a value that is no object", `7`, `f:1: found a number, expected an object`},
		{"a foreign record", record + `{"Item":{"id":{"S":"a"}}}`,
			`f:2: found a full export among records of DynamoDB Streams`},
		{"an ARN of Kinesis", with(`"eventName"`, `"eventSourceARN":"arn:aws:kinesis:x:1:stream/a","eventName"`),
			`f:1: found the ARN "arn:aws:kinesis:x:1:stream/a", expected one of a table of DynamoDB`},
		{"no key", with(`"Keys":{"id":{"S":"a"}},`, ""), `f:1: found a record without Keys`},
		{"no time", with(`"ApproximateCreationDateTime":1,`, ""),
			`f:1: found the time nowhere, expected seconds, milliseconds or microseconds since 1970`},
		{"a time before all times", with(`Time":1,`, `Time":-1,`),
			`f:1: found the time -1, expected seconds, milliseconds or microseconds since 1970`},
		{"a time of words", with(`Time":1,`, `Time":"noon",`),
			`f:1: found the time "noon", expected one such as 2026-01-31T12:00:00Z`},
		{"a sequence number", with(`Number":"1"`, `Number":"x1"`), `f:1: found the SequenceNumber "x1", expected digits`},
		{"a value of no type", with(`{"S":"a"}`, `{}`), "f:1: " + oneType},
		{"a value of two types", with(`{"S":"a"}`, `{"S":"a","N":"1"}`), "f:1: " + oneType},
		{"an unknown type", with(`{"S":"a"}`, `{"Value":"a"}`), "f:1: " + oneType},
		{"a value that is null", with(`{"S":"a"}`, `null`), "f:1: found null, expected an object"},
		{"a string that is null", with(`{"S":"a"}`, `{"S":null}`), "f:1: found null, expected a string"},
		{"an attribute twice", with(`{"S":"a"}`, `{"S":"a"},"id":{"S":"b"}`), "f:1: found the attribute id twice"},
		{"a number of words", with(`{"S":"a"}`, `{"N":"ten"}`), "f:1: The parameter cannot be converted to a numeric " +
			"value: ten"},
		{"the second record", record + with(`{"S":"a"}`, `{"N":"ten"}`) + record, "f:2: The parameter cannot be " +
			"converted to a numeric value: ten"},
		{"the second record, as a whole", record + with(`Number":"1"`, `Number":"x1"`), `f:2: found the SequenceNumber ` +
			`"x1", expected digits`},
		{"a number without quotes", with(`{"S":"a"}`, `{"N":10}`), "f:1: found a number, expected a string"},
		{"a set with duplicates", with(`{"S":"a"}`, `{"SS":["a","a"]}`), `f:1: One or more parameter values were ` +
			`invalid: Input collection ["a", "a"] contains duplicates.`},
		{"bytes that are not base64", with(`{"S":"a"}`, `{"B":"?"}`), `f:1: found "?", expected base64`},
		{"a value too deep", with(`{"S":"a"}`, deep), "f:1: found a value of more than 32 levels"},
		{"data that is no JSON", `{"Records":[{"Data":"AAAA"}]}`,
			`f:1: found invalid character '\x00' at start of value, expected JSON`},
		{"data that was cut", `{"Records":[{"Data":"eyI="}]}`, "f:1: found data that ends within a record"},
		{"data without a record", `{"Records":[{"Data":""}]}`, "f:1: found data that ends within a record"},
		{"data with more", `{"Data":"` + base64.StdEncoding.EncodeToString([]byte(record+record)) + `"}`,
			"f:2: found data with more than one record"},
		{"Ion", "$ion_1_0 {Item:{id:\"a\"}}", "f: found an export in Amazon Ion"},
		{"UTF-16", "\xff\xfe{\x00", "f: found text in UTF-16"},
		{"Parquet", "PAR1", "f: found a file of Parquet"},
		{"an event without its time", `{"eventTime":"noon","eventSource":"dynamodb.amazonaws.com","eventName":"PutItem",` +
			`"requestParameters":{}}`, `f:1: found the eventTime "noon", expected one such as 2026-01-31T12:00:00Z`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, text := range [][]byte{[]byte(tc.text), zipped([]byte(tc.text))} {
				must.OK(t, os.WriteFile("f", text, 0o644))
				err := firstError("f")
				var of *mistake.Error
				if !errors.As(err, &of) || of.Error() != tc.want || of.Hint == "" {
					t.Errorf("got  %v\nwant %s, and a hint", err, tc.want)
				}
			}
		})
	}
	t.Chdir(t.TempDir())
	must.OK(t, os.Mkdir("empty", 0o755))
	must.OK(t, os.WriteFile("no.gz", []byte("\x1f\x8babcdefghijk"), 0o644))
	damaged := zipped([]byte(record))
	damaged[len(damaged)-8]++
	must.OK(t, os.WriteFile("damaged.gz", damaged, 0o644))
	for path, want := range map[string]string{
		"nowhere": "lstat nowhere: no such file or directory", "empty": `found no file in ["empty"]`,
		"no.gz": "no.gz:1: gzip: invalid header", "damaged.gz": "damaged.gz:2: gzip: invalid checksum",
	} {
		if err := firstError(path); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

const oneType = "expected an attribute value, which has exactly one of the types S, N, B, BOOL, NULL, M, L, SS, NS " +
	"and BS"

// firstError returns the first error of opening and reading a file.
func firstError(path string) error {
	files, err := evidence.Open([]string{path}, nil)
	if err != nil {
		return err
	}
	for _, f := range files {
		for _, err := range f.Entries() {
			if err != nil {
				return err
			}
		}
		for _, err := range f.Writes() {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
