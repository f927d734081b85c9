package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The measures of the picture, in pixels.
const (
	stepHeight  = 22
	headHeight  = 46
	gutterWidth = 92
	chanceWidth = 56
	laneWidth   = 64
	rowWidth    = 58
	textWidth   = 760
	maxText     = 84
	chunkSteps  = 100
)

// picture is a story with places.
type picture struct {
	Width, Height, Body int
	Graph               int // the width without the words
	Title, Description  string
	Heads               []head
	Chunks              []chunk
	bands               []band
	steps               []row
}

// chunk is a part of the picture. A browser lays out and paints those in view only.
type chunk struct {
	Height, Width, Graph int
	Last                 bool
	Heads                []head
	Bands                []band
	Steps                []row
	Lines                []line // of requests that begin before it, or end after it
}

// head is the name above a lane.
type head struct {
	X, Half    int
	Class      string
	Name, Note string
	Lane       string // as filters name it
}

// band is a rectangle in a lane.
type band struct {
	X, Y, Width, Height int
	Class, Label        string
	Name                string // written into it
}

// row is a step of the picture, and what its filters and its reader's cursor need.
type row struct {
	N, Y, Mid, Base int
	Back            bool // it has a colour behind it
	Class           string
	Time, Who       string
	Text, Whole     string
	Lanes           string
	Line            bool // across all lanes: time moves
	Lines           []line
	Marks           []mark
	Chance          *bar
}

// bar is the chance of the violation after a step: part of a width, drawn beside the step.
type bar struct {
	X, Y, Width int
	Label       string
}

// line is an arrow.
type line struct {
	X1, Y1, X2, Y2 int
	Class          string
}

// mark is a sign on a lane: a letter of its shape, and its name for those who do not see it.
type mark struct {
	X, Base     int
	Class, Sign string
}

// lay gives all of a story its place, in chunks of so many steps.
func (s *story) lay(chunkSteps int) *picture {
	p := &picture{Graph: s.gutter() + len(s.actors)*laneWidth + laneWidth + len(s.tracks)*rowWidth}
	p.Width, p.Body = p.Graph+textWidth, len(s.Steps)*stepHeight
	p.Height = headHeight + p.Body + stepHeight/2
	p.Title = clean(s.Scenario + " under " + s.Protocol + ": " + s.Verdict)
	if s.Violation != nil {
		p.Description = clean(s.Violation.Why)
	}
	if s.chances != nil {
		p.Heads = append(p.Heads, head{X: gutterWidth + chanceWidth/2 - 4, Half: chanceWidth/2 - 4, Class: "chance", Name: "chance", Note: "of it"})
	}
	for i, a := range s.actors {
		p.Heads = append(p.Heads, head{X: s.actorX(i), Half: laneWidth/2 - 3, Class: "actor", Name: shorten(clean(a.name), 10), Note: shorten(clean(a.clock), 11), Lane: "a" + fmt.Sprint(i)})
	}
	p.Heads = append(p.Heads, head{X: s.storeX(), Half: laneWidth/2 - 3, Class: "store", Name: "store", Lane: "s"})
	for i, t := range s.tracks {
		first, rest, _ := strings.Cut(clean(t.name), " of ")
		p.Heads = append(p.Heads, head{X: s.rowX(i), Half: rowWidth/2 - 2, Class: "row", Name: shorten(first, 9), Note: shorten(rest, 9), Lane: "r" + fmt.Sprint(i)})
	}
	for i := range s.rows {
		s.bands(p, &s.rows[i])
	}
	for _, st := range s.stops {
		class := "stop paused"
		if st.crashed {
			class = "stop crashed"
		}
		p.bands = append(p.bands, band{X: s.actorX(st.lane) - 9, Y: y(st.from), Width: 18, Height: max((st.until-st.from)*stepHeight, 6), Class: class, Label: strings.TrimPrefix(class, "stop ")})
	}
	for _, c := range s.calls {
		class := "call"
		if c.open {
			class = "call open"
		}
		label := clean(c.label)
		if c.unexplained {
			class, label = "call unexplained", label+": no order of the operations on its key explains it"
		}
		p.bands = append(p.bands, band{X: s.actorX(c.lane) - 5, Y: y(c.from), Width: 10, Height: max((c.until-c.from)*stepHeight, 6), Class: class, Label: label})
		if c.moment >= 0 {
			p.bands = append(p.bands, band{
				X: s.actorX(c.lane) - 8, Y: y(0) + int(c.moment*stepHeight) - 2, Width: 16, Height: 4, Class: "moment",
				Label: fmt.Sprintf("%s: the moment of its effect, place %d of %d in an order that explains the answers", clean(c.label), c.place, c.places),
			})
		}
	}
	p.steps = make([]row, len(s.Steps))
	for i := range s.Steps {
		p.steps[i] = s.row(i)
	}
	for _, r := range s.requests {
		s.draw(p, r)
	}
	p.cut(chunkSteps)
	return p
}

