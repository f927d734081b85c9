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
	chanceWidth = 56
	laneWidth   = 64
	rowWidth    = 58
	wordsGap    = 8
	nameWidth   = 104 // the width of a line of a head, unless the head would get too many lines
	textWidth   = 760
	maxText     = 84
	chunkSteps  = 100
)

// picture is a story whose lanes, steps and arrows have coordinates.
type picture struct {
	Width, Height, Body int
	Graph               int // the width without the texts of the steps
	Numbers, Times      int // where the steps' numbers end, and where their times begin
	Gutter              int // the width of numbers and times
	Head, Across        int // the height of the heads, and their width if time runs across the page
	actorX, rowX        []int
	storeX              int
	Title, Description  string
	Heads               []head
	Chunks              []chunk
	bands               []band
	steps               []row
}

// End is where lines across all lanes end.
func (p *picture) End() int { return p.Graph - wordsGap }

// chunk is a part of the picture. A browser lays out and paints only the visible chunks.
type chunk struct {
	*picture
	Height int
	Last   bool
	Bands  []band
	Steps  []row
	Lines  []line // the lines of requests that begin in this or an earlier chunk and end in a later one
}

// head is the full name above a lane: a long name has several lines.
type head struct {
	X     int
	Class string
	Lines []headLine
	Lane  string // its name in filters
}

type headLine struct {
	Y          int
	Text, Note string // one of the two
}

// newHead returns a head without its position.
func newHead(class, lane, name, note string) head {
	h := head{Class: class, Lane: lane}
	y := 4
	for _, line := range wrapped(name, nameWidth, headSize) {
		y += 14
		h.Lines = append(h.Lines, headLine{Y: y, Text: line})
	}
	for i, line := range wrapped(note, nameWidth, noteSize) {
		y += 13
		if i == 0 {
			y += 3
		}
		h.Lines = append(h.Lines, headLine{Y: y, Note: line})
	}
	return h
}

// high is the height of a head. If time runs across the page, it is the head's width.
func (h *head) high() int {
	if len(h.Lines) == 0 {
		return 0
	}
	return h.Lines[len(h.Lines)-1].Y + 12
}

// wide is the width of the widest line of a head.
func (h *head) wide() int {
	width := 0.0
	for _, line := range h.Lines {
		width = max(width, widthOf(line.Text, headSize), widthOf(line.Note, noteSize))
	}
	return int(width)
}

// band is a rectangle in a lane.
type band struct {
	X, Y, Width, Height int
	Class, Label        string
	Name                []string // along the band on one line or, if it is too short, across it on several
	Wide                bool     // the name is written across
	Mid                 int      // its middle
}

// At is the position of a line of the name, from the beginning of the band.
func (b *band) At(line int) int { return 15 + 11*line }

// row is a step of the picture, with its data for the filters and the reader's cursor.
type row struct {
	N, Y, Mid, Base int
	Back            bool // the step has a coloured background
	Class           string
	Time, Who       string
	Text, Whole     string
	Lanes           string
	Operation       string // the operation that the step is a part of, as the filter names it
	Line            bool   // a line across all lanes, because time moves
	Lines           []line
	Marks           []mark
	Chance          *bar
}

// bar shows the chance of the violation after a step, as a bar beside the step.
type bar struct {
	X, Y, Width int
	Label       string
}

// line is an arrow.
type line struct {
	X1, Y1, X2, Y2 int
	Class          string
}

// mark is a sign on a lane. Its shape is a letter, and it has a name for readers who cannot see it.
type mark struct {
	X, Base     int
	Class, Sign string
}

