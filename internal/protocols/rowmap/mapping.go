package rowmap

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Mapping is a checked isr.Schema. It is only read; nil translates nothing.
type Mapping struct {
	entries   []entry
	translate func(string, map[string]types.AttributeValue) []map[string]types.AttributeValue
	// unified says that all tables belong to one cache.
	unified bool
	// remembers says that rows do not hold all facts about a lock.
	remembers bool
	marks     bool            // some entry is a mark
	known     map[string]bool // attributes that have a meaning
	words     []phrase
}

// entry is a checked isr.Row.
type entry struct {
	table           string
	partition, sort keyAttribute
	key             []string // the names of these two
	indexes         []index
	when            []condition

	isPage, isLock, isVersion, isRequest bool
	// isMark says that the row marks as not fresh the page of its key, which is in another row.
	isMark bool

	body, bodyKey, generated, window, freshUntil, current, invalidated, etag, version attribute
	token, expires, lasts, renews                                                     attribute
	hash, status, made                                                                attribute
	ttl                                                                               attribute

	endless bool // the lock has no end: expires is the word never

	always time.Duration // the window of pages whose rows have none; 0 if not given
}

// never is the value of expires for locks that are held until they are given back.
const never = "never"

// withoutEnd is the hint for a lock whose end is not named.
const withoutEnd = "expires: locked_until ms, or expires: never of a lock that is held until it is given back"

// keyAttribute is an attribute of a key, or the zero value.
type keyAttribute struct {
	name string
	kind attr.Kind
	form form
}

// index is a secondary index of a table, with one or two keys, which have no forms.
type index struct {
	name string
	keys []keyAttribute
}

// Error is a mistake in an isr.Schema.
type Error struct {
	Row           int    // its position in Schema.Rows, from 0
	Field         string // the name of the field in scenario files; "" means the whole row
	Problem, Hint string // the text that was found and what was expected; how to mend it, or ""
}

func (e *Error) Error() string {
	text := fmt.Sprintf("rows: entry %d", e.Row+1)
	if e.Field != "" {
		text += ", " + e.Field
	}
	text += ": " + e.Problem
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	return text
}

// New checks a schema. It returns nil for the zero Schema, and for one with only a name. The error is an *Error.
func New(s isr.Schema) (*Mapping, error) {
	if len(s.Rows) == 0 && s.Translate == nil {
		return nil, nil
	}
	m := &Mapping{translate: s.Translate, known: map[string]bool{}}
	for i := range s.Rows {
		e, err := newEntry(&s.Rows[i], s.Translate != nil)
		if err == nil {
			err = m.fits(&e)
		}
		if err != nil {
			err.Row = i
			return nil, err
		}
		m.entries = append(m.entries, e)
		m.unified = m.unified || e.table != ""
		m.marks = m.marks || e.isMark
		m.remembers = m.remembers || e.isLock && (!e.token.is() || e.lasts.is())
		for _, a := range e.attributes() {
			if a.is() {
				m.known[a.top()] = true
			}
		}
		m.known[e.partition.name] = true
		m.known[e.sort.name] = true
		for _, c := range e.when {
			m.known[c.of.top()] = true
		}
	}
	if err := m.marked(); err != nil {
		return nil, err
	}
	m.words = m.phrases()
	return m, nil
}

