package ddbfake

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// Load puts tables and rows into the DB. It reads texts in JSON, one after another, each in one of these forms:
//
//   - what isr-sim serve answers to GET /_isr-sim/dump: tables with their settings and rows;
//   - a request to CreateTable, as aws dynamodb create-table --cli-input-json takes it;
//   - an answer of DescribeTable, as aws dynamodb describe-table prints it;
//   - a request to PutItem, or one to BatchWriteItem that only puts, as --request-items takes it or whole.
//
// region is the region of tables and rows whose text names none; "" is DefaultRegion. An existing table does not
// change. A row replaces the row with the same key. Rows are checked like any others and appear in the change log, as
// actor "", but no injected fault hits them, and they spend no units.
//
// A table that is described as a replica of a global table becomes a replica again, together with the tables of the
// same name in the other regions. A region without such a table gets a new one. A dump lacks the writes that were under
// way to other regions.
//
// Either everything takes effect, at one moment, or nothing does. An error names the line.
func (db *DB) Load(region string, texts io.Reader) error {
	text, err := io.ReadAll(texts)
	if err != nil {
		return fmt.Errorf("ddbfake: load: %w", err)
	}
	l := &loader{text: text, region: cmp.Or(region, DefaultRegion)}
	if err := l.read(); err != nil {
		return fmt.Errorf("ddbfake: load: %w", err)
	}
	l.steps = append(l.steps, l.joins...)
	if err := db.apply(l); err != nil {
		return fmt.Errorf("ddbfake: load: %w", err)
	}
	return nil
}

// apply makes the requests of a loader: all of them or none.
func (db *DB) apply(l *loader) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	units := db.limits
	db.limits = nil
	defer func() { db.limits = units }()
	before := db.state.copy()
	there := map[string]bool{}
	//isrsim:unordered a map goes into a map
	for at := range db.state.tables {
		there[at] = true
	}
	for _, s := range l.steps {
		if s.settings && there[address(s.region, s.table)] {
			continue
		}
		err := checkRegion(s.region)
		if group, ok := s.in.(*groupOf); ok {
			err = db.join(s.region, s.table, group, there)
		} else if err == nil {
			_, err = db.execute(db.begin(operationOf(s.in), &Call{Region: s.region, Input: s.in}, 0), s.in, nil)
		}
		if err != nil {
			db.state = before
			return l.failed(s.at, fmt.Errorf("table %s: %w", s.table, err))
		}
	}
	db.loaded(before.requests+1, db.state.requests+1)
	return nil
}

// loaded notes that the requests in [from, to) write rows that other requests have made.
func (db *DB) loaded(from, to int) {
	db.state.loads = append(slices.Clip(db.state.loads), from, to)
}

// Loaded reports whether a Load, or a restore from a backup, made the request with this number.
func (db *DB) Loaded(request int) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	bounds, _ := slices.BinarySearch(db.state.loads, request+1) // the number of bounds that are not after it
	return bounds%2 == 1
}

// loader turns texts into requests.
type loader struct {
	text   []byte
	region string
	steps  []loadStep
	joins  []loadStep // made when all tables are there
}

type loadStep struct {
	at            int // the position of its text
	region, table string
	settings      bool // it concerns a new table, and not its rows
	in            any  // a request, or a *groupOf
}

// piece is a value in the text.
type piece struct {
	jsontext.Value
	at int
}

func (p piece) isNoArray() bool { return p.Kind() != '[' }

// failed adds the line to an error.
func (l *loader) failed(at int, err error) error {
	return fmt.Errorf("line %d: %w", 1+bytes.Count(l.text[:min(at, len(l.text))], []byte("\n")), err)
}

// values calls each for every value in a part of the text, which has one value after another.
func (l *loader) values(from, to int, each func(piece) error) error {
	d := jsontext.NewDecoder(bytes.NewReader(l.text[from:to]))
	for {
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			at := to
			if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
				at = from + int(syntax.ByteOffset)
			}
			return l.failed(at, fmt.Errorf("found no JSON: %w", err))
		}
		end := from + int(d.InputOffset())
		if err := each(piece{l.text[end-len(v) : end], end - len(v)}); err != nil {
			return err
		}
	}
}

