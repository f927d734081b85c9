package mcp

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

// Answer is the answer of a tool. The exit code is the command's: 0 as expected, 1 violated, 2 a mistake, 3 unknown.
type Answer struct {
	verdicts.Document

	// Text is what the command prints for people, or its beginning. Rest says how the tool read gets the rest.
	Text string `json:"text"`
	Rest *Rest  `json:"rest,omitempty"`
	// Moved names the parts of the answer that were too long: they are at the beginning of the text, as JSON.
	Moved       []string            `json:"moved,omitempty"`
	State       *State              `json:"state,omitempty"`
	Explanation *record.Explanation `json:"explanation,omitempty"`
	Suggestion  *Suggestion         `json:"suggestion,omitempty"`
	Error       *CallError          `json:"error,omitempty"`
}

// Rest describes the rest of a text: the arguments of the tool read, and the length of the whole.
type Rest struct {
	Answer int `json:"answer"`
	Offset int `json:"offset"`
	Of     int `json:"of"`
}

// CallError says why a call has no result.
type CallError struct {
	Kind    Kind   `json:"kind" jsonschema:"enum=bad-arguments,enum=outside,enum=not-allowed,enum=cancelled,enum=failed"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Kind is the kind of a CallError.
type Kind string

// The kinds of problems.
const (
	BadArguments Kind = "bad-arguments" // the call, or a file that it names, is wrong
	Outside      Kind = "outside"       // a path leads out of the server's folder
	NotAllowed   Kind = "not-allowed"   // a program that --allow does not name
	Cancelled    Kind = "cancelled"     // the client has given up the call
	Failed       Kind = "failed"        // the server could not do it
)

// Error implements error.
func (p *CallError) Error() string { return string(p.Kind) + ": " + p.Message }

// answerSchema is the schema of Answer, made by a test of internal/rules/schemas.
//
//go:embed answer.schema.json
var answerSchema json.RawMessage

const (
	maxAnswer  = 19_500 // bytes of a result, which has the answer as values and as text; 20 KB with its envelope
	maxPart    = 3_000  // bytes of each part besides the text
	maxAnswers = 20     // the number of answers whose texts are kept for read
)

// whole is the answer of a call. A text that does not fit is kept for read.
func (s *Server) whole(a *Answer) *mcp.CallToolResult {
	a.Format = 1
	if a.Results == nil {
		a.Results = []verdicts.Result{}
	}
	for i := range a.Results {
		a.Results[i].Details = "" // they are in the text
	}
	a.move("results", len(a.Results) > 0, a.Results, func() {
		a.Results = slices.DeleteFunc(a.Results, func(r verdicts.Result) bool { return r.Passed })
		if size(a.Results) > maxPart {
			a.Results = a.Results[:min(3, len(a.Results))]
		}
	})
	a.move("explanation", a.Explanation != nil, a.Explanation, func() { a.Explanation = nil })
	a.move("state", a.State != nil, a.State, func() { a.State = nil })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, a.Text)
	if old := len(s.texts) - maxAnswers; old > 0 {
		s.texts[old-1] = ""
	}
	return page(a, len(s.texts), 0, a.Text)
}

// move moves a part that is too long to the beginning of the text.
func (a *Answer) move(name string, is bool, part any, leaveOut func()) {
	if !is || size(part) <= maxPart {
		return
	}
	text, _ := json.Marshal(part) // it always succeeds: the types are made for JSON
	a.Text = fmt.Sprintf("%s: %s\n\n%s", name, text, a.Text)
	a.Moved = append(a.Moved, name)
	leaveOut()
}

func size(part any) int {
	text, _ := json.Marshal(part) // as above
	return len(text)
}

// page is an answer with as much of its text as fits, from an offset on.
func page(a *Answer, answer, offset int, text string) *mcp.CallToolResult {
	rest := text[offset:]
	for most := min(len(rest), maxAnswer/2); ; {
		a.Text, a.Rest = rest[:most], nil
		if most < len(rest) {
			if line := strings.LastIndexByte(a.Text, '\n'); line > most/2 {
				a.Text = a.Text[:line+1]
			}
			for !utf8.ValidString(a.Text) && !utf8.RuneStart(rest[len(a.Text)]) {
				a.Text = a.Text[:len(a.Text)-1]
			}
			a.Rest = &Rest{Answer: answer, Offset: offset + len(a.Text), Of: len(text)}
		}
		values, _ := json.Marshal(a)
		r := &mcp.CallToolResult{StructuredContent: json.RawMessage(values), IsError: a.Error != nil,
			Content: []mcp.Content{&mcp.TextContent{Text: string(values)}}}
		over := size(r) - maxAnswer
		if over <= 0 || most == 0 {
			return r
		}
		most = max(0, most-over/4-50)
	}
}

// again answers a call of the tool read.
func (s *Server) again(in map[string]any) (*mcp.CallToolResult, error) {
	number, _ := in["answer"].(float64)
	offset, _ := in["offset"].(float64)
	s.mu.Lock()
	defer s.mu.Unlock()
	n, at := int(number), int(offset)
	if n < 1 || n > len(s.texts) || at < 0 || at > len(s.texts[n-1]) {
		return nil, &CallError{Kind: BadArguments, Message: fmt.Sprintf("found no offset %d of an answer %d", at, n),
			Hint: fmt.Sprintf("rest names both; the last %d answers are kept", maxAnswers)}
	}
	a := &Answer{Document: verdicts.Document{Format: 1, Version: s.Version, Command: "read",
		Results: []verdicts.Result{}}}
	return page(a, n, at, s.texts[n-1]), nil
}
