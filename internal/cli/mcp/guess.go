package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Suggestion explains a suggested mapping: the role of each attribute.
type Suggestion struct {
	// Ready is the name of a ready mapping, if that is the suggestion.
	Ready string `json:"ready,omitempty"`
	// Attributes has the role of each attribute of the rows, in the words of the mapping.
	Attributes map[string]string `json:"attributes"`
	// Read says what each sample row is by the mapping: page, lock, version, request, or nothing.
	Read []string `json:"read"`
	// Unsure are sentences about what the rows do not show.
	Unsure []string `json:"unsure"`
}

// sample are rows of a table, with the names of its keys, if they are known.
type sample struct {
	table string
	keys  []string
	rows  []attr.Item
	Suggestion
}

func (s *sample) unsure(text string, args ...any) {
	if said := fmt.Sprintf(text, args...); !slices.Contains(s.Unsure, said) {
		s.Unsure = append(s.Unsure, said)
	}
}

// nature is the kind of an attribute's values.
type nature int

const (
	aText nature = iota
	aTime
	aLength
	aCount // a number that is neither a time nor a length
	aFlag
	aMap
)

// role is a field of a mapping, with the usual names of its attributes, the best first.
type role struct {
	field  string
	of     func(r *isr.Row) *string
	is     []nature
	called []*regexp.Regexp
}

func names(all ...string) (called []*regexp.Regexp) {
	for _, name := range all {
		called = append(called, regexp.MustCompile(`^(.*[_.])?(`+name+`)$`))
	}
	return called
}

// roles are tried in this order: an attribute gets the first role that fits its name and its values.
var roles = []role{
	{"ttl", func(r *isr.Row) *string { return &r.TTL }, []nature{aTime}, names(`ttl|time_to_live|ttl_at|purge_at`)},
	{"expires", func(r *isr.Row) *string { return &r.Expires }, []nature{aTime}, names(
		`(lock|lease)(ed|d)?_?(until|expires?|expiry|expiration|end|ends|deadline|valid_until)(_at)?(_ms)?`)},
	{"lasts", func(r *isr.Row) *string { return &r.Lasts }, []nature{aLength},
		names(`(lock|lease)_?(duration|length|ttl|seconds|ms|time)(_ms)?`)},
	{"renews", func(r *isr.Row) *string { return &r.Renews }, []nature{aText, aCount, aTime},
		names(`record_version_number|record_version|rvn|heartbeat(_at)?|renewed_at`)},
	{"token", func(r *isr.Row) *string { return &r.Token }, []nature{aText}, names(
		`(lock|lease)_?(token|owner|holder|id|by)`, `(locked|leased|claimed|held)_by|owner(_name|_id)?|holder(_id)?`,
		`token|worker(_id)?|node(_id)?|instance(_id)?`)},
	{"fresh-until", func(r *isr.Row) *string { return &r.FreshUntil }, []nature{aTime}, names(
		`(fresh|valid|good)_(until|to|till)`, `(stale|revalidate)_?(at|after|on)`)},
	{"generated", func(r *isr.Row) *string { return &r.Generated }, []nature{aTime}, names(
		`(generated|rendered|regenerated|revalidated|built|produced)(_at|_on|_ts)?`,
		`(fetched|read|last_modified|modified|updated|refreshed|cached|written|stored|saved|created)(_at|_on|_ts)?`,
		`timestamp|time|ts|date`)},
	{"window", func(r *isr.Row) *string { return &r.Window }, []nature{aLength}, names(
		`(revalidate|max_?age|s_?maxage|window|fresh_for|lifetime)(_seconds|_secs|_s|_ms)?`)},
	{"invalidated", func(r *isr.Row) *string { return &r.Invalidated }, []nature{aFlag, aTime},
		names(`(invalidated|invalid|purged|revoked|stale|dirty|deleted)(_at|_on)?`)},
	{"etag", func(r *isr.Row) *string { return &r.ETag }, []nature{aText}, names(`e_?tag`)},
	{"version", func(r *isr.Row) *string { return &r.Version }, []nature{aCount, aLength},
		names(`version|revision|rev|generation|seq|sequence`)},
	{"current", func(r *isr.Row) *string { return &r.Current }, []nature{aText},
		names(`(current|latest|active|live)(_version|_id|_sk|_key)?|pointer`)},
	{"body-key", func(r *isr.Row) *string { return &r.BodyKey }, []nature{aText}, names(
		`(s3|object|blob|body|bucket|file|storage)_?(key|path|name|id|uri|url)`, `object|blob`)},
	{"body", func(r *isr.Row) *string { return &r.Body }, []nature{aText, aMap},
		names(`html|body|markup`, `content|payload|value|data|response|page`)},
	{"request-hash", func(r *isr.Row) *string { return &r.RequestHash }, []nature{aText},
		names(`(request|input|payload)_?(hash|fingerprint)`)},
	{"request-status", func(r *isr.Row) *string { return &r.RequestStatus }, []nature{aText}, names(`request_status`)},
}

