package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/show/record"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed picture.html
	pictureHTML string
	//go:embed page.css
	css string
	//go:embed page.js
	js string

	templates = template.Must(template.Must(template.New("page").Parse(pageHTML)).Parse(pictureHTML))
)

// Command is a command for the reader to copy.
type Command struct{ Name, Text string }

const tableSteps = 250

// Page writes the report: HTML in one file. The commands run the recorded schedule again. There are none if only the
// store's own test can run it.
func Page(out io.Writer, r *record.Record, commands []Command) error {
	s := read(r)
	view := page{
		Picture: s.lay(chunkSteps), CSS: template.CSS(css),
		JS: template.JS(js), //nolint:gosec // both are files of this package
		Policy: "default-src 'none'; style-src '" + hash(css) + "'; script-src '" + hash(js) +
			"'; img-src data:; base-uri 'none'; form-action 'none'",
		Record: s.cleaned(), Commands: cleanCommands(commands), Data: s.data(), Decisive: s.decisive,
	}
	for i, a := range s.actors {
		view.Nodes = append(view.Nodes, choice{Lane: fmt.Sprint("a", i), Name: clean(a.name)})
	}
	view.Operations = slices.Compact(slices.Sorted(slices.Values(s.operations)))
	view.Operations = slices.DeleteFunc(view.Operations, func(name string) bool { return name == "" })
	for i, name := range view.Operations {
		view.Operations[i] = clean(name)
	}
	if s.decisive >= 0 {
		view.At = s.Steps[s.decisive].N
	}
	for i, step := range s.Steps {
		line := tableRow{N: step.N, Time: since(s.Start, step.Time), Who: clean(step.Lane), Kind: step.Kind,
			Text: clean(step.Text), Violated: i == s.decisive}
		if i < len(s.chances) {
			line.More = append(line.More, s.chance(i))
		}
		for _, c := range step.Changes {
			line.More = append(line.More, clean("row: "+c.Text))
		}
		for _, e := range step.Events {
			line.More = append(line.More, clean("client "+e.Actor+": "+e.Text))
		}
		if i%tableSteps == 0 {
			view.Tables = append(view.Tables, table{First: step.N})
		}
		last := &view.Tables[len(view.Tables)-1]
		last.Rows, last.End = append(last.Rows, line), step.N
	}
	return execute(out, "page", view)
}

// execute writes a page. The template writes each plus sign as five characters, because some browsers may take a page
// for UTF-7. Times have many plus signs. These pages name their encoding, so execute puts the plus signs back.
func execute(out io.Writer, name string, view any) error {
	var made bytes.Buffer
	if err := templates.ExecuteTemplate(&made, name, view); err != nil {
		return err
	}
	_, err := out.Write(bytes.ReplaceAll(made.Bytes(), []byte("&#43;"), []byte("+")))
	return err
}

// SVG writes only the picture, for a ticket.
func SVG(out io.Writer, r *record.Record) error {
	s := read(r)
	return templates.ExecuteTemplate(out, "svg",
		page{Picture: s.lay(len(s.Steps)), CSS: template.CSS(css)}) //nolint:gosec // as in Page
}

type page struct {
	Picture  *picture
	CSS      template.CSS
	JS       template.JS
	Policy   string
	Record   words
	Commands []Command
	Tables   []table
	// Nodes and Operations are the filters for steps.
	Nodes      []choice
	Operations []string
	Data       data
	Decisive   int
	At         int // the number of the decisive step
}

// choice is a lane by which steps can be filtered.
type choice struct{ Lane, Name string }

// words are the texts of a record, without the characters that pages must not have.
type words struct {
	Scenario, About, Protocol, Seed, Verdict, Why, Digest, Tool string
	Steps                                                       int
	Lasts                                                       string
	Invariant, Statement, Sentence                              string
	Lines                                                       []string
	Script                                                      []string
	NotSimulated                                                string
	Watched                                                     bool
	Needed                                                      string
	Causes                                                      []cause
	File                                                        string
}

// table is a part of the table of all steps. A browser lays out only the tables near the window.
type table struct {
	First, End int
	Rows       []tableRow
}

