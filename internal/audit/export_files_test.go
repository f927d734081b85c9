package audit_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// export writes records as an incremental export of each table, and returns the folder.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport.Output.html
func export(t *testing.T, records []evidence.Record) (folder string) {
	t.Helper()
	folder = t.TempDir()
	type table struct{ region, name string }
	lines, items := map[table]*bytes.Buffer{}, map[table]int{}
	for _, r := range records {
		var line struct {
			Dynamodb struct{ Keys, NewImage, OldImage json.RawMessage }
		}
		must.OK(t, json.Unmarshal(evidence.AppendJSON(nil, "", &r), &line))
		d, of := line.Dynamodb, table{r.Region, r.Table}
		if lines[of] == nil {
			lines[of] = &bytes.Buffer{}
		}
		items[of]++
		fmt.Fprintf(lines[of], `{"Metadata":{"WriteTimestampMicros":{"N":"%d"}},"Keys":%s`, r.Time.UnixMicro(), d.Keys)
		if d.NewImage != nil {
			fmt.Fprintf(lines[of], `,"NewImage":%s`, d.NewImage)
		}
		if d.OldImage != nil {
			fmt.Fprintf(lines[of], `,"OldImage":%s`, d.OldImage)
		}
		lines[of].WriteString("}\n")
	}
	for of, text := range lines { //isrsim:unordered each has files of its own
		id := of.region + "-" + of.name
		write := func(name, text string) {
			path := filepath.Join(folder, "AWSDynamoDB", name)
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.OK(t, os.WriteFile(path, []byte(text), 0o644))
		}
		write(id+"/manifest-summary.json", fmt.Sprintf(`{"manifestFilesS3Key":"any",`+
			`"tableArn":"arn:aws:dynamodb:%s:123456789012:table/%s",`+
			`"exportFromTime":"2039-12-31T00:00:00.000Z","exportToTime":"2040-12-31T00:00:00.000Z","itemCount":%d,`+
			`"outputFormat":"DYNAMODB_JSON","outputView":"NEW_AND_OLD_IMAGES","exportType":"INCREMENTAL_EXPORT"}`,
			of.region, of.name, items[of]))
		write(id+"/manifest-files.json", fmt.Sprintf(`{"itemCount":%d,"dataFileS3Key":"AWSDynamoDB/data/%s.json.gz"}`,
			items[of], id))
		var data bytes.Buffer
		w := gzip.NewWriter(&data)
		must.Done(t)(w.Write(text.Bytes()))
		must.OK(t, w.Close())
		write("data/"+id+".json.gz", data.String())
	}
	return folder
}

// read returns the records of a folder, in their order.
func read(t *testing.T, folder string) (records []evidence.Record) {
	t.Helper()
	var sources []audit.Source
	for _, f := range must.Of(evidence.Open([]string{folder}, nil))(t) {
		sources = append(sources, audit.Source{Entries: f.Entries()})
	}
	for e, err := range audit.Merge(audit.Window, sources...) {
		must.OK(t, err)
		if e.Gap != nil {
			t.Fatalf("found the gap %+v", e.Gap)
		}
		records = append(records, *e.Record)
	}
	return records
}
