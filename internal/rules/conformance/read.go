package conformance

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// files has one file per topic, and names.txt: short names of sources and reasons.
//
//go:embed cases/*.txt
var files embed.FS

// Cases returns all cases, by topic, in the order of their files. It panics if a file cannot be read: that is a mistake
// in this package, which every run shows.
func Cases() []Case { return slices.Clone(read()) }

var read = sync.OnceValue(func() []Case {
	all, err := readCases(files, topics)
	if err != nil {
		panic(err)
	}
	return all
})

func readCases(from fs.FS, topics []string) ([]Case, error) {
	r := &reader{names: map[string]string{}}
	for _, topic := range slices.Concat([]string{"names"}, topics) {
		if err := r.file(from, topic); err != nil {
			return nil, err
		}
	}
	return r.cases, nil
}

// reader reads files of cases.
type reader struct {
	cases  []Case
	names  map[string]string // by their use and the short name, as "source api/"
	topic  string
	source string // of the cases until the next source
}

// file reads one file, whose lines are joined first: one that begins with a tab continues the line before it.
func (r *reader) file(from fs.FS, topic string) error {
	path := "cases/" + topic + ".txt"
	f, err := from.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r.topic, r.source = topic, ""
	text, at, line := "", 0, 0
	flush := func() error {
		if text == "" || text[0] == '#' {
			return nil
		}
		if err := r.line(text); err != nil {
			return fmt.Errorf("internal/rules/conformance/%s:%d: %w", path, at, err)
		}
		return nil
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line++
		if more, ok := strings.CutPrefix(lines.Text(), "\t"); ok {
			text += " " + more
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		text, at = lines.Text(), line
	}
	if err := flush(); err != nil {
		return err
	}
	return lines.Err()
}

// line reads a line of a case, or of the file of names.
func (r *reader) line(text string) error {
	word, rest, _ := strings.Cut(text, " ")
	if r.topic == "names" {
		name, value, ok := strings.Cut(rest, " = ")
		if !ok {
			return fmt.Errorf("found %.40q, expected source or because, a name, = and a text", text)
		}
		r.names[word+" "+name] = value
		return nil
	}
	switch word {
	case "case":
		r.cases = append(r.cases, Case{Topic: r.topic, Name: rest, Source: r.source})
		return nil
	case "source":
		r.source = r.long(rest)
	}
	if len(r.cases) == 0 || r.cases[len(r.cases)-1].Topic != r.topic {
		return fmt.Errorf("found %.40q, expected the line of a case first: case, and its name", text)
	}
	return r.part(&r.cases[len(r.cases)-1], text, word, rest)
}

func (r *reader) part(c *Case, text, word, rest string) error {
	var last *step
	if len(c.steps) > 0 {
		last = &c.steps[len(c.steps)-1]
	}
	switch word {
	case "rule":
		c.Rule = rest
	case "source":
		c.Source = r.source
	case "needs":
		return c.need(strings.Fields(rest))
	case "no":
		if rest != "tables" {
			return fmt.Errorf("found %.40q, expected no tables", text)
		}
		c.tables = map[string]schema{}
	case "table":
		name, key, _ := strings.Cut(repeated(rest), ": ")
		if !schemaForm.MatchString(key) {
			return fmt.Errorf("found the table %.40q, expected its name and key, as rows: pk S, sk S", rest)
		}
		if c.tables == nil {
			c.tables = map[string]schema{}
		}
		c.tables[name] = schema(key)
	case "row":
		p := &parser{text: rest}
		rows, err := p.run()
		if err == nil {
			err = p.end()
		}
		if err != nil {
			return err
		}
		for _, n := range rows {
			if _, err := (builder{}).attribute(n); err != nil {
				return err
			}
		}
		c.rows = append(c.rows, rows...)
	case "=>", "=|", "local=>", "because":
		if last == nil {
			return fmt.Errorf("found %s, expected a request before it", word)
		}
		return r.answer(last, word, rest)
	default:
		s, err := readStep(text)
		c.steps = append(c.steps, s)
		return err
	}
	return nil
}

func (c *Case) need(words []string) error {
	flags := map[string]*bool{"clock": &c.clock, "sweep": &c.sweep, "alone": &c.alone, "streams": &c.streams,
		"backups": &c.backups, "regions": &c.regions}
	for _, word := range words {
		if flags[word] == nil {
			return fmt.Errorf("found the need %q, expected one of %q", word, slices.Sorted(maps.Keys(flags)))
		}
		*flags[word] = true
	}
	return nil
}

// answer reads a line of an answer. Quotation marks preserve spaces at the ends of a text.
func (r *reader) answer(s *step, word, text string) error {
	text = repeated(text)
	if strings.HasPrefix(text, `"`) {
		plain, err := strconv.Unquote(text)
		if err != nil {
			return fmt.Errorf("found %.40s, expected a text in quotation marks", text)
		}
		text = plain
	}
	if word == "=>" && s.want != "" || word == "local=>" && s.deviates || word == "because" && !s.deviates {
		return fmt.Errorf("found %s, expected one answer to a request, one local=> and then its reason", word)
	}
	switch {
	case word == "=>":
		s.want = text
	case word == "local=>":
		s.local, s.deviates = text, true
	case word == "because":
		s.reason, s.absent = text, text == "notThere"
		if long, ok := r.names["because "+text]; ok {
			s.reason = long
		}
	case s.deviates:
		s.local += "\n" + text
	default:
		s.want += "\n" + text
	}
	return nil
}

// long returns the address of a source. A short name that ends in a slash is the beginning of one.
func (r *reader) long(name string) string {
	if address, ok := r.names["source "+name]; ok {
		return address
	}
	first, rest, _ := strings.Cut(name, "/")
	if base, ok := r.names["source "+first+"/"]; ok {
		return base + rest
	}
	return name
}

// inputs are the types of the operations' inputs, by operation.
var inputs = func() map[string]reflect.Type {
	all := map[string]reflect.Type{
		"ReadStream": reflect.TypeFor[wholeStream](), "RecoveryWindow": reflect.TypeFor[recoveryWindow](),
	}
	for _, client := range []reflect.Type{
		reflect.TypeFor[*dynamodb.Client](), reflect.TypeFor[*dynamodbstreams.Client](),
	} {
		for i := range client.NumMethod() {
			if m := client.Method(i); m.Type.NumIn() == 4 && m.Type.In(2).Kind() == reflect.Pointer {
				all[m.Name] = m.Type.In(2).Elem()
			}
		}
	}
	return all
}()

var request = regexp.MustCompile(`^(\w+)(?: in ([\w-]+))? (\{.*)$`)

// readStep reads a request, as "PutItem {...}" or "PutItem in eu-west-1 {...}", or another action: "wait 1m", "sweep".
func readStep(text string) (step, error) {
	if text == "sweep" {
		return step{do: func(w *world) (any, error) {
			w.store.Sweep()
			return nil, nil
		}}, nil
	}
	if after, ok := strings.CutPrefix(text, "wait "); ok {
		d, err := time.ParseDuration(after)
		return step{do: func(w *world) (any, error) {
			w.store.Clock.Advance(d)
			return nil, nil
		}}, err
	}
	part := request.FindStringSubmatch(text)
	if len(part) == 0 || inputs[part[1]] == nil {
		return step{}, fmt.Errorf("found %.40q, expected an operation and its input, or a "+
			"word such as rule, table or row", text)
	}
	n, err := parse(part[3])
	if err != nil {
		return step{}, err
	}
	t := inputs[part[1]]
	if _, err := (builder{}).input(t, n); err != nil {
		return step{}, fmt.Errorf("%s: %w", part[1], err)
	}
	return step{do: func(w *world) (any, error) {
		in, err := builder{w}.input(t, n)
		if part[2] != "" {
			in = elsewhere{part[2], in}
		}
		return in, err
	}}, nil
}

// put returns the request that puts a row into the usual table.
func put(w *world, row node) (*dynamodb.PutItemInput, error) {
	n := node{kind: '{', keys: []node{{kind: 'w', text: "Item"}}, list: []node{row}}
	in, err := builder{w}.input(inputs["PutItem"], n)
	return in.(*dynamodb.PutItemInput), err
}