// Attributes returns the names of the attributes of pages and locks, without those of keys and conditions. For a path,
// it returns the first name.
func (m *Mapping) Attributes() []string {
	var names []string
	for i := range m.entries {
		for _, a := range m.entries[i].attributes() {
			if a.is() {
				names = append(names, a.top())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// attributes returns the entry's attributes, in the order in which reports name them.
func (e *entry) attributes() []*attribute {
	return []*attribute{
		&e.token, &e.expires, &e.lasts, &e.renews, &e.generated, &e.window, &e.freshUntil, &e.current, &e.bodyKey,
		&e.body, &e.etag, &e.version, &e.invalidated, &e.hash, &e.status, &e.made, &e.ttl,
	}
}

func newEntry(r *isr.Row, translated bool) (e entry, problem *Error) {
	fail := func(field, hint, text string, args ...any) {
		if problem == nil {
			problem = &Error{Field: field, Hint: hint, Problem: fmt.Sprintf(text, args...)}
		}
	}
	key := func(field, text string) keyAttribute {
		k, err := parseKey(text)
		if err != nil {
			fail(field, "such as: pk = page#{key}", "%v", err)
		}
		return k
	}
	read := func(field, text string, units []unit) attribute {
		if text == "" {
			return attribute{}
		}
		a, err := parseAttribute(text, units)
		if err != nil {
			fail(field, "", "%v", err)
		}
		return a
	}
	e.table = r.Table
	if r.Partition == "" {
		fail("", "partition: pk = page#{key}",
			"found no partition, expected the partition key and the form of its value")
		return e, problem
	}
	e.partition = key("partition", r.Partition)
	e.key = []string{e.partition.name}
	if r.Sort != "" {
		e.sort = key("sort", r.Sort)
		e.key = append(e.key, e.sort.name)
	}
	if r.Index != "" {
		var err error
		if e.indexes, err = parseIndexes(r.Index, e.partition, e.sort); err != nil {
			fail("index", "index: by-path: path, at N", "%v", err)
		}
	}
	for _, text := range strings.Fields(r.When) {
		c := parseCondition(text)
		if !c.of.is() {
			fail("when", "when: type=page", "found the condition %q, expected an attribute in it", text)
		}
		e.when = append(e.when, c)
	}
	e.body, e.bodyKey = read("body", r.Body, nil), read("body-key", r.BodyKey, nil)
	e.generated = read("generated", r.Generated, unitsOfTime)
	if constant, is := strings.CutPrefix(r.Window, "="); is {
		d, err := time.ParseDuration(strings.TrimSpace(constant))
		if err != nil || d <= 0 {
			fail("window", "window: = 60s", "found %q after =, expected the length of the window",
				strings.TrimSpace(constant))
		}
		e.always = d
	} else {
		e.window = read("window", r.Window, unitsOfLength)
	}
	e.freshUntil = read("fresh-until", r.FreshUntil, unitsOfTime)
	e.current = read("current", r.Current, nil)
	if marker := strings.TrimSpace(r.Invalidated); strings.Contains(marker, " ") {
		e.invalidated = read("invalidated", marker, unitsOfTime)
	} else {
		e.invalidated = read("invalidated", marker, nil)
	}
	e.etag, e.version = read("etag", r.ETag, nil), read("version", r.Version, nil)
	e.token, e.renews = read("token", r.Token, nil), read("renews", r.Renews, nil)
	if e.endless = strings.TrimSpace(r.Expires) == never; !e.endless {
		e.expires = read("expires", r.Expires, unitsOfTime)
	}
	e.lasts = read("lasts", r.Lasts, unitsOfLength)
	e.hash, e.status, e.made = read("request-hash", r.RequestHash, nil), read("request-status", r.RequestStatus, nil),
		read("request-body", r.RequestBody, nil)
	e.ttl = read("ttl", r.TTL, nil)
	if problem == nil {
		problem = e.decide(translated)
	}
	return e, problem
}

// decide finds the kind of the entry.
func (e *entry) decide(translated bool) *Error {
	has := func(name string) bool {
		return e.partition.form.has(name) || e.sort.name != "" && e.sort.form.has(name)
	}
	page := e.body.is() || e.bodyKey.is() || e.generated.is() || e.window.is() || e.always > 0 || e.freshUntil.is() ||
		e.current.is() ||
		e.etag.is() || e.version.is()
	e.isLock = e.expires.is() || e.lasts.is() || e.endless
	e.isRequest, e.isVersion = has(forRequest), has(forVersion)
	e.isMark = e.invalidated.is() && !page && !e.isLock && !e.isRequest && !e.isVersion
	page = page || e.invalidated.is() && !e.isMark
	e.isPage = page && !e.isVersion
	fail := func(field, hint, text string, args ...any) *Error {
		return &Error{Field: field, Hint: hint, Problem: fmt.Sprintf(text, args...)}
	}
	switch {
	case !page && !e.isLock && !e.isRequest && !e.isVersion && !e.isMark:
		if !e.token.is() && (translated || !has(forKey)) {
			return nil // the entry says which key its table has
		}
		if e.token.is() {
			return fail("token", withoutEnd,
				"found a lock without expires and without lasts, expected the end of its lease")
		}
		return fail("",
			"a page has a body and generated, a lock has a token and expires (of a check --lock or --once: "+
				"expires: never)", "found a row that is neither a page nor a lock")
	case !has(forKey):
		return fail("partition", "partition: id = page#{key}",
			"found no {key} in the key, expected the part that stands for the cache key")
	case (e.expires.is() || e.endless) && e.lasts.is():
		return fail("lasts", "leave one of them out", "found both expires and lasts, expected one of them")
	case e.endless && e.isPage && !e.token.is():
		return fail("expires", "token: locked_by",
			"found expires never without a token, in a row that is a page as well: nothing says when it is locked")
	case e.token.is() && !e.isLock:
		return fail("token", withoutEnd,
			"found a lock without expires and without lasts, expected the end of its lease")
	case e.renews.is() && !e.lasts.is():
		return fail("renews", "", "found renews without lasts, which alone needs it")
	case e.isRequest && (page || e.isLock || e.isVersion):
		return fail("", "give requests an entry of their own",
			"found {request} in the key of a page, a version or a lock")
	case e.isVersion && e.isLock:
		return fail("", "give the lock an entry of its own", "found {version} in the key of a lock")
	case e.isVersion && e.current.is():
		return fail("current", "", "found a version that leads to another")
	case e.isPage && !e.generated.is() && !e.freshUntil.is():
		return fail("", "generated: updated_at ms",
			"found a page without generated and without fresh-until, expected one of them: which page is the newer "+
				"is not known otherwise")
	}
	return nil
}

// marked checks that the mapping has pages if it has rows that mark pages as not fresh.
func (m *Mapping) marked() error {
	i := slices.IndexFunc(m.entries, func(e entry) bool { return e.isMark })
	if i < 0 || m.HasPages() {
		return nil
	}
	return &Error{Row: i, Field: "invalidated", Hint: "give pages an entry with generated and body",
		Problem: "found a row that marks pages as not fresh, and no entry that is a page"}
}

// fits checks that the entry and the entries before it agree about their tables.
func (m *Mapping) fits(e *entry) *Error {
	for i := range m.entries {
		other := &m.entries[i]
		if other.table != e.table {
			continue
		}
		switch {
		case other.partition.name != e.partition.name || other.partition.kind != e.partition.kind:
			return &Error{Field: "partition",
				Hint: "name the table of each entry if they are two", Problem: fmt.Sprintf(
					"found the partition key %s (%s), where another entry of that table has %s (%s)", e.partition.name,
					e.partition.kind, other.partition.name, other.partition.kind)}
		case other.sort.name != e.sort.name || other.sort.kind != e.sort.kind:
			return &Error{Field: "sort", Hint: "name the table of each entry if they are two", Problem: fmt.Sprintf(
				"found the sort key %q, where another entry of that table has %q", e.sort.name, other.sort.name)}
		case other.ttl.is() && e.ttl.is() && other.ttl.name != e.ttl.name:
			return &Error{Field: "ttl", Hint: "a table has one TTL attribute", Problem: fmt.Sprintf(
				"found ttl %s, where another entry of that table has %s", e.ttl.name, other.ttl.name)}
		case other.indexes != nil && e.indexes != nil:
			return &Error{Field: "index", Hint: "name all indexes of the table in one of them",
				Problem: "found index, where another entry of that table has it, too"}
		}
	}
	return nil
}

// parseKey reads "pk = page#{key}", or "id N = {key}".
func parseKey(text string) (keyAttribute, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return keyAttribute{}, fmt.Errorf("found %q, expected an attribute, = and the form of its value", text)
	}
	k, err := parseKeyName(name)
	if err != nil {
		return k, fmt.Errorf("%w before =", err)
	}
	k.form, err = parseForm(strings.TrimSpace(value))
	return k, err
}

// parseKeyName reads "pk", or "id N".
func parseKeyName(text string) (keyAttribute, error) {
	k := keyAttribute{kind: "S"}
	words := strings.Fields(text)
	switch len(words) {
	case 1:
	case 2:
		if k.kind = attr.Kind(words[1]); k.kind != "S" && k.kind != "N" && k.kind != "B" {
			return k, fmt.Errorf("found the type %s of the key %s, expected S, N or B", words[1], words[0])
		}
	default:
		return k, fmt.Errorf("found %q, expected an attribute", strings.TrimSpace(text))
	}
	k.name = words[0]
	return k, nil
}

// parseIndexes reads "by-path: path, at N; by-day: day" for a table with the given keys.
func parseIndexes(text string, keys ...keyAttribute) (all []index, err error) {
	for part := range strings.SplitSeq(text, ";") {
		name, list, ok := strings.Cut(part, ":")
		x := index{name: strings.TrimSpace(name)}
		for of := range strings.SplitSeq(list, ",") {
			k, err := parseKeyName(of)
			if err != nil {
				return nil, err
			}
			same := func(other keyAttribute) bool { return other.name == k.name && other.kind != k.kind }
			if slices.ContainsFunc(keys, same) {
				return nil, fmt.Errorf("found the attribute %s with two types, expected one", k.name)
			}
			x.keys, keys = append(x.keys, k), append(keys, k)
		}
		if !ok || x.name == "" || len(x.keys) > 2 {
			return nil, fmt.Errorf("found %q, expected a name, a colon, a partition key and perhaps a sort key", part)
		}
		all = append(all, x)
	}
	return all, nil
}

func (k *keyAttribute) in(row attr.Item) (string, bool) {
	switch v := row[k.name].(type) {
	case attr.S:
		return string(v), true
	case attr.N:
		return v.String(), true
	case attr.B:
		return string(v), true
	default:
		return "", false
	}
}

// condition is a condition of an entry's When.
type condition struct {
	text string
	of   attribute
	not  bool
	// value is compared with the attribute if compares is set. Otherwise the condition is that the attribute exists.
	compares bool
	value    string
}

func parseCondition(text string) condition {
	c := condition{text: text}
	name := text
	if before, value, ok := strings.Cut(text, "!="); ok {
		name, c.value, c.compares, c.not = before, value, true, true
	} else if before, value, ok := strings.Cut(text, "="); ok {
		name, c.value, c.compares = before, value, true
	} else if after, ok := strings.CutPrefix(text, "!"); ok {
		name, c.not = after, true
	}
	c.of, _ = parseAttribute(name, nil) // the name has no space
	return c
}

func (c *condition) holds(row attr.Item) bool {
	text, there := c.of.text(row)
	if v, is := c.of.in(row).(attr.BOOL); is {
		text, there = v.String(), true
	}
	if !c.compares {
		if !there {
			v := c.of.in(row)
			_, null := v.(attr.NULL)
			s, isText := v.(attr.S)
			there = v != nil && !null && (!isText || s != "")
		}
		return there != c.not
	}
	return (there && text == c.value) != c.not
}

// matches reports whether a row's key has the entry's form. The row may be only the key.
func (e *entry) matches(table string, key attr.Item, c *captures) bool {
	if e.table != "" && e.table != table {
		return false
	}
	text, ok := e.partition.in(key)
	if !ok || !e.partition.form.match(text, c) {
		return false
	}
	if e.sort.name == "" {
		return true
	}
	text, ok = e.sort.in(key)
	return ok && e.sort.form.match(text, c)
}

// holds reports whether a row whose key matches is of the entry's kind.
func (e *entry) holds(row attr.Item) bool {
	return row != nil && !slices.ContainsFunc(e.when, func(c condition) bool { return !c.holds(row) })
}