// later are names for the end of something. Only the row shows what ends.
var later = names(`expires?|expiry|expires?_at|expiration|until|deadline|valid_until|ends?_at`)[0]

// suggest makes the mapping.
func (s *sample) suggest() (isr.Schema, *Suggestion, error) {
	s.Attributes, s.Read, s.Unsure = map[string]string{}, []string{}, []string{}
	if len(s.rows) == 0 {
		return isr.Schema{}, nil, &CallError{BadArguments, "rows: found none, expected some", "five are enough"}
	}
	if err := s.findKeys(); err != nil {
		return isr.Schema{}, nil, err
	}
	var schema isr.Schema
	groups := map[[2]string][]attr.Item{}
	for _, row := range s.rows {
		f := [2]string{s.form(row, 0), s.form(row, 1)}
		groups[f] = append(groups[f], row)
	}
	for _, f := range slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	}) {
		schema.Rows = append(schema.Rows, s.entry(f, groups[f]))
	}
	if ready, is := s.ready(); is {
		schema, s.Ready, s.Unsure = ready, ready.Name, []string{"all rows are of the ready mapping " + ready.Name}
		if len(ready.Rows) > 0 {
			clear(s.Attributes)
		}
		for i := range ready.Rows {
			for _, r := range roles {
				if name, _, _ := strings.Cut(*r.of(&ready.Rows[i]), " "); name != "" {
					s.Attributes[name] = r.field
				}
			}
		}
	} else if !slices.ContainsFunc(schema.Rows, func(r isr.Row) bool { return r.Expires != "" || r.Lasts != "" }) {
		s.unsure("no lock was seen: give a row that is locked, or leave the invariants of locks out of check (without)")
	}
	m, err := rowmap.New(schema)
	if err != nil {
		s.unsure("the mapping is not complete: %v", err)
	}
	for i, row := range s.rows {
		read := "nothing"
		if err == nil {
			read = s.read(m, row)
		}
		if read == "nothing" {
			s.unsure("row %d is neither a page nor a lock", i+1)
		}
		s.Read = append(s.Read, read)
	}
	return schema, &s.Suggestion, nil
}

// read tells what a row is by a mapping; nil is the mapping of META and LOCK.
func (s *sample) read(m *rowmap.Mapping, row attr.Item) string {
	changes, read := []ddbfake.Change{{Table: s.table, Key: s.key(row), After: row}}, []string{}
	if m != nil {
		changes = m.Log(changes)
	}
	for _, c := range changes {
		sk, _ := c.Key["sk"].(attr.S)
		name, _, _ := strings.Cut(string(sk), "#")
		if role := roleOf[name]; role != "" && c.After != nil {
			read = append(read, role)
		}
	}
	return cmp.Or(strings.Join(read, " and "), "nothing")
}

var roleOf = map[string]string{"META": "page", "LOCK": "lock", "VER": "version", "REQ": "request"}

// ready returns a ready-made mapping by which every row has a role.
func (s *sample) ready() (isr.Schema, bool) {
	for _, ready := range isr.Schemas() {
		m, err := rowmap.New(ready)
		if err == nil && !slices.ContainsFunc(s.rows, func(row attr.Item) bool {
			if ready.Name == "reference" && row["sk"] == attr.S("META") && row["generated_at"] == nil {
				return true
			}
			return s.read(m, row) == "nothing"
		}) {
			return ready, true
		}
	}
	return isr.Schema{}, false
}

func (s *sample) key(row attr.Item) attr.Item {
	key := attr.Item{}
	for _, name := range s.keys {
		key[name] = row[name]
	}
	return key
}

