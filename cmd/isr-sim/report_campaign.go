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

	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/report"
	"github.com/isr-sim/isr-sim/internal/verdicts"
	"github.com/isr-sim/isr-sim/scenario/policy"
)

// campaignPage is the page of results in a folder of reports.
const campaignPage = "campaign.html"

// resultsFile is a file with the results of a command, or with the figures of policies.
type resultsFile struct {
	file  string
	doc   *verdicts.Document
	plots []report.Plot
}

// readResults reads a file of results; is says whether it is one. One that is, and cannot be read, has an error.
func readResults(file string) (of resultsFile, is bool, err error) {
	in, err := os.Open(file)
	if err != nil {
		return of, false, nil
	}
	defer in.Close() //nolint:errcheck // it was only read
	of.file = file
	of.doc, err = verdicts.Read(in)
	if err == nil {
		return of, true, nil
	}
	if !errors.Is(err, verdicts.ErrNoResults) {
		return of, true, fmt.Errorf("%s: %w", file, err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return of, false, nil
	}
	measured, err := lab.ReadJSON(in)
	if err != nil {
		return of, false, nil
	}
	of.plots = plotsOf(measured)
	return of, true, nil
}

// plotsOf has a plot for each workload, of outdated reads over renders: what is wrong with a policy, and what it costs.
func plotsOf(measured []lab.Measured) []report.Plot {
	var plots []report.Plot
	for _, m := range measured {
		i := slices.IndexFunc(plots, func(p report.Plot) bool { return p.Title == m.Workload })
		if i < 0 {
			i = len(plots)
			plots = append(plots, report.Plot{Title: m.Workload, X: "renders a second", Y: "reads of outdated data, %"})
		}
		x, y := m.Measures[policy.Renders.String()], m.Measures[policy.Outdated.String()]
		plots[i].Dots = append(plots[i].Dots, report.Dot{Name: m.Policy, X: x.Mean, Y: 100 * y.Mean, XText: x.Text(policy.Renders), YText: y.Text(policy.Outdated)})
	}
	return plots
}

// drawResults draws results without records on one page.
func (r *reportCommand) drawResults(results []resultsFile, args []string) error {
	to := r.to
	switch {
	case to != "" && isFolder(to):
		to = filepath.Join(to, campaignPage)
	case to == "" && len(args) == 1 && isFolder(args[0]):
		to = filepath.Join(args[0], campaignPage)
	case to == "" && len(results) == 1:
		to = strings.TrimSuffix(results[0].file, filepath.Ext(results[0].file)) + ".html"
	case to == "":
		return usage(errors.New("-o: found no file for several results, expected one"), "isr-sim report -o campaign.html ...")
	}
	if slices.ContainsFunc(results, func(of resultsFile) bool { return of.file == to }) {
		return usage(fmt.Errorf("-o: found the results themselves, %s, expected another file", to), "")
	}
	return r.writeResults(results, to, nil)
}

func (r *reportCommand) writeResults(results []resultsFile, to string, pages drawnPages) error {
	var all []report.Results
	var plots []report.Plot
	for _, of := range results {
		plots = append(plots, of.plots...)
		if of.doc != nil {
			all = append(all, report.Results{Name: filepath.Base(of.file), Document: of.doc, Link: func(result *verdicts.Result) (string, string) {
				return leadTo(result, of.file, to, pages)
			}})
		}
	}
	if err := write(to, func(out io.Writer) error { return report.Campaigns(out, all, plots) }); err != nil {
		return unknown(fmt.Errorf("-o: %w", err), "")
	}
	fmt.Fprintf(r.out, "report: %s\n", to)
	return nil
}

// drawnPages are the pages of records, by the absolute names of the records.
type drawnPages map[string]string

func (d drawnPages) add(record, page string) {
	if name, err := filepath.Abs(record); err == nil {
		d[name] = page
	}
}

// leadTo is the address of the report that a result names, or of its record, as seen from a page. A file that is not
// where its command wrote it is looked for beside the results: the artifacts of a CI run lie in one folder.
func leadTo(result *verdicts.Result, file, page string, pages drawnPages) (address, text string) {
	for _, named := range []struct{ name, text string }{{result.Report, "report of the run"}, {result.Record, "record of the run"}} {
		if named.name == "" {
			continue
		}
		beside := filepath.Dir(file)
		for _, place := range []string{named.name, filepath.Join(beside, named.name), filepath.Join(beside, filepath.Base(named.name))} {
			info, err := os.Stat(place)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if name, err := filepath.Abs(place); err == nil && pages[name] != "" {
				place, named.text = pages[name], "report of the run"
			}
			if address := addressOf(place, page); address != "" {
				return address, named.text
			}
		}
	}
	return "", ""
}

// addressOf is the address of a file, relative to a page; "" if there is none.
func addressOf(file, page string) string {
	to, errTo := filepath.Abs(file)
	from, errFrom := filepath.Abs(filepath.Dir(page))
	if errTo != nil || errFrom != nil {
		return ""
	}
	way, err := filepath.Rel(from, to)
	if err != nil {
		return ""
	}
	parts := strings.Split(filepath.ToSlash(way), "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "./" + strings.Join(parts, "/")
}