// elements calls each for every element of an array.
func (l *loader) elements(p piece, each func(piece) error) error {
	if p.Kind() != '[' {
		return l.failed(p.at, fmt.Errorf("found %s, expected an array", brief(p.Value)))
	}
	d := jsontext.NewDecoder(bytes.NewReader(p.Value))
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != ']' {
		var v jsontext.Value
		if v, err = d.ReadValue(); err == nil {
			end := int(d.InputOffset())
			err = each(piece{p.Value[end-len(v) : end], p.at + end - len(v)})
		}
	}
	return err
}

func (l *loader) members(p piece) (map[string]piece, error) {
	if p.Kind() != '{' {
		return nil, l.failed(p.at, fmt.Errorf("found %s, expected an object", brief(p.Value)))
	}
	found := map[string]piece{}
	d := jsontext.NewDecoder(bytes.NewReader(p.Value))
	if _, err := d.ReadToken(); err != nil {
		return nil, l.failed(p.at, err)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, l.failed(p.at, err)
		}
		key := name.String() // a copy: the next read overwrites the token
		v, err := d.ReadValue()
		if err != nil {
			return nil, l.failed(p.at, err)
		}
		end := int(d.InputOffset())
		found[key] = piece{p.Value[end-len(v) : end], p.at + end - len(v)}
	}
	return found, nil
}

// brief returns the beginning of a value, for errors.
func brief(v jsontext.Value) string {
	const most = 40
	if text := string(v); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(string(v[:most]), "") + "..."
}

func (l *loader) read() error { return l.values(0, len(l.text), l.document) }

// document reads one text, whose members show its form.
func (l *loader) document(p piece) error {
	m, err := l.members(p)
	if err != nil {
		return err
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := m[name]; return !ok })
	}
	switch {
	case has("tables"):
		return l.elements(m["tables"], l.dumped)
	case has("Table"):
		return l.create(m["Table"], l.region)
	case has("TableName", "KeySchema"):
		return l.create(p, l.region)
	case has("TableName", "Item"):
		in := new(dynamodb.PutItemInput)
		if err := l.decode(p, in); err != nil {
			return err
		}
		l.steps = append(l.steps, loadStep{p.at, l.region, aws.ToString(in.TableName), false, in})
		return nil
	case has("RequestItems"):
		if m, err = l.members(m["RequestItems"]); err != nil {
			return err
		}
	//isrsim:unordered any of them will do
	case len(m) == 0, slices.ContainsFunc(slices.Collect(maps.Values(m)), piece.isNoArray):
		return l.failed(p.at, fmt.Errorf("found an object with the members %s, expected a dump (tables), "+
			"a table (TableName, KeySchema; or Table), or rows (TableName, Item; or RequestItems)",
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(m)), ", "), "none")))
	}
	for _, table := range slices.Sorted(maps.Keys(m)) {
		err := l.elements(m[table], func(p piece) error {
			write := struct{ PutRequest *types.PutRequest }{}
			if err := l.decode(p, &write); err != nil {
				return err
			}
			if write.PutRequest == nil {
				return l.failed(p.at, fmt.Errorf("found %s, expected a PutRequest", brief(p.Value)))
			}
			l.put(p.at, l.region, table, write.PutRequest.Item)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) put(at int, region, table string, item map[string]types.AttributeValue) {
	l.steps = append(l.steps, loadStep{at, region, table, false, &dynamodb.PutItemInput{TableName: &table, Item: item}})
}

func (l *loader) decode(p piece, into any) error {
	if err := awsjson.Decode(p.Value, into); err != nil {
		return l.failed(p.at, err)
	}
	return nil
}

// dumped reads a table of a dump.
func (l *loader) dumped(p piece) error {
	m, err := l.members(p)
	if err != nil {
		return err
	}
	var of struct{ Region, Name string }
	if err := json.Unmarshal(p.Value, &of, json.MatchCaseInsensitiveNames(true)); err != nil || of.Name == "" {
		return l.failed(p.at, errors.New("found a table without its name"))
	}
	region := cmp.Or(of.Region, l.region)
	first := len(l.steps)
	settings, described := m["settings"]
	if described {
		if err := l.settings(settings, region); err != nil {
			return err
		}
	}
	created := slices.Clone(l.steps[first:])
	l.steps = l.steps[:first]
	var later []loadStep // such as TTL and the stream, which begin when the rows are there
	for i, s := range created {
		if i == 0 {
			l.steps = append(l.steps, s)
		} else {
			later = append(later, s)
		}
	}
	if items, ok := m["items"]; ok {
		err = l.elements(items, func(p piece) error {
			row := struct {
				Item map[string]types.AttributeValue
			}{}
			whole := append(append([]byte(`{"Item":`), p.Value...), '}')
			if err := awsjson.Decode(whole, &row); err != nil {
				return l.failed(p.at, err)
			}
			l.put(p.at, region, of.Name, row.Item)
			return nil
		})
	}
	l.steps = append(l.steps, later...)
	return err
}

// settings reads the settings of a table in a dump. Its first step is the request that creates the table.
func (l *loader) settings(p piece, region string) error {
	m, err := l.members(p)
	if err != nil {
		return err
	}
	table, ok := m["table"]
	if !ok {
		return l.failed(p.at, errors.New("found settings without a table"))
	}
	if err := l.create(table, region); err != nil {
		return err
	}
	var of struct {
		TimeToLive string            `json:"timeToLive"`
		Tags       map[string]string `json:"tags"`
	}
	if err := json.Unmarshal(p.Value, &of); err != nil {
		return l.failed(p.at, err)
	}
	made := &l.steps[len(l.steps)-1]
	in, _ := made.in.(*dynamodb.CreateTableInput)
	for _, key := range slices.Sorted(maps.Keys(of.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(key), Value: aws.String(of.Tags[key])})
	}
	later := func(in any) {
		l.steps = append(l.steps, loadStep{p.at, region, made.table, true, in})
	}
	stream := in.StreamSpecification
	in.StreamSpecification = nil
	if of.TimeToLive != "" {
		later(&dynamodb.UpdateTimeToLiveInput{TableName: in.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: &of.TimeToLive, Enabled: aws.Bool(true),
			}})
	}
	if stream != nil && aws.ToBool(stream.StreamEnabled) {
		later(&dynamodb.UpdateTableInput{TableName: in.TableName, StreamSpecification: stream})
	}
	return nil
}