// keyNames are usual names of partition keys and of sort keys.
var keyNames = [2]*regexp.Regexp{
	regexp.MustCompile(`^(pk|p_?key|partition_?(key)?|hash_?key|id|key|cache_?key|(lock|page)_?(id|key|name)|path|url|name)$`),
	regexp.MustCompile(`^(sk|s_?key|sort_?(key)?|range_?(key)?)$`),
}

// findKeys guesses the keys, unless the call names them.
func (s *sample) findKeys() error {
	in := func(name string) bool {
		return !slices.ContainsFunc(s.rows, func(row attr.Item) bool { _, is := plain(row[name]); return !is })
	}
	if len(s.keys) == 0 {
		for _, called := range keyNames {
			for _, name := range slices.Sorted(maps.Keys(s.rows[0])) {
				if called.MatchString(snake(name)) && in(name) {
					s.keys = append(s.keys, name)
					s.unsure("keys: %s is taken for a key, by its name", name)
					break
				}
			}
		}
	}
	if len(s.keys) == 0 || slices.ContainsFunc(s.keys, func(name string) bool { return !in(name) }) {
		return &CallError{BadArguments, "keys: found no attribute of all rows that is the partition key",
			"name the keys of the table: keys: [pk, sk]"}
	}
	return nil
}

// plain returns a text or a number as a text.
func plain(v attr.Value) (string, bool) {
	switch v := v.(type) {
	case attr.S:
		return string(v), v != ""
	case attr.N:
		return v.String(), true
	}
	return "", false
}

