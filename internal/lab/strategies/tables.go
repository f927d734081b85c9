package main

import (
	"fmt"
	"strings"
)

func line(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// head begins a table: the first columns are text, the others figures.
func head(b *strings.Builder, words int, cells ...string) {
	line(b, cells...)
	rule := make([]string, len(cells))
	for i := range rule {
		rule[i] = "---:"
		if i < words {
			rule[i] = "---"
		}
	}
	line(b, rule...)
}

// mutantTables prints means and buckets of the mutants.
func mutantTables(rows []row) string {
	plans := plansOf(rows)
	var b strings.Builder
	head(&b, 2, append([]string{"mutant", "scenario"}, plans...)...)
	for _, r := range rows {
		cells := []string{r.name, r.where}
		for _, c := range r.cells {
			cells = append(cells, c.mean())
		}
		line(&b, cells...)
	}
	fmt.Fprintf(&b, "\n%s\n\n", bucketLegend)
	writeBuckets(&b, rows, plans)
	return b.String()
}

// programTables prints the means of the programs, next to the published ones, and their buckets.
func programTables(rows []row) string {
	plans := plansOf(rows)
	said := map[string]func(published) string{
		"random-walk": func(p published) string { return p.randomWalk },
		"pct3":        func(p published) string { return p.pct3 },
		"pos":         func(p published) string { return p.pos },
	}
	var b strings.Builder
	var columns []string
	for _, plan := range plans {
		columns = append(columns, plan)
		if said[plan] != nil {
			columns = append(columns, "*published*")
		}
	}
	head(&b, 1, append([]string{"program"}, columns...)...)
	for _, r := range rows {
		cells := []string{r.name}
		for _, c := range r.cells {
			cells = append(cells, c.mean())
			if of := said[c.plan]; of != nil {
				figure := of(asplos25[r.name])
				if figure != "" {
					figure = "*" + figure + "*"
				}
				cells = append(cells, figure)
			}
		}
		line(&b, cells...)
	}
	fmt.Fprintf(&b, "\n%s\n\n", bucketLegend)
	writeBuckets(&b, rows, plans)
	return b.String()
}

const bucketLegend = "In how many seeds it was found in schedule 1 to 10, 11 to 100, 101 to 1,000, and 1,001 to " +
	"10,000, and in how many not:"

// writeBuckets prints the buckets of the findings, for each subject and for all together.
func writeBuckets(b *strings.Builder, rows []row, plans []string) {
	head(b, 1, append([]string{""}, plans...)...)
	sums := make([][len(buckets) + 1]int, len(plans))
	for _, r := range rows {
		cells := []string{r.name}
		for i, c := range r.cells {
			counts := c.counts()
			for j, n := range counts {
				sums[i][j] += n
			}
			cells = append(cells, bucketCell(counts))
		}
		line(b, cells...)
	}
	cells := []string{"**all**"}
	for _, counts := range sums {
		cells = append(cells, bucketCell(counts))
	}
	line(b, cells...)
}

func bucketCell(counts [len(buckets) + 1]int) string {
	words := make([]string, len(counts))
	for i, n := range counts {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, " ")
}

// plansOf returns the names of the plans that were measured.
func plansOf(rows []row) []string {
	var names []string
	for _, c := range rows[0].cells {
		names = append(names, c.plan)
	}
	return names
}