// cut makes the chunks, each with heights of its own. What reaches over an edge is in all that it touches.
func (p *picture) cut(size int) {
	high := size * stepHeight
	for from := 0; from < len(p.steps); from += size {
		to := min(from+size, len(p.steps))
		c := chunk{Height: (to - from) * stepHeight, Width: p.Width, Graph: p.Graph, Last: to == len(p.steps), Heads: p.Heads, Steps: p.steps[from:to]}
		for i := range c.Steps {
			c.Steps[i].lift(len(p.Chunks) * high)
		}
		p.Chunks = append(p.Chunks, c)
	}
	for _, b := range p.bands {
		for i := b.Y / high; i <= min(max(b.Y+b.Height-1, b.Y)/high, len(p.Chunks)-1); i++ {
			part := b
			part.Y -= i * high
			p.Chunks[i].Bands = append(p.Chunks[i].Bands, part)
		}
	}
	for i, step := range p.steps {
		own := i / size
		for _, l := range step.Lines {
			for at := (l.Y1 + own*high) / high; at < own; at++ { // lines end where they belong, and may begin before
				part := l
				part.Y1 += (own - at) * high
				part.Y2 += (own - at) * high
				p.Chunks[at].Lines = append(p.Chunks[at].Lines, part)
			}
		}
	}
}

// lift moves a step up.
func (r *row) lift(by int) {
	r.Y, r.Mid, r.Base = r.Y-by, r.Mid-by, r.Base-by
	if r.Chance != nil {
		r.Chance.Y -= by
	}
	for i := range r.Lines {
		r.Lines[i].Y1, r.Lines[i].Y2 = r.Lines[i].Y1-by, r.Lines[i].Y2-by
	}
	for i := range r.Marks {
		r.Marks[i].Base -= by
	}
}

// bands draws when a row was there, held, or fresh.
func (s *story) bands(p *picture, r *rowLane) {
	x := s.rowX(r.track)
	for k, c := range r.changes {
		if c.change.After == nil || s.tracks[r.track].shared {
			continue
		}
		until := len(s.Steps)
		if k+1 < len(r.changes) {
			until = r.changes[k+1].step
		}
		p.bands = append(p.bands, band{X: x - 2, Y: y(c.step), Width: 4, Height: (until - c.step) * stepHeight, Class: "there", Label: "the row is there"})
	}
	for _, sp := range r.spans {
		height := max((sp.until-sp.from)*stepHeight, 5)
		p.bands = append(p.bands, band{X: x - 13, Y: y(sp.from), Width: 26, Height: height, Class: "band " + sp.role, Label: clean(sp.label), Name: fit(sp.name, height)})
	}
}

// gutter is the width of what stands before the lanes.
func (s *story) gutter() int {
	if s.chances == nil {
		return gutterWidth
	}
	return gutterWidth + chanceWidth
}

func (s *story) actorX(i int) int { return s.gutter() + i*laneWidth + laneWidth/2 }
func (s *story) storeX() int      { return s.gutter() + len(s.actors)*laneWidth + laneWidth/2 }
func (s *story) rowX(i int) int {
	return s.gutter() + (len(s.actors)+1)*laneWidth + i*rowWidth + rowWidth/2
}

// y is the middle of a step.
func y(step int) int { return step*stepHeight + stepHeight/2 }

// signs are the shapes of steps that are no requests: each can be told from the others without its colour.
var signs = map[string]string{
	"start": "▷", "response": "•", "timer": "◔", "resume": "▶", "restart": "↻", "pause": "‖", "crash": "✕", "clock-step": "±", "external": "▽",
	"call": "▷", "answer": "•", "note": "○",
}

