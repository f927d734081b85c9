package evidence

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// writing are the operations that write rows.
var writing = map[string]bool{
	"PutItem": true, "UpdateItem": true, "DeleteItem": true, "BatchWriteItem": true, "TransactWriteItems": true,
	"ExecuteStatement": true, "BatchExecuteStatement": true, "ExecuteTransaction": true,
}

// writes visits the writes of an event of CloudTrail. A request that failed wrote nothing. A statement of PartiQL is a
// write without a Key: its values are hidden.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/understanding-ddb-log-entries.html
func (m *message) writes(visit func(Write) error) error {
	if m.source != "dynamodb.amazonaws.com" || !writing[m.event] || m.failure != "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, m.time)
	if err != nil {
		return fmt.Errorf("found the eventTime %q, expected one such as 2026-01-31T12:00:00Z", m.time)
	}
	w := Write{Region: m.region, Time: at, Operation: m.event}
	w.Actor = cmp.Or(m.caller.accessKey, m.caller.principal, m.caller.service, m.caller.kind) + " at " + m.address
	if m.arn != "" {
		if w.Table, _, err = tableOf(m.arn); err != nil {
			return err
		}
	}
	return w.in(m.parameters, visit)
}

// in visits the writes of a request, or of a part of it: an action of a transaction, of a batch or of a table's batch.
func (w Write) in(part jsontext.Value, visit func(Write) error) error {
	switch part.Kind() {
	case '[':
		var parts []jsontext.Value
		err := json.Unmarshal(part, &parts)
		for i := 0; i < len(parts) && err == nil; i++ {
			err = w.in(parts[i], visit)
		}
		return err
	case '{':
	default:
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(part, &members); err != nil {
		return err
	}
	member := func(name string) jsontext.Value { // AWS's documents write some names with a capital
		if v, there := members[name]; there {
			return v
		}
		return members[strings.ToUpper(name[:1])+name[1:]]
	}
	if table := member("tableName"); table != nil {
		w.Table = text(table)
	}
	key, statement := member("key"), strings.ToUpper(strings.TrimSpace(text(member("statement"))))
	switch {
	case text(member("operation")) == "ConditionCheck", strings.HasPrefix(statement, "SELECT"):
		return nil
	case key != nil, statement != "":
		var err error
		if w.Key, err = plainKey(key); err != nil {
			return err
		}
		return visit(w)
	}
	for _, name := range []string{"requestItems", "transactItems", "transactStatements", "statements", "putRequest",
		"deleteRequest", "put", "update", "delete"} {
		if err := w.in(member(name), visit); err != nil {
			return err
		}
	}
	return nil
}

// text returns a string's text, and "" for other values.
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	return unquoted(v)
}

// plainKey reads a key as CloudTrail writes it: the values without their types. It is nil if it is hidden.
func plainKey(v jsontext.Value) (attr.Item, error) {
	if v.Kind() != '{' {
		return nil, nil
	}
	key := attr.Item{}
	d := newDecoder(bytes.NewBuffer(v), map[string]string{})
	err := d.object(func(name string) (err error) {
		switch d.PeekKind() {
		case '{':
			key[name], err = d.value(1)
			return err
		case '0':
			raw, err := d.ReadValue()
			if err != nil {
				return err
			}
			n, err := attr.ParseNumber(string(raw))
			key[name] = attr.N{Number: n}
			return err
		}
		s, err := d.text()
		key[name] = attr.S(s)
		return err
	})
	return key, err
}
