package audit_test

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

// linesOf prints what a file says, one line for each write and entry.
func linesOf(t testing.TB, f *evidence.File) (lines []string) {
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
	if !r.Images && r.Before == nil && r.After == nil {
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
	archives := must.Of(filepath.Glob("evidence/testdata/*.txtar"))(t)
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
				got += f.Name + " is " + string(f.Kind) + "\n" + strings.Join(append(linesOf(t, f), ""), "\n")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Only images that fit the view and the event show the row, and only the service's own deletions are those of TTL.
func TestImages(t *testing.T) {
	const service = `"userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},`
	for _, tc := range []struct{ event, view, images, caller, want string }{
		{"INSERT", "", "N", "", "images"},
		{"INSERT", "NEW_AND_OLD_IMAGES", "N", "", "images"},
		{"INSERT", "NEW_IMAGE", "N", "", ""},
		{"INSERT", "", "NO", "", ""},
		{"INSERT", "", "O", "", ""},
		{"MODIFY", "", "NO", "", "images"},
		{"MODIFY", "NEW_AND_OLD_IMAGES", "N", "", ""},
		{"MODIFY", "NEW_AND_OLD_IMAGES", "O", "", ""},
		{"REMOVE", "", "O", service, "images ttl"},
		{"REMOVE", "OLD_IMAGE", "O", service, " ttl"},
		{"REMOVE", "", "NO", "", ""},
		{"REMOVE", "", "", "", ""},
		{"OTHER", "NEW_AND_OLD_IMAGES", "O", "", "images"},
		{"OTHER", "NEW_AND_OLD_IMAGES", "", "", ""},
		{"OTHER", "", "O", "", ""},
		{"REMOVE", "", "O", strings.Replace(service, "Service", "AWSService", 1), "images"},
		{"REMOVE", "", "O", strings.Replace(service, "dynamodb.", "replication.dynamodb.", 1), "images"},
	} {
		text := `{"eventName":"` + tc.event + `",` + tc.caller + `"dynamodb":{"ApproximateCreationDateTime":1,` +
			`"Keys":{"id":{"S":"a"}}`
		for _, image := range []string{"New", "Old"} {
			if strings.Contains(tc.images, image[:1]) {
				text += `,"` + image + `Image":{"id":{"S":"a"}}`
			}
		}
		if tc.view != "" {
			text += `,"StreamViewType":"` + tc.view + `"`
		}
		r := records(t, []byte(text+"}}"))[0]
		got := ""
		if r.Images {
			got = "images"
		}
		if r.TTL {
			got += " ttl"
		}
		if got != tc.want || !r.Images && (r.Before != nil || r.After != nil) {
			t.Errorf("%+v: got %q of %+v", tc, got, r)
		}
	}
}

// A time tells its unit, and is never after the change.
func TestTimes(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"0", "1970-01-01T00:00:00Z+1s"},
		{"1479499740.9", "2016-11-18T20:09:00Z+1s"},
		{"1.4794997409E9", "2016-11-18T20:09:00Z+1s"},
		{`"2016-11-18T12:09:00.9-08:00"`, "2016-11-18T20:09:00Z+1s"},
		{"100000000000", "5138-11-16T09:46:40Z+1s"},
		{"100000000001", "1973-03-03T09:46:40.001Z+1ms"},
		{"100000000000000", "5138-11-16T09:46:40Z+1ms"},
		{"100000000000001", "1973-03-03T09:46:40.000001Z+1µs"},
		{"100000000000000000", "5138-11-16T09:46:40Z+1µs"},
	} {
		r := records(t, []byte(`{"dynamodb":{"ApproximateCreationDateTime":`+tc.text+`,"Keys":{"id":{"S":"a"}}}}`))[0]
		if got := when(r.Time) + "+" + r.Unit.String(); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.text, got, tc.want)
		}
	}
}

// Sequence numbers are compared as numbers.
func TestSequences(t *testing.T) {
	for _, tc := range []struct {
		a, b evidence.Sequence
		want int
	}{
		{"9", "10", -1}, {"10", "9", 1}, {"00009", "9", 0}, {"", "0", 0}, {"0", "1", -1},
		{"000111000000000000000001", "111000000000000000000", 1},
	} {
		if got := tc.a.Compare(tc.b); got != tc.want {
			t.Errorf("%s to %s: got %d, want %d", tc.a, tc.b, got, tc.want)
		}
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
		{"an ARN of a bucket", with(`"eventName"`, `"eventSourceARN":"arn:aws:s3tables:x:1:table/a","eventName"`),
			`f:1: found the ARN "arn:aws:s3tables:x:1:table/a", expected one of a table of DynamoDB`},
		{"Parquet behind a record", record + "PAR1", `f:2: found invalid character 'P' at start of value, expected JSON`},
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
		{"a boolean in quotes", with(`{"S":"a"}`, `{"BOOL":"true"}`), "f:1: found a string, expected a boolean"},
		{"a null that is false", with(`{"S":"a"}`, `{"NULL":false}`), "f:1: One or more parameter values were invalid: " +
			"Null attribute value types must have the value of true"},
		{"a list that is an object", with(`{"S":"a"}`, `{"L":{}}`), "f:1: found an object, expected an array"},
		{"an empty set", with(`{"S":"a"}`, `{"NS":[]}`), "f:1: One or more parameter values were invalid: An number " +
			"set  may not be empty"},
		{"an empty object", "{}", "f:1: found an object without members that are known, expected a record"},
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
	must.OK(t, os.WriteFile("list", []byte(`{"itemCount":0,"dataFileS3Key":"data/a.json.gz"}`), 0o644))
	damaged := zipped([]byte(record))
	damaged[len(damaged)-8]++
	must.OK(t, os.WriteFile("damaged.gz", damaged, 0o644))
	for path, want := range map[string]string{
		"nowhere": "lstat nowhere: no such file or directory", "empty": `found no file of records in ["empty"]`,
		"list":  `found no file of records in ["list"]`,
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