// lay gives every part of a story its position, in chunks of chunkSteps steps.
func (s *story) lay(chunkSteps int) *picture {
	p := &picture{Body: len(s.Steps) * stepHeight}
	p.Title = clean(s.Scenario + " under " + s.Protocol + ": " + s.Verdict)
	if s.Violation != nil {
		p.Description = clean(s.Violation.Why)
	}
	s.lanes(p)
	p.Width, p.Height = p.Graph+textWidth, p.Head+p.Body+stepHeight/2
	for i := range s.rows {
		s.bands(p, i)
	}
	for _, st := range s.stops {
		class := "stop paused"
		if st.crashed {
			class = "stop crashed"
		}
		p.bands = append(p.bands, band{X: p.actorX[st.lane] - 9, Y: y(st.from), Width: 18,
			Height: max((st.until-st.from)*stepHeight, 6), Class: class, Label: strings.TrimPrefix(class, "stop ")})
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
		p.bands = append(p.bands, band{X: p.actorX[c.lane] - 5, Y: y(c.from), Width: 10,
			Height: max((c.until-c.from)*stepHeight, 6), Class: class, Label: label})
		if c.moment >= 0 {
			p.bands = append(p.bands, band{
				X: p.actorX[c.lane] - 8, Y: y(0) + int(c.moment*stepHeight) - 2, Width: 16, Height: 4, Class: "moment",
				Label: fmt.Sprintf("%s: the moment of its effect, place %d of %d in an order that explains the answers",
					clean(c.label), c.place, c.places),
			})
		}
	}
	p.steps = make([]row, len(s.Steps))
	for i := range s.Steps {
		p.steps[i] = s.row(p, i)
	}
	for _, r := range s.requests {
		s.draw(p, r)
	}
	p.cut(chunkSteps)
	return p
}

