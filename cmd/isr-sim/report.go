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
		Use:   "report RECORD...",
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
chosen in one of them is chosen in the other, if it is there.`,
		Example: "  isr-sim replay --record run.json recorded.yaml && isr-sim report run.json\n  isr-sim report --format svg -o run.svg run.json\n  isr-sim report -o reports records\n  isr-sim report --beside shrunk.json -o both.html run.json",
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
	records, err := r.read(args)
	if err != nil {
		return err
	}
	if r.beside != "" {
		return r.drawBoth(records)
	}
	if len(records) == 1 && !isFolderOr(args[0], r.to) {
		to := r.to
		if to == "" {
			to = strings.TrimSuffix(records[0].file, filepath.Ext(records[0].file)) + ending
		}
		if to == records[0].file {
			return usage(fmt.Errorf("-o: found the record itself, %s, expected another file", to), "")
		}
		return r.draw(records[0], to)
	}
	return r.drawAll(records, args, ending)
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
func (r *reportCommand) drawAll(records []drawn, args []string, ending string) error {
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
	taken := map[string]bool{}
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
		entries = append(entries, report.Entry{Link: "./" + url.PathEscape(name), Record: rec.Record})
	}
	if r.format != "html" {
		return nil
	}
	index := filepath.Join(folder, "index.html")
	if err := write(index, func(to io.Writer) error { return report.Index(to, entries) }); err != nil {
		return unknown(fmt.Errorf("-o: %w", err), "")
	}
	fmt.Fprintf(r.out, "index: %s\n", index)
	return nil
}

// read reads the records that are named, and those in folders that are named. Other files in a folder are left out.
func (r *reportCommand) read(args []string) ([]drawn, error) {
	var all []drawn
	for _, arg := range args {
		if !isFolder(arg) {
			rec, err := readRecord(arg)
			if err != nil {
				return nil, usage(err, "isr-sim run --record FILE writes a record; docs/RECORD.md says what is in it")
			}
			all = append(all, drawn{arg, rec})
			continue
		}
		files, err := filepath.Glob(filepath.Join(globQuote(arg), "*.json"))
		if err != nil {
			return nil, usage(err, "")
		}
		found := false
		for _, file := range files {
			if rec, err := readRecord(file); err == nil {
				all = append(all, drawn{file, rec})
				found = true
			} else if !strings.HasSuffix(file, reportFormats["trace"]) {
				fmt.Fprintf(r.out, "left out: %v\n", err)
			}
		}
		if !found {
			return nil, usage(fmt.Errorf("found no record in the folder %s, expected some (*.json)", arg), "isr-sim run --record FOLDER/ writes records")
		}
	}
	return all, nil
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
