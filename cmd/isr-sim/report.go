package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/record"
	"github.com/isr-sim/isr-sim/internal/report"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/internal/suggest"
)

// reportCommand draws records.
type reportCommand struct {
	out    io.Writer
	to     string
	format string
	beside string
}

// reportFormats are the forms of a report, and the ends of their files.
var reportFormats = map[string]string{"html": ".html", "svg": ".svg", "trace": ".trace.json"}

func newReport(out io.Writer) *cobra.Command {
	r := &reportCommand{out: out}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Draw recorded runs: pages of HTML, pictures, or files for Perfetto",
		Long: `Report draws the records of runs (--record of run, replay, shrink, explain, prove,
explore, museum, concurrent and serve --check; a failed check of package property
leaves one). A page of HTML is one file and
asks no network: a lane for each node and for each row, the step of the violation in
view, the rows at each step, and the commands that run the schedule again.

A folder stands for all records in it. The pages of several records are written to a
folder, with an index. --format svg is the picture alone, for a ticket; --format trace
is for https://ui.perfetto.dev and other viewers of trace events.

--beside puts the page of a second record next to that of the first: a failed run and
the smaller one that shrink made of it, a failed run and one that passed. A step that is
chosen in one of them is chosen in the other, if it is there.

What campaigns wrote with --format json=FILE, and isr-sim policy compare --format json
printed, is drawn on one page: verdicts with links to the records and reports beside
them, mutants by invariant, finds by strategy, coverage over time, policies.`,
		Example: "  isr-sim replay --record run.json recorded.yaml && isr-sim report run.json\n  isr-sim report --format svg -o run.svg run.json\n  isr-sim report -o reports records\n  isr-sim report --beside shrunk.json -o both.html run.json\n  isr-sim explore --format json=explore.json; isr-sim report explore.json",
		RunE:    func(_ *cobra.Command, args []string) error { return r.run(args) },
	}
	f := cmd.Flags()
	f.StringVarP(&r.to, "output", "o", "", "the file to write, or the folder for several records (default: beside the record)")
	f.StringVar(&r.format, "format", "html", "html, svg or trace")
	f.StringVar(&r.beside, "beside", "", "a second record, drawn next to the first on one page")
	return cmd
}

// drawn is a record, and where it was found.
type drawn struct {
	file string
	*record.Record
}

// source is how a command names the record; "" if none can run it.
func (d drawn) source() string {
	if d.File == "" {
		return ""
	}
	return shell.Quote(d.file)
}

func (r *reportCommand) run(args []string) error {
	ending, known := reportFormats[r.format]
	if !known {
		hint := ""
		if option, ok := suggest.Nearest(r.format, []string{"html", "svg", "trace"}); ok {
			hint = fmt.Sprintf("did you mean %q?", option)
		}
		return usage(fmt.Errorf("--format: found %q, expected html, svg or trace", r.format), hint)
	}
	if len(args) == 0 {
		return usage(errors.New("report: found no record, expected at least one"), "isr-sim run --record run.json SCENARIO writes one")
	}
	records, results, err := r.read(args)
	if err != nil {
		return err
	}
	if len(results) > 0 && (r.format != "html" || r.beside != "") {
		return usage(fmt.Errorf("report: found %s, which has no record of a run, expected records for --format svg, --format trace and --beside", results[0].file), "")
	}
	if len(records) == 0 {
		return r.drawResults(results, args)
	}
	if r.beside != "" {
		return r.drawBoth(records)
	}
	if len(records) == 1 && len(results) == 0 && !isFolderOr(args[0], r.to) {
		to := r.to
		if to == "" {
			to = strings.TrimSuffix(records[0].file, filepath.Ext(records[0].file)) + ending
		}
		if to == records[0].file {
			return usage(fmt.Errorf("-o: found the record itself, %s, expected another file", to), "")
		}
		return r.draw(records[0], to)
	}
	return r.drawAll(records, results, args, ending)
}