// cut makes the chunks. In each chunk, heights count from its top. A shape that crosses an edge is in every chunk that
// it touches.
func (p *picture) cut(size int) {
	high := size * stepHeight
	for from := 0; from < len(p.steps); from += size {
		to := min(from+size, len(p.steps))
		c := chunk{picture: p, Height: (to - from) * stepHeight, Last: to == len(p.steps), Steps: p.steps[from:to]}
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
			// A line that begins in an earlier chunk is drawn in each chunk up to its end.
			for at := (l.Y1 + own*high) / high; at < own; at++ {
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

// lanes places the lanes. Each is as wide as its head and the names in it need.
func (s *story) lanes(p *picture) {
	numbers, times := 0.0, 0.0
	for i := range s.Steps {
		numbers = max(numbers, widthOf(fmt.Sprint(s.Steps[i].N), stepSize))
		times = max(times, widthOf(since(s.Start, s.Steps[i].Time), stepSize))
	}
	p.Numbers = max(30, int(numbers)+6)
	p.Times = p.Numbers + 8
	p.Gutter = max(92, p.Times+int(times)+10)
	p.Across = 92
	at := p.Gutter
	lane := func(least int, h head, width int) int {
		// If time runs across the page, the head's lines are in this width.
		width = max(least, width, h.wide()+12, 14*len(h.Lines)+8)
		h.X = at + width/2
		at += width
		p.Heads = append(p.Heads, h)
		p.Head = max(p.Head, h.high(), 46)
		p.Across = max(p.Across, h.wide()+12)
		return h.X
	}
	if s.chances != nil {
		lane(chanceWidth, newHead("chance", "", "chance", "of it"), 0)
	}
	for i, a := range s.actors {
		p.actorX = append(p.actorX,
			lane(laneWidth, newHead("actor", fmt.Sprint("a", i), clean(a.name), clean(a.clock)), 0))
	}
	p.storeX = lane(laneWidth, newHead("store", "s", "store", ""), 0)
	for i, t := range s.tracks {
		first, rest, _ := strings.Cut(clean(t.name), " of ")
		width := 0
		for k := range s.rows {
			if s.rows[k].track == i {
				width = max(width, s.rows[k].named())
			}
		}
		p.rowX = append(p.rowX, lane(rowWidth, newHead("row", fmt.Sprint("r", i), first, rest), width))
	}
	p.Graph = at + wordsGap
}

// bands draws when a row existed, was held, or was fresh.
func (s *story) bands(p *picture, i int) {
	r := &s.rows[i]
	x := p.rowX[r.track]
	for k, c := range r.changes {
		if c.change.After == nil || s.tracks[r.track].shared {
			continue
		}
		until := len(s.Steps)
		if k+1 < len(r.changes) {
			until = r.changes[k+1].step
		}
		p.bands = append(p.bands, band{X: x - 2, Y: y(c.step), Width: 4, Height: (until - c.step) * stepHeight,
			Class: "there", Label: "the row is there"})
	}
	for _, sp := range r.spans {
		b := band{X: x - 13, Y: y(sp.from), Width: 26, Height: sp.height(), Class: "band " + sp.role,
			Label: clean(sp.label), Mid: x}
		b.Name, b.Wide = sp.written()
		p.bands = append(p.bands, b)
	}
}

func (sp *span) height() int { return max((sp.until-sp.from)*stepHeight, 5) }

// written returns the name of a span as its band shows it: along the band if there is room, and otherwise across it.
func (sp *span) written() (lines []string, wide bool) {
	name := clean(sp.name)
	switch room := float64(sp.height() - 18); {
	case name == "" || sp.from == sp.until:
		return nil, false
	case widthOf(name, noteSize) <= room:
		return []string{name}, false
	default:
		return wrappedTo(name, max(1, min(int(room)/11, int(widthOf(name, noteSize)/rowWidth))), noteSize), true
	}
}

// named is the width that the names in a row's bands need.
func (r *rowLane) named() int {
	width := 0.0
	for i := range r.spans {
		if lines, wide := r.spans[i].written(); wide {
			for _, line := range lines {
				width = max(width, widthOf(line, noteSize)+8)
			}
		}
	}
	return int(width)
}

// y is the middle of a step.
func y(step int) int { return step*stepHeight + stepHeight/2 }

// signs are the shapes of steps that are not requests. Colour is not their only difference.
var signs = map[string]string{
	"start": "▷", "response": "•", "timer": "◔", "resume": "▶", "restart": "↻", "pause": "‖", "crash": "✕",
	"clock-step": "±", "external": "▽", "call": "▷", "answer": "•", "note": "○",
}

// classOf is the CSS class of a sign; signs in the colour of text have none.
func classOf(kind string) string {
	switch kind {
	case "pause", "resume", "crash", "clock-step":
		return "g " + kind
	default:
		return "g"
	}
}

// verb is the text between a node and its action.
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

func (s *story) row(p *picture, i int) row {
	step := s.Steps[i]
	r := row{
		N: step.N, Y: i * stepHeight, Mid: y(i), Base: y(i) + 4, Class: "step", Time: since(s.Start, step.Time),
		Who: clean(step.Lane), Whole: clean(step.Text), Line: step.Kind == "tick", Operation: clean(s.operations[i]),
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
		r.Chance = &bar{
			X: p.Gutter, Y: r.Y, Width: int(math.Round(s.chances[i] * (chanceWidth - 8))), Label: s.chance(i),
		}
	}
	if sign := signs[step.Kind]; sign != "" && s.lane[i] >= 0 {
		r.Marks = append(r.Marks, mark{p.actorX[s.lane[i]], r.Base + 1, classOf(step.Kind), sign})
	}
	if step.Kind == "external" {
		lanes = append(lanes, "s")
		r.Marks = append(r.Marks, mark{p.storeX, r.Base + 1, "g", signs["external"]})
	}
	for _, c := range s.changed[i] {
		track := s.rows[c.row].track
		if lane := fmt.Sprint("r", track); !slices.Contains(lanes, lane) {
			lanes = append(lanes, lane)
		}
		sign, class := "◆", "g"
		switch {
		case c.change.After == nil && c.change.Cause == "ttl":
			sign, class = "▼", "g ttl"
		case c.change.After == nil:
			sign, class = "◇", "g"
		}
		r.Lines = append(r.Lines, line{p.storeX + 6, r.Mid, p.rowX[track] - 7, r.Mid, "write"})
		r.Marks = append(r.Marks, mark{p.rowX[track], r.Base + 1, class, sign})
	}
	r.Lanes = strings.Join(lanes, " ")
	return r
}

// draw draws a request: its way to the store, where it takes effect, and back.
func (s *story) draw(p *picture, r request) {
	at := &p.steps[r.effect]
	sign, class := "●", "g"
	if r.refused {
		sign, class = "⊗", "g refused"
	}
	if r.orphan {
		class += " orphan"
	}
	at.Marks = append(at.Marks, mark{p.storeX, at.Base + 1, class, sign})
	at.Lanes += " s"
	if r.lane < 0 {
		return
	}
	x := p.actorX[r.lane]
	if r.sent >= 0 {
		at.Lines = append(at.Lines, line{x, y(r.sent), p.storeX - 6, at.Mid, "ask"})
	}
	if r.answer > r.effect {
		back := &p.steps[r.answer]
		back.Lines = append(back.Lines, line{p.storeX, at.Mid, x + 6, back.Mid, "r"})
	}
}

// shorten cuts a text to the given number of letters.
func shorten(text string, letters int) string {
	if utf8.RuneCountInString(text) <= letters {
		return text
	}
	return string([]rune(text)[:letters-1]) + "…"
}

// clean replaces characters that pages and pictures must not have, such as controls and directions of writing, by
// visible signs.
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