type tableRow struct {
	N                     int
	Time, Who, Kind, Text string
	More                  []string
	Violated              bool
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (s *story) cleaned() words {
	w := words{
		Scenario: clean(s.Scenario), About: clean(strings.Join(strings.Fields(s.About), " ")),
		Protocol: clean(s.Protocol), Seed: clean(s.Seed),
		Verdict: clean(s.Verdict), Why: clean(s.Why), Digest: clean(s.Digest), Tool: clean(s.Tool), Steps: len(s.Steps),
		NotSimulated: clean(strings.Join(s.NotSimulated, ", ")), Watched: s.Watched, Needed: needed(s.Record),
		Causes: s.causes(), Lasts: since(s.Start, s.Steps[len(s.Steps)-1].Time)[1:],
	}
	for _, a := range s.Actors {
		script := make([]string, len(a.Script))
		for i, c := range a.Script {
			script[i] = clean(c)
		}
		w.Script = append(w.Script, clean(a.Name)+": "+strings.Join(script, ", "))
	}
	if v := s.Violation; v != nil {
		w.Invariant, w.Statement, w.Sentence = clean(v.Invariant), clean(v.Statement), clean(v.Why)
		for _, line := range v.Lines {
			w.Lines = append(w.Lines, clean(line))
		}
	}
	for line := range strings.Lines(s.File) {
		w.File += clean(strings.TrimSuffix(line, "\n")) + "\n"
	}
	return w
}

func cleanCommands(commands []Command) []Command {
	clear := make([]Command, len(commands))
	for i, c := range commands {
		clear[i] = Command{clean(c.Name), clean(c.Text)}
	}
	return clear
}

// data has what the page's script shows about each step.
type data struct {
	Rows    []rowData            `json:"rows"`
	Changes map[int][]changeData `json:"changes"`
	Nodes   []string             `json:"nodes"`
	Stops   [][4]int             `json:"stops"` // lane, from, until, 1 for a crash
	Asks    [][4]int             `json:"asks"`  // lane, sent, effect, answer
	Calls   map[int]callData     `json:"calls"` // by step
	Words   []string             `json:"words"` // the texts of the calls
	Clocks  map[int]string       `json:"clocks"`
	Lane    []int                `json:"lane"`
	Matters []int                `json:"matters"`
	At      int                  `json:"at"`
	Begins  int                  `json:"begins"`
}

type rowData struct {
	Name  string `json:"name"`
	Table string `json:"table"`
}

// changeData is a row after a change: its attributes in words, if there are any.
type changeData struct {
	Row  int               `json:"row"`
	Gone bool              `json:"gone,omitempty"`
	Attr map[string]string `json:"attr,omitempty"`
}

// callData is a request to the store and its answer: the operation's name, then the members of the request, each with
// name and value, then those of the answer. Each number is a position in data.Words, which has each text once.
type callData [3][]int

func (s *story) data() data {
	d := data{
		Calls: map[int]callData{}, Words: []string{},
		Rows: []rowData{}, Changes: map[int][]changeData{}, Nodes: []string{}, Stops: [][4]int{}, Asks: [][4]int{},
		Clocks: map[int]string{}, Lane: s.lane, Matters: slices.Sorted(maps.Keys(s.matters)),
		At: s.decisive, Begins: s.begins,
	}
	for _, a := range s.actors {
		d.Nodes = append(d.Nodes, clean(strings.TrimSpace(a.name+" "+a.clock)))
	}
	for _, r := range s.rows {
		d.Rows = append(d.Rows, rowData{clean(r.name), clean(r.changes[0].change.Table)})
	}
	places := map[string]int{}
	place := func(text string) int {
		text = clean(text)
		at, known := places[text]
		if !known {
			at = len(d.Words)
			places[text], d.Words = at, append(d.Words, text)
		}
		return at
	}
	for i := range s.Steps {
		for _, c := range s.changed[i] {
			d.Changes[i] = append(d.Changes[i], s.changeData(c))
		}
		if c := s.Steps[i].Call; c != nil {
			d.Calls[i] = s.callData(c, place)
		}
		if s.Steps[i].Kind == "clock-step" {
			d.Clocks[i] = clean(s.Steps[i].Text)
		}
	}
	for _, st := range s.stops {
		crashed := 0
		if st.crashed {
			crashed = 1
		}
		d.Stops = append(d.Stops, [4]int{st.lane, st.from, st.until, crashed})
	}
	for _, r := range s.requests {
		d.Asks = append(d.Asks, [4]int{r.lane, r.sent, r.effect, r.answer})
	}
	return d
}

func (s *story) callData(c *record.Call, place func(string) int) callData {
	made := callData{{place(c.Operation)}, {}, {}}
	// members adds the members of a value, each under the path that leads to it, in the order of their names. An
	// attribute counts as one member.
	var members func(to *[]int, path, name string, v any, units map[string]string)
	members = func(to *[]int, path, name string, v any, units map[string]string) {
		parts, ok := v.(map[string]any)
		list, isList := v.([]any)
		text, isText := v.(string)
		_, _, isAttribute := record.Typed(v)
		switch {
		case v == nil:
		case isList:
			for i, e := range list {
				members(to, fmt.Sprintf("%s %d", path, i+1), name, e, units)
			}
		case ok && !isAttribute:
			if parts["ExpressionAttributeValues"] != nil {
				units = s.unitsOfValues(parts)
			}
			for _, name := range slices.Sorted(maps.Keys(parts)) {
				members(to, strings.TrimSpace(path+" "+name), name, parts[name], units)
			}
		case isText:
			*to = append(*to, place(path), place(text))
		default:
			*to = append(*to, place(path), place(s.value(v, units[name])))
		}
	}
	members(&made[1], "", "", c.Request, s.Times)
	members(&made[2], "", "", c.Answer, s.Times)
	switch {
	case c.Error != "":
		made[2] = append(made[2], place("error"), place(c.Error))
	case len(made[2]) == 0:
		made[2] = append(made[2], place("answer"), place("without members"))
	}
	return made
}

var (
	comparedToValue = regexp.MustCompile(`([#\w.\]-]+)\s*(?:=|<>|<=|>=|<|>)\s*(:\w+)(\s*[-+])?`)
	comparedToName  = regexp.MustCompile(`(:\w+)\s*(?:=|<>|<=|>=|<|>)\s*([#\w.[-]+)`)
)

// unitsOfValues returns the units of attributes and of values: if a request compares a value with an attribute, or
// assigns it to one, the value has the attribute's unit.
func (s *story) unitsOfValues(request map[string]any) map[string]string {
	units := maps.Clone(s.Times)
	names, _ := request["ExpressionAttributeNames"].(map[string]any)
	note := func(name, value string) {
		if of, ok := names[name].(string); ok {
			name = of
		}
		u := s.Times[name]
		if old, known := units[value]; known && old != u {
			u = "" // the value is compared with something else, too
		}
		if units != nil {
			units[value] = u
		}
	}
	for _, name := range slices.Sorted(maps.Keys(request)) {
		text, _ := request[name].(string)
		if !strings.HasSuffix(name, "Expression") {
			continue
		}
		for _, m := range comparedToValue.FindAllStringSubmatch(text, -1) {
			if m[3] != "" { // a sum
				m[1] = ""
			}
			note(m[1], m[2])
		}
		for _, m := range comparedToName.FindAllStringSubmatch(text, -1) {
			note(m[2], m[1])
		}
	}
	return units
}

func (s *story) changeData(c place) changeData {
	made := changeData{Row: c.row, Gone: c.change.After == nil, Attr: map[string]string{}}
	//isrsim:unordered each attribute by itself
	for name, v := range c.change.After {
		if _, key := c.change.Key[name]; key {
			continue
		}
		unit := ""
		if len(c.change.Means) > 0 { // in a row without a role, an attribute of this name may mean anything
			unit = s.Times[name]
		}
		made.Attr[clean(name)] = clean(s.value(v, unit))
	}
	return made
}

// value prints an attribute: text and numbers as they are, other values with their type. A time of known unit within a
// year of the run is also shown as a time of the run.
func (s *story) value(v any, unit string) string {
	typed, ok := v.(map[string]any)
	if ok && len(typed) == 1 {
		for _, kind := range []string{"S", "N"} {
			text, is := typed[kind].(string)
			if !is {
				continue
			}
			const year = 365 * 24 * time.Hour
			if at, known := rowmap.Parse(text, unit); unit != "" && known && at.Sub(s.Start).Abs() < year {
				return text + " (" + since(s.Start, at) + ")"
			}
			return text
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// Entry is a report to which an index links.
type Entry struct {
	Link   string // relative to the index, with slashes
	Record *record.Record
}

// Index writes a page that links to reports. The reports of violated runs come first. The parameter campaign is the
// address of a page that Campaigns wrote; "" if there is none.
func Index(out io.Writer, entries []Entry, campaign string) error {
	type line struct {
		Link string
		words
	}
	view := struct {
		CSS      template.CSS
		Policy   string
		Lines    []line
		Violated int
		Campaign string
	}{Campaign: campaign, CSS: template.CSS(css), Policy: "default-src 'none'; style-src '" + hash(css) +
		"'; base-uri 'none'; form-action 'none'"} //nolint:gosec // a file of this package
	var rest []line
	for _, e := range entries {
		of := line{e.Link, read(e.Record).cleaned()}
		if e.Record.Violation != nil {
			view.Lines = append(view.Lines, of)
		} else {
			rest = append(rest, of)
		}
	}
	view.Violated = len(view.Lines)
	view.Lines = append(view.Lines, rest...)
	return templates.ExecuteTemplate(out, "index", view)
}
