package keep

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// Drawing draws records of runs, and results of commands.
type Drawing struct {
	Out    io.Writer // gets a line about each written file
	To     string    // the file or folder; "" means beside the record
	Format string    // html, svg or trace
	// Plots reads files that are neither records nor results: figures of policies.
	Plots func(io.Reader) ([]report.Plot, error)
}

// endings are the forms of a drawing, each with the ending of its file's name.
var endings = map[string]string{"html": ".html", "svg": ".svg", "trace": ".trace.json"}

// drawn is a record, with the file where it was found.
type drawn struct {
	file string
	*record.Record
}

// commands are the commands that run the recorded run again. There are none if no file can hold the scenario.
func (d drawn) commands() []report.Command {
	if d.File == "" {
		return nil
	}
	return commands(d.Record, d.file)
}

// Draw draws the given files, and all files in the given folders.
func (r *Drawing) Draw(args []string) error {
	ending, known := endings[r.Format]
	if !known {
		return mistake.New(fmt.Errorf("--format: found %q, expected html, svg or trace", r.Format),
			suggest.Hint(r.Format, []string{"html", "svg", "trace"}, ""))
	}
	if len(args) == 0 {
		return mistake.New(errors.New("report: found no record, expected at least one"),
			"isr-sim run --record run.json SCENARIO writes one")
	}
	records, results, err := r.read(args)
	if err != nil {
		return err
	}
	if len(results) > 0 && r.Format != "html" {
		return mistake.New(
			fmt.Errorf("report: found %s, which has no record of a run, expected records for --format svg "+
				"and --format trace", results[0].file), "",
		)
	}
	if len(records) == 0 {
		return r.drawResults(results, args)
	}
	if len(records) == 1 && len(results) == 0 && !isFolderOr(args[0], r.To) {
		to := r.To
		if to == "" {
			to = strings.TrimSuffix(records[0].file, filepath.Ext(records[0].file)) + ending
		}
		if to == records[0].file {
			return mistake.New(fmt.Errorf("-o: found the record itself, %s, expected another file", to), "")
		}
		return r.draw(records[0], to)
	}
	return r.drawAll(records, results, args, ending)
}

// isFolderOr reports whether at least one of the names, if not empty, names a folder.
func isFolderOr(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && isFolder(name) })
}

// drawAll draws several records into a folder.
func (r *Drawing) drawAll(records []drawn, results []resultsFile, args []string, ending string) error {
	folder := r.To
	switch {
	case folder == "" && len(args) == 1:
		folder = args[0]
	case folder == "":
		return mistake.New(errors.New("-o: found no folder for several records, expected one"),
			"isr-sim report -o reports ...")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return mistake.New(fmt.Errorf("-o: %w", err), "several records are drawn into a folder")
	}
	var entries []report.Entry
	taken, pages := map[string]bool{campaignPage: true}, drawnPages{}
	for _, rec := range records {
		base := strings.TrimSuffix(filepath.Base(rec.file), filepath.Ext(rec.file))
		name := base + ending
		for n := 2; taken[name] || r.Format == "html" && name == "index.html"; n++ {
			name = fmt.Sprintf("%s-%d%s", base, n, ending)
		}
		taken[name] = true
		if err := r.draw(rec, filepath.Join(folder, name)); err != nil {
			return err
		}
		pages.add(rec.file, filepath.Join(folder, name))
		entries = append(entries, report.Entry{Link: "./" + url.PathEscape(name), Record: rec.Record})
	}
	if r.Format != "html" {
		return nil
	}
	campaign := ""
	if len(results) > 0 {
		if err := r.writeResults(results, filepath.Join(folder, campaignPage), pages); err != nil {
			return err
		}
		campaign = "./" + campaignPage
	}
	index := filepath.Join(folder, "index.html")
	return r.write("index", index, func(to io.Writer) error { return report.Index(to, entries, campaign) })
}

// read reads the given files, which must be records or results, and the records and results in the given folders. It
// skips other files in a folder.
func (r *Drawing) read(args []string) (records []drawn, results []resultsFile, err error) {
	take := func(file string) error {
		rec, err := readRecord(file)
		if err == nil {
			records = append(records, drawn{file, rec})
			return nil
		}
		of, is, otherErr := r.readResults(file)
		if is {
			results = append(results, of)
			return otherErr
		}
		return err
	}
	for _, arg := range args {
		if arg == "" {
			return nil, nil, mistake.New(errors.New("report: found an empty name, expected a file or a folder"),
				"a variable of the shell may not be set")
		}
		if !isFolder(arg) {
			if err := take(arg); err != nil {
				return nil, nil, mistake.New(err,
					"isr-sim run --record FILE writes a record; docs/REPORT.md says what else is drawn")
			}
			continue
		}
		files, err := filepath.Glob(filepath.Join(globQuote(arg), "*.json"))
		if err != nil {
			return nil, nil, mistake.New(err, "")
		}
		found := false
		for _, file := range files {
			if err := take(file); err == nil {
				found = true
			} else if !strings.HasSuffix(file, endings["trace"]) {
				fmt.Fprintf(r.Out, "left out: %v\n", err)
			}
		}
		if !found {
			return nil, nil, mistake.New(fmt.Errorf("found no record in the folder %s, expected some (*.json)", arg),
				"isr-sim run --record FOLDER/ writes records")
		}
	}
	return records, results, nil
}

// globQuote quotes a name for use in a pattern.
func globQuote(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}

func readRecord(file string) (*record.Record, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	rec, err := record.Read(in)
	if ending := filepath.Ext(file); err != nil && (ending == ".yaml" || ending == ".yml") {
		return nil, fmt.Errorf("%s: found a file in YAML, such as a scenario, expected the record of a run, in JSON",
			file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rec, nil
}

// draw writes the report of a record.
func (r *Drawing) draw(rec drawn, to string) error {
	return r.write("report", to, func(out io.Writer) error {
		switch r.Format {
		case "svg":
			return report.SVG(out, rec.Record)
		case "trace":
			return report.Trace(out, rec.Record)
		}
		return report.Page(out, rec.Record, rec.commands())
	})
}

// write writes a file, and prints where it is.
func (r *Drawing) write(what, to string, text func(io.Writer) error) error {
	if err := write(to, text); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	fmt.Fprintf(r.Out, "%s: %s\n", what, to)
	return nil
}
