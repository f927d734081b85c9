// Package report draws the record of a run for people: a page of HTML in one file that loads nothing from the network,
// a picture in SVG, and a file for viewers of traces. docs/REPORT.md is its manual.
//
//	err := report.Page(out, r, []report.Command{{Name: "Replay", Text: "isr-sim replay run.json"}})
//
// Campaigns draws the results that commands wrote about many runs.
//
// A record is first read as a story (lanes, requests, spans), then laid out, then printed by templates, which escape
// everything from the record.
//
// # Limits
//
// All steps have the same height: the picture shows their order, and their times beside it.
//
// # Determinism
//
// A record always has the same page, byte for byte.
package report
