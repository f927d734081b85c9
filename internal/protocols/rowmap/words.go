package rowmap

import (
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// phrase is a part of a sentence about META and LOCK, and its replacement in the cache's own names.
type phrase struct{ from, to string }

// phrases returns the phrases of the mapping, the longer ones first.
func (m *Mapping) phrases() []phrase {
	var all []phrase
	add := func(from, to string) {
		if to != "" && from != to {
			all = append(all, phrase{from, to})
		}
	}
	lock := m.sortKey(func(e *entry) bool { return e.isLock })
	page := m.sortKey(func(e *entry) bool { return e.isPage })
	if lock == "" {
		add("a LOCK row", "a lock")
		add("META or LOCK row", "row of a page or lock")
		add("LOCK row", "lock")
		lock = "the lock"
	}
	if page == "" {
		add("META row", "page")
		page = "the page"
	}
	named := func(name, kind, without string, of ...func(*entry) *attribute) {
		own := ""
		for _, a := range of {
			for i := range m.entries {
				if e := &m.entries[i]; own == "" && a(e).is() {
					own = a(e).String()
				}
			}
		}
		if own == "" {
			own = without
		}
		if kind != "" {
			add(name+" ("+kind+")", own)
		}
		own, _, _ = strings.Cut(own, " (") // without the unit, because the type does not matter there
		add(name, own)
	}
	if until := m.ownFreshUntil(); until != "" { // this is not a length of time, unlike revalidate_seconds
		add("generated_at + revalidate_seconds", until)
		add("T - revalidate_seconds", "T - the window")
	}
	named("lease_token", "S", "a holder", func(e *entry) *attribute { return &e.token })
	named("lease_expires_at", "N", "", func(e *entry) *attribute { return &e.expires },
		func(e *entry) *attribute { return &e.lasts })
	named("generated_at", "N", "", func(e *entry) *attribute { return &e.generated },
		func(e *entry) *attribute { return &e.freshUntil })
	named("revalidate_seconds", "N", "the window", func(e *entry) *attribute { return &e.window },
		func(e *entry) *attribute { return &e.freshUntil })
	named("s3_key", "", "", func(e *entry) *attribute { return &e.bodyKey })
	named("current_sk", "", "", func(e *entry) *attribute { return &e.current })
	named("request_hash", "", "", func(e *entry) *attribute { return &e.hash })
	for i := range m.entries {
		if own := m.entries[i].ttl.name; own != "" && strings.ContainsRune("aeiouAEIOU", rune(own[0])) {
			add("a ttl", "an "+own)
			break
		}
	}
	named("ttl", "", "", func(e *entry) *attribute { return &e.ttl })
	add("LOCK", lock)
	add("META", page)
	add("REQ row", "row of the request")
	add("REQ", "the row of the request")
	return all
}

// ownFreshUntil is the name of the end of freshness in a mapping without a window; otherwise "".
func (m *Mapping) ownFreshUntil() (name string) {
	for i := range m.entries {
		if e := &m.entries[i]; e.window.is() || e.always > 0 {
			return ""
		} else if e.freshUntil.is() {
			name = e.freshUntil.name
		}
	}
	return name
}

// sortKey is the fixed sort key of a kind of rows; "" if there is none, or several.
func (m *Mapping) sortKey(is func(*entry) bool) string {
	found := ""
	for i := range m.entries {
		e := &m.entries[i]
		if !is(e) {
			continue
		}
		text, fixed := e.sort.form.fixed()
		if !fixed || e.isLock && e.isPage || found != "" && found != text {
			return ""
		}
		found = text
	}
	return found
}

// Say translates a sentence about META and LOCK into the cache's own names. It replaces only whole words.
func (m *Mapping) Say(text string) string {
	if m == nil {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		at := slices.IndexFunc(m.words,
			func(p phrase) bool { return (i == 0 || begins(text[i-1])) && stands(text[i:], p.from) })
		if at < 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(m.words[at].to)
		i += len(m.words[at].from)
	}
	return b.String()
}

func begins(before byte) bool { return strings.IndexByte(" (\"\n", before) >= 0 }

// stands reports whether a text begins with the phrase, and a word ends where the phrase ends.
func stands(text, phrase string) bool {
	rest, ok := strings.CutPrefix(text, phrase)
	return ok && (rest == "" || strings.IndexByte(" ,.;:)\"'\n", rest[0]) >= 0)
}

// Row prints a row by its own names, without its key. The function instantText prints times.
func (m *Mapping) Row(row attr.Item, instantText func(time.Time) string) string {
	if row == nil {
		return "absent"
	}
	shown := attr.Item{}
	times := map[string]string{}
	//isrsim:unordered attr.Item prints in order
	for name, v := range row {
		if !m.isKey(name) {
			shown[name] = v
		}
	}
	for i := range m.entries {
		for _, a := range []*attribute{
			&m.entries[i].expires, &m.entries[i].generated, &m.entries[i].freshUntil, &m.entries[i].ttl,
		} {
			if !a.is() || shown[a.name] == nil {
				continue
			}
			if n, ok := a.seconds(row); ok {
				if t, ok := instant(n); ok {
					times[a.name] = instantText(t)
				}
			}
		}
	}
	names := make([]string, 0, len(shown))
	//isrsim:unordered sorted below
	for name := range shown {
		names = append(names, name)
	}
	slices.Sort(names)
	parts := make([]string, len(names))
	for i, name := range names {
		text, isTime := times[name]
		if !isTime {
			text = shown[name].String()
		}
		parts[i] = name + ": " + text
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// isKey reports whether an attribute is part of a key.
func (m *Mapping) isKey(name string) bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool { return e.partition.name == name || e.sort.name == name })
}

// Time returns the instant that a number in a request means in milliseconds, microseconds or nanoseconds. It returns
// false if m is nil, or if no such instant is within some years of around.
func (m *Mapping) Time(n int64, around time.Time) (time.Time, bool) {
	const near = 20 * 365 * 24 * time.Hour
	for _, t := range []time.Time{time.UnixMilli(n), time.UnixMicro(n), time.Unix(0, n)} {
		if d := t.Sub(around); m != nil && d.Abs() < near {
			return t, true
		}
	}
	return time.Time{}, false
}

// Key prints the key of a row: its sort key, if it has one, and its partition key.
func (m *Mapping) Key(table string, key attr.Item) string {
	for i := range m.entries {
		e := &m.entries[i]
		pk, ok := e.partition.in(key)
		if !ok || e.table != "" && e.table != table {
			continue
		}
		text := pk
		if e.sort.name != "" {
			if sk, has := e.sort.in(key); has {
				text = sk + " of " + pk
			}
		}
		if m.unified && table != "" {
			text += " in " + table
		}
		return text
	}
	return key.String()
}