// classOf is the class of a sign; those that have the ink's own colour have no other one.
func classOf(kind string) string {
	switch kind {
	case "pause", "resume", "crash", "clock-step":
		return "sign " + kind
	default:
		return "sign"
	}
}

// verb stands between a node and what it does.
func verb(kind string) string {
	switch kind {
	case "effect", "orphan", "call":
		return " → "
	case "response", "answer":
		return " ← "
	case "pause":
		return " pauses "
	default:
		return " "
	}
}

func (s *story) row(i int) row {
	step := s.Steps[i]
	r := row{
		N: step.N, Y: i * stepHeight, Mid: y(i), Base: y(i) + 4, Class: "step", Time: since(s.Start, step.Time), Who: clean(step.Lane),
		Whole: clean(step.Text), Line: step.Kind == "tick",
	}
	r.Text = shorten(r.Who+verb(step.Kind)+r.Whole, maxText)
	if step.Visit {
		r.Class += " visit"
	}
	if s.matters[i] {
		r.Class += " matters"
		r.Back = true
	}
	lanes := []string{}
	if l := s.lane[i]; l >= 0 {
		lanes = append(lanes, fmt.Sprint("a", l))
	}
	if i == s.decisive {
		r.Class += " decisive"
		r.Back = true
	}
	if i < len(s.chances) {
		r.Chance = &bar{X: gutterWidth, Y: r.Y, Width: int(math.Round(s.chances[i] * (chanceWidth - 8))), Label: s.chance(i)}
	}
	if sign := signs[step.Kind]; sign != "" && s.lane[i] >= 0 {
		r.Marks = append(r.Marks, mark{s.actorX(s.lane[i]), r.Base + 1, classOf(step.Kind), sign})
	}
	if step.Kind == "external" {
		lanes = append(lanes, "s")
		r.Marks = append(r.Marks, mark{s.storeX(), r.Base + 1, "sign", signs["external"]})
	}
	for _, c := range s.changed[i] {
		track := s.rows[c.row].track
		if lane := fmt.Sprint("r", track); !slices.Contains(lanes, lane) {
			lanes = append(lanes, lane)
		}
		sign, class := "◆", "sign"
		switch {
		case c.change.After == nil && c.change.Cause == "ttl":
			sign, class = "▼", "sign ttl"
		case c.change.After == nil:
			sign, class = "◇", "sign"
		}
		r.Lines = append(r.Lines, line{s.storeX() + 6, r.Mid, s.rowX(track) - 7, r.Mid, "write"})
		r.Marks = append(r.Marks, mark{s.rowX(track), r.Base + 1, class, sign})
	}
	r.Lanes = strings.Join(lanes, " ")
	return r
}

// draw draws a request: to the store, where it takes effect, and back.
func (s *story) draw(p *picture, r request) {
	at := &p.steps[r.effect]
	sign, class := "●", "sign"
	if r.refused {
		sign, class = "⊗", "sign refused"
	}
	if r.orphan {
		class += " orphan"
	}
	at.Marks = append(at.Marks, mark{s.storeX(), at.Base + 1, class, sign})
	at.Lanes += " s"
	if r.lane < 0 {
		return
	}
	x := s.actorX(r.lane)
	if r.sent >= 0 {
		at.Lines = append(at.Lines, line{x, y(r.sent), s.storeX() - 6, at.Mid, "ask"})
	}
	if r.answer > r.effect {
		back := &p.steps[r.answer]
		back.Lines = append(back.Lines, line{s.storeX(), at.Mid, x + 6, back.Mid, "answer"})
	}
}

// fit leaves as much of a name as can be written along so many pixels; nothing of it if that were too little.
func fit(name string, pixels int) string {
	if letters := (pixels - 16) / 6; letters >= 4 {
		return shorten(clean(name), letters)
	}
	return ""
}

// shorten leaves so many letters of a text.
func shorten(text string, letters int) string {
	if utf8.RuneCountInString(text) <= letters {
		return text
	}
	return string([]rune(text)[:letters-1]) + "…"
}

// clean replaces what no page and no picture may hold, such as control characters and directions of writing, by signs.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case r == utf8.RuneError, r >= 0xfffe && r <= 0xffff, unicode.Is(unicode.Cf, r), r >= 0x80 && r < 0xa0:
			return '\ufffd'
		}
		return r
	}, text)
}