// drawBoth draws two records on one page.
func (r *reportCommand) drawBoth(records []drawn) error {
	if len(records) != 1 || r.format != "html" {
		return usage(fmt.Errorf("--beside: found %d records and the format %s, expected one record and html", len(records), r.format),
			"isr-sim report --beside shrunk.json -o both.html run.json")
	}
	second, err := readRecord(r.beside)
	if err != nil {
		return usage(fmt.Errorf("--beside: %w", err), "isr-sim shrink --record FILE writes the record of the smaller run")
	}
	to := r.to
	if to == "" {
		to = strings.TrimSuffix(records[0].file, filepath.Ext(records[0].file)) + "-both.html"
	}
	if to == records[0].file || to == r.beside {
		return usage(fmt.Errorf("-o: found a record itself, %s, expected another file", to), "")
	}
	parts := [2]report.Part{}
	for i, d := range []drawn{records[0], {r.beside, second}} {
		parts[i] = report.Part{Name: filepath.Base(d.file), Record: d.Record, Commands: commandsFor(d.Record, d.source())}
	}
	if err := write(to, func(out io.Writer) error { return report.Both(out, parts[0], parts[1]) }); err != nil {
		return unknown(fmt.Errorf("-o: %w", err), "")
	}
	fmt.Fprintf(r.out, "report: %s\n", to)
	return nil
}

// isFolderOr says whether one of the names that are not empty is that of a folder.
func isFolderOr(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && isFolder(name) })
}

// drawAll draws several records into a folder.
func (r *reportCommand) drawAll(records []drawn, results []resultsFile, args []string, ending string) error {
	folder := r.to
	switch {
	case folder == "" && len(args) == 1:
		folder = args[0]
	case folder == "":
		return usage(errors.New("-o: found no folder for several records, expected one"), "isr-sim report -o reports ...")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return usage(fmt.Errorf("-o: %w", err), "several records are drawn into a folder")
	}
	var entries []report.Entry
	taken, pages := map[string]bool{campaignPage: true}, drawnPages{}
	for _, rec := range records {
		base := strings.TrimSuffix(filepath.Base(rec.file), filepath.Ext(rec.file))
		name := base + ending
		for n := 2; taken[name] || r.format == "html" && name == "index.html"; n++ {
			name = fmt.Sprintf("%s-%d%s", base, n, ending)
		}
		taken[name] = true
		if err := r.draw(rec, filepath.Join(folder, name)); err != nil {
			return err
		}
		pages.add(rec.file, filepath.Join(folder, name))
		entries = append(entries, report.Entry{Link: "./" + url.PathEscape(name), Record: rec.Record})
	}
	if r.format != "html" {
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
	if err := write(index, func(to io.Writer) error { return report.Index(to, entries, campaign) }); err != nil {
		return unknown(fmt.Errorf("-o: %w", err), "")
	}
	fmt.Fprintf(r.out, "index: %s\n", index)
	return nil
}

// read reads the records and the results that are named, and those in folders that are named. Other files in a folder
// are left out.
func (r *reportCommand) read(args []string) (records []drawn, results []resultsFile, err error) {
	take := func(file string) error {
		rec, err := readRecord(file)
		if err == nil {
			records = append(records, drawn{file, rec})
			return nil
		}
		of, is, otherErr := readResults(file)
		if is {
			results = append(results, of)
			return otherErr
		}
		return err
	}
	for _, arg := range args {
		if !isFolder(arg) {
			if err := take(arg); err != nil {
				return nil, nil, usage(err, "isr-sim run --record FILE writes a record; docs/REPORT.md says what else is drawn")
			}
			continue
		}
		files, err := filepath.Glob(filepath.Join(globQuote(arg), "*.json"))
		if err != nil {
			return nil, nil, usage(err, "")
		}
		found := false
		for _, file := range files {
			if err := take(file); err == nil {
				found = true
			} else if !strings.HasSuffix(file, reportFormats["trace"]) {
				fmt.Fprintf(r.out, "left out: %v\n", err)
			}
		}
		if !found {
			return nil, nil, usage(fmt.Errorf("found no record in the folder %s, expected some (*.json)", arg), "isr-sim run --record FOLDER/ writes records")
		}
	}
	return records, results, nil
}

// globQuote has a name mean itself in a pattern.
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
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rec, nil
}

// draw writes the report of a record.
func (r *reportCommand) draw(rec drawn, to string) error {
	err := write(to, func(out io.Writer) error {
		switch r.format {
		case "svg":
			return report.SVG(out, rec.Record)
		case "trace":
			return report.Trace(out, rec.Record)
		}
		return report.Page(out, rec.Record, commandsFor(rec.Record, rec.source()))
	})
	if err != nil {
		return unknown(fmt.Errorf("-o: %w", err), "")
	}
	fmt.Fprintf(r.out, "report: %s\n", to)
	return nil
}
