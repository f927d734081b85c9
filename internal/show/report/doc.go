// Package report draws the record of a run for people: a page of HTML in one file that loads nothing from the network,
// a picture in SVG, and a file for viewers of traces. docs/REPORT.md is its manual.
//
//	err := report.Page(out, r, report.Options{File: "run.json"})
//
// Campaigns draws the results that commands have written about many runs.
//
// A record is first read as a story (lanes, requests, spans), then laid out, then printed by templates, which escape
// all that comes from the record.
//
// # Limits
//
// All steps have the same height: the picture shows the order, and has the times beside it.
//
// # Determinism
//
// One record has one page, byte for byte.
package report
