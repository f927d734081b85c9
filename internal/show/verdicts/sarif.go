package verdicts

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
)

// These types are the part of SARIF 2.1.0 that is written.
//
// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
	}
)

// reasons are the rules that are not invariants, with their texts.
var reasons = map[string]string{
	"not-violated":   "a scenario that expects a violation shows none",
	string(Unknown):  "a run has no verdict",
	string(Vacuous):  "a campaign never reached what its scenario declares",
	string(Mistake):  "a file is no scenario",
	string(Violated): "an invariant is violated",
}

// writeSARIF writes a SARIF result for each result that did not pass. The rules are the invariants.
func writeSARIF(w io.Writer, d *Document) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "isr-sim", InformationURI: "https://github.com/isr-sim/isr-sim",
			Version: d.Version, Rules: []sarifRule{},
		}},
		Results: []sarifResult{},
	}
	rules := map[string]int{}
	for i := range d.Results {
		r := &d.Results[i]
		if r.Passed {
			continue
		}
		id := r.reason()
		at, known := rules[id]
		if !known {
			at = len(run.Tool.Driver.Rules)
			rules[id] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules,
				sarifRule{id, sarifText{firstOf(r.Statement, reasons[id], id)}})
		}
		level := "error"
		if r.Verdict == Unknown || r.Verdict == Vacuous {
			level = "warning"
		}
		text := r.title()
		for _, more := range []string{r.Message, r.Replay} {
			if more != "" {
				text += "\n" + more
			}
		}
		location := sarifLocation{Logical: []sarifLogical{{r.subject()}}}
		if r.File != "" {
			uri := url.URL{Path: filepath.ToSlash(filepath.Clean(r.File))}
			location.Physical = &sarifPhysical{Artifact: sarifArtifact{uri.String()}}
			if r.Line > 0 {
				location.Physical.Region = &sarifRegion{r.Line, r.Column}
			}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: id, RuleIndex: at, Level: level, Message: sarifText{text}, Locations: []sarifLocation{location},
			Fingerprints: map[string]string{"isrSim/v1": r.Scenario + "/" + r.Protocol + "/" + id},
		})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}
