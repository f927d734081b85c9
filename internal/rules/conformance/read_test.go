package conformance

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The error for a mistake in a file has the file and line, what was found and what was expected.
func TestReadNamesTheMistake(t *testing.T) {
	const begin = "case one\nrule It is so.\nsource docTypes\n"
	for text, want := range map[string]string{
		"rule It is so.":                            `:1: found "rule It is so.", expected the line of a case first`,
		begin + "needs time":                        `:4: found the need "time", expected one of ["alone"`,
		begin + "table rows: pk":                    `:4: found the table "rows: pk", expected its name and key`,
		begin + "row {pk: \"a\"":                    `:4: found the end, expected a comma or }`,
		begin + "row {pk: 1} 2":                     `:4: found "2", expected the end of the value`,
		begin + "row {pk: a}":                       `:4: pk: found the word a, expected an attribute value`,
		begin + "row {pk: <>}":                      `:4: pk: found an empty set, expected its type before it`,
		begin + "row {pk: <1, \"a\">}":              `:4: pk: found a set, expected a set with elements of one type`,
		begin + "=> ok":                             `:4: found =>, expected a request before it`,
		begin + "GetItems {}":                       `:4: found "GetItems {}", expected an operation`,
		begin + "GetItem {Keys: {}}":                `:4: GetItem: found Keys, expected a member of GetItem`,
		begin + "GetItem {Key: \"a\"}":              `:4: GetItem: Key: found a text, expected an object`,
		begin + "GetItem {Key {}}":                  `:4: found "{}}", expected a colon after Key`,
		begin + "Scan {Limit: []}":                  `:4: Scan: Limit: found a list, expected a int32`,
		begin + "Scan\n\t{Limit: 1}\nScan {Limit}":  `:6: found "}", expected a colon after Limit`,
		begin + "BatchExecuteStatement {Statements": `:4: found the end, expected a colon`,
		begin + "no table":                          `:4: found "no table", expected no tables`,
		begin + "sweep\nbecause lenient":            `:5: found because, expected one answer to a request`,
		begin + "CreateTable {Schema: \"pk\"}":      `:4: CreateTable: found the schema "pk", expected a key`,
		begin + "wait long":                         `:4: time: invalid duration "long"`,
		begin + "sweep\n=> \"ok":                    `:5: found "ok, expected a text in quotation marks`,
	} {
		files := fstest.MapFS{"cases/names.txt": {}, "cases/topic.txt": {Data: []byte(text)}}
		_, err := readCases(files, []string{"topic"})
		want = "internal/rules/conformance/cases/topic.txt" + want
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// Every file is a topic, so that no case is forgotten.
func TestEveryFileIsATopic(t *testing.T) {
	entries, err := files.ReadDir("cases")
	if err != nil || len(entries) != len(topics)+1 {
		t.Errorf("got %d files, %v; want one for each of the %d topics, and names.txt", len(entries), err, len(topics))
	}
}

// An abbreviation in a file stands for what the request sends.
func TestNotation(t *testing.T) {
	w := &world{prefix: "p."}
	w.seen.streams = []string{"arn:one"}
	for text, want := range map[string]string{
		`[1 to 3 "v${i}"]`:                  `["v1", "v2", "v3"]`,
		`[09 to 10 {n: "${i}"}, 2 times 7]`: `[{n: "09"}, {n: "10"}, 7, 7]`,
		`"${ab*3}-${stream 1}"`:             `"ababab-arn:one"`,
		`{m: {}, n: N"1e5", b: 0x00ff}`:     `{b: 0x00ff, m: {}, n: 1e5}`,
		`<"b", "a">`:                        `<"a", "b">`,
		"`\"q\"`":                           `"\"q\""`,
	} {
		n, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, err := builder{w}.attribute(n)
		if err != nil || valueText(v) != want {
			t.Errorf("%s: got %s, %v; want %s", text, valueText(v), err, want)
		}
	}
	n, _ := parse(`"${stream one}"`)
	if _, err := (builder{w}).attribute(n); err == nil || !strings.Contains(err.Error(), `"stream one"`) {
		t.Errorf("got %v, want an error that names the placeholder", err)
	}
}