// snake writes lockedUntil as locked_until.
func snake(name string) string {
	var b strings.Builder
	before := rune('_')
	for _, r := range strings.NewReplacer("-", "_", "#", "_").Replace(name) {
		if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// label matches the part of a key that tells what the row is.
var label = regexp.MustCompile(`^([A-Z][A-Z_-]*|page|pages|cache|lock|locks|lease|meta|tenant|entry|isr|req|request|ver|version)$`)

// form is the form of a row's key: its labels stay, and one part is {key}. It is "" if the table has no such key.
func (s *sample) form(row attr.Item, i int) string {
	if i >= len(s.keys) {
		return ""
	}
	text, _ := plain(row[s.keys[i]])
	kind := ""
	if _, is := row[s.keys[i]].(attr.N); is {
		kind = " N"
	}
	head := s.keys[i] + kind + " = "
	for _, separator := range []string{"#", "|", ":"} {
		parts := strings.Split(text, separator)
		if len(parts) == 1 || strings.HasPrefix(parts[1], "//") {
			continue
		}
		var open []int
		for j, part := range parts {
			of := strings.ToLower(parts[max(j-1, 0)])
			switch {
			case label.MatchString(part):
			case j > 0 && (of == "ver" || of == "version"):
				parts[j] = "{version}"
			case j > 0 && (of == "req" || of == "request"):
				parts[j] = "{request}"
			case j > 0 && of == "tenant":
				parts[j] = "{tenant}"
			default:
				open = append(open, j)
			}
		}
		for n, j := range open {
			prefix := strings.Join(parts[:j+1], separator) + separator
			switch {
			case n == len(open)-1:
				parts[j] = "{key}"
			case s.all(i, prefix):
				s.unsure("%s: %s is in the key of all sample rows, and taken for a part that never changes", s.keys[i],
					parts[j])
			case n == 0:
				parts[j] = "{tenant}"
				s.unsure("%s: the first part is taken for a tenant: %s", s.keys[i], text)
			default:
				parts[j] = "{*}"
			}
		}
		return head + strings.Join(parts, separator)
	}
	if i == 1 && !label.MatchString(text) {
		return head + "{*}"
	}
	if i == 1 {
		return head + text
	}
	return head + "{key}"
}

// all reports whether there are several rows, and the key of each begins with the prefix.
func (s *sample) all(i int, prefix string) bool {
	return len(s.rows) > 1 && !slices.ContainsFunc(s.rows, func(row attr.Item) bool {
		text, _ := plain(row[s.keys[i]])
		return !strings.HasPrefix(text, prefix)
	})
}

func (s *sample) entry(forms [2]string, rows []attr.Item) isr.Row {
	e := isr.Row{Table: s.table, Partition: forms[0], Sort: forms[1]}
	of := map[string][]attr.Value{} // by attribute, or by its path in a map
	for _, row := range rows {
		for name, v := range row { //isrsim:unordered each is put by itself
			if slices.Contains(s.keys, name) {
				continue
			}
			of[name] = append(of[name], v)
			if m, is := v.(attr.M); is {
				for part, v := range m { //isrsim:unordered as above
					of[name+"."+part] = append(of[name+"."+part], v)
				}
			}
		}
	}
	left := slices.Sorted(maps.Keys(of))
	take := func(r *role, name, unit string) {
		*r.of(&e) = strings.TrimSpace(name + " " + unit)
		s.Attributes[name] = r.field
		left = slices.DeleteFunc(left, func(n string) bool { return n == name || strings.HasPrefix(n, name+".") })
	}
	for i := range roles {
		r := &roles[i]
		for _, called := range r.called {
			for _, name := range slices.Clone(left) {
				n, unit := natureOf(of[name])
				if *r.of(&e) != "" || !called.MatchString(snake(name)) || !slices.Contains(r.is, n) {
					continue
				}
				if r.field == "ttl" || n != aTime && n != aLength || unit == "s" || r.field == "renews" {
					unit = ""
				}
				take(r, name, unit)
			}
		}
	}
	s.ends(&e, of, &left, take)
	if e.Token != "" && e.Expires+e.Lasts == "" {
		e.Expires = "never"
		s.unsure("%s: no end of the lock was seen: it is taken to be held until it is given back", forms[0])
	}
	if e.Generated+e.FreshUntil == "" && e.Body+e.BodyKey+e.Current+e.ETag+e.Version+e.Window != "" {
		e.Body, e.BodyKey, e.Current, e.ETag, e.Version, e.Window = "", "", "", "", "", ""
		s.unsure("%s: no page is seen, because no time says which page is the newer (generated)", forms[0])
	}
	for _, name := range left {
		within := func(other string) bool { return strings.HasPrefix(other, name+".") }
		if !strings.Contains(name, ".") && !slices.ContainsFunc(slices.Sorted(maps.Keys(s.Attributes)), within) {
			s.unsure("%s has no meaning in the mapping", name)
		}
	}
	return e
}

// ends decides what ends at a time with an unclear name: the lease of a lock, freshness, or the row.
func (s *sample) ends(
	e *isr.Row, of map[string][]attr.Value, left *[]string, take func(r *role, name, unit string),
) {
	as := func(field string) *role {
		return &roles[slices.IndexFunc(roles, func(r role) bool { return r.field == field })]
	}
	for _, name := range slices.Clone(*left) {
		n, unit := natureOf(of[name])
		if n != aTime || !later.MatchString(snake(name)) {
			continue
		}
		if unit == "s" {
			unit = ""
		}
		switch {
		case e.Token != "" && e.Expires+e.Lasts == "":
			take(as("expires"), name, unit)
			s.unsure("%s is taken for the end of the lease, because %s holds the lock", name, e.Token)
		case e.FreshUntil == "" && e.Window == "" && (e.Expires == "" || e.Generated != ""):
			take(as("fresh-until"), name, unit)
			s.unsure("%s is taken for the end of freshness; if TTL deletes the row at that time, it is ttl", name)
		case e.TTL == "" && unit == "":
			take(as("ttl"), name, "")
			s.unsure("%s is taken for the attribute of TTL", name)
		}
	}
}

// natureOf returns the kind of an attribute's values, and the unit of times and lengths.
func natureOf(values []attr.Value) (nature, string) {
	v := values[0]
	for _, other := range values { // an attribute may be NULL while it has no meaning
		if _, null := v.(attr.NULL); null {
			v = other
		}
	}
	switch v := v.(type) {
	case attr.BOOL, attr.NULL:
		return aFlag, ""
	case attr.M, attr.L:
		return aMap, ""
	case attr.S:
		if _, is := rowmap.Parse(string(v), "iso8601"); is {
			return aTime, "iso8601"
		}
		if _, err := time.ParseDuration(string(v)); err == nil && v != "0" {
			return aLength, "duration"
		}
	}
	text, _ := plain(v)
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return aText, ""
	case n < 1:
		return aCount, ""
	case n < 1e9:
		return aLength, ""
	case n < 1e11:
		return aTime, "s"
	case n < 1e14:
		return aTime, "ms"
	case n < 1e17:
		return aTime, "us"
	default:
		return aTime, "ns"
	}
}