// create reads a CreateTable request, or the description of a table, which has more members, some of them under other
// names.
func (l *loader) create(p piece, region string) error {
	in := new(dynamodb.CreateTableInput)
	if err := l.decode(p, in); err != nil {
		return err
	}
	var described struct {
		TableStatus        string
		BillingModeSummary struct{ BillingMode types.BillingMode }
		TableClassSummary  struct{ TableClass types.TableClass }
		SSEDescription     struct {
			Status          types.SSEStatus
			SSEType         types.SSEType
			KMSMasterKeyArn *string
		}
		groupOf
	}
	if err := json.Unmarshal(p.Value, &described); err != nil {
		return l.failed(p.at, err)
	}
	if described.TableStatus != "" {
		in.BillingMode, in.TableClass = described.BillingModeSummary.BillingMode, described.TableClassSummary.TableClass
		if sse := described.SSEDescription; sse.Status == types.SSEStatusEnabled {
			in.SSESpecification = &types.SSESpecification{
				Enabled: aws.Bool(true), SSEType: sse.SSEType, KMSMasterKeyId: sse.KMSMasterKeyArn,
			}
		}
		asDescribed(in)
	}
	l.steps = append(l.steps, loadStep{p.at, region, aws.ToString(in.TableName), true, in})
	if len(described.Replicas) > 0 {
		if _, err := described.regions(); err != nil {
			return l.failed(p.at, err)
		}
		l.joins = append(l.joins, loadStep{p.at, region, aws.ToString(in.TableName), true, &described.groupOf})
	}
	return nil
}

// asDescribed removes the members of a description that a request to create the same table must not have.
func asDescribed(in *dynamodb.CreateTableInput) {
	in.WarmThroughput = nil
	onDemand := in.BillingMode == types.BillingModePayPerRequest
	if onDemand {
		in.ProvisionedThroughput = nil
	}
	for i := range in.GlobalSecondaryIndexes {
		in.GlobalSecondaryIndexes[i].WarmThroughput = nil
		if onDemand {
			in.GlobalSecondaryIndexes[i].ProvisionedThroughput = nil
		}
	}
}
