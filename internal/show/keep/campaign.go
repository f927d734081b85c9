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
	"github.com/isr-sim/isr-sim/internal/show/report"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

// campaignPage is the page of results in a folder of reports.
const campaignPage = "campaign.html"

// resultsFile is a file with the results of a command, or with the figures of policies.
type resultsFile struct {
	file  string
	doc   *verdicts.Document
	plots []report.Plot
}

// readResults reads a file of results. It also reports whether the file has results. If it has some but cannot be read,
// that is an error.
func (r *Drawing) readResults(file string) (of resultsFile, is bool, err error) {
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
	of.plots, err = r.Plots(in)
	return of, err == nil, nil
}

// drawResults draws results, which have no records, on one page.
func (r *Drawing) drawResults(results []resultsFile, args []string) error {
	to := r.To
	switch {
	case to != "" && isFolder(to):
		to = filepath.Join(to, campaignPage)
	case to == "" && len(args) == 1 && isFolder(args[0]):
		to = filepath.Join(args[0], campaignPage)
	case to == "" && len(results) == 1:
		to = strings.TrimSuffix(results[0].file, filepath.Ext(results[0].file)) + ".html"
	case to == "":
		return mistake.New(errors.New("-o: found no file for several results, expected one"),
			"isr-sim report -o campaign.html ...")
	}
	if slices.ContainsFunc(results, func(of resultsFile) bool { return of.file == to }) {
		return mistake.New(fmt.Errorf("-o: found the results themselves, %s, expected another file", to), "")
	}
	return r.writeResults(results, to, nil)
}

func (r *Drawing) writeResults(results []resultsFile, to string, pages drawnPages) error {
	var all []report.Results
	var plots []report.Plot
	for _, of := range results {
		plots = append(plots, of.plots...)
		if of.doc != nil {
			all = append(all, report.Results{Name: filepath.Base(of.file), Document: of.doc,
				Link: func(result *verdicts.Result) (string, string) {
					return leadTo(result, of.file, to, pages)
				}})
		}
	}
	return r.write("report", to, func(out io.Writer) error { return report.Campaigns(out, all, plots) })
}

// drawnPages maps the absolute names of records to their pages.
type drawnPages map[string]string

func (d drawnPages) add(record, page string) {
	if name, err := filepath.Abs(record); err == nil {
		d[name] = page
	}
}

// leadTo is the address, relative to a page, of the report that a result names, or else of its record. If that file is
// not where the command wrote it, leadTo looks for it in the folder of the results, because the artifacts of a CI run
// are in one folder.
func leadTo(result *verdicts.Result, file, page string, pages drawnPages) (address, text string) {
	for _, named := range []struct{ name, text string }{{result.Report, "report of the run"},
		{result.Record, "record of the run"}} {
		if named.name == "" {
			continue
		}
		beside := filepath.Dir(file)
		for _, place := range []string{named.name, filepath.Join(beside, named.name), filepath.Join(beside,
			filepath.Base(named.name))} {
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

// addressOf is the address of a file relative to a page, or "".
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
