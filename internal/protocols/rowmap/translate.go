package rowmap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The sort keys of translated rows.
const (
	sortMeta    = isr.SortMeta
	sortLock    = isr.SortLock
	sortVersion = "VER#"
	sortRequest = "REQ#"
)

// Translator translates a log from its beginning. It is not safe for concurrent use.
type Translator struct {
	m    *Mapping
	held map[rowName]holding
	pks  map[page]string
	fit  fit
	of   []target // room for the rows of one change
	// places are the places of rows that only a schema's function knows, as far as they have been written.
	places map[string]place
	known  map[rowKey]place // by keys of strings, where no function reads the row
	// pages are the pages of mappings with marks. A mark is a row which says that a page, in another row, is not fresh.
	pages map[rowName]*markedPage
	marks []mark // room for the marks of one change
}

// markedPage is a page as its own row shows it, and the rows that mark it, by their names.
type markedPage struct {
	row   attr.Item // its translated META, or nil
	marks map[markName]mark
}

// markName names a row that marks a page, and the entry that found it.
type markName struct {
	rowName
	e *entry
}

// mark is a row that marks a page.
type mark struct {
	e   *entry
	pk  string
	row attr.Item // nil if the row is gone
}

// rowKey is a key of strings: its values in the order of Mapping.keyOf.
type rowKey struct{ table, partition, sort string }

// place is a row's roles, and the partition of its translated rows.
type place struct {
	pk    string
	roles Roles
}

// Translator returns a new translator, which knows no rows.
func (m *Mapping) Translator() *Translator {
	return &Translator{m: m, held: map[rowName]holding{}, pks: map[page]string{}, places: map[string]place{},
		known: map[rowKey]place{}, pages: map[rowName]*markedPage{}}
}

// Clone returns a translator that continues from the state of this one.
func (t *Translator) Clone() *Translator {
	c := &Translator{m: t.m, held: maps.Clone(t.held), pks: t.pks, fit: t.fit.clone(), places: maps.Clone(t.places),
		known: t.known, pages: maps.Clone(t.pages)}
	//isrsim:unordered each by itself
	for name, p := range c.pages {
		c.pages[name] = &markedPage{p.row, maps.Clone(p.marks)}
	}
	return c
}

type page struct{ tenant, key string }

type rowName struct{ region, table, key string }

// holding has the facts about a lock that its row lacks.
type holding struct {
	token   attr.S    // for locks without a token: the actor that set the end or, if the lock has no end, wrote the row
	expires attr.N    // for locks that hold only a length
	renewed time.Time // the write from which that length counts
}

// target is a translated row before and after a change.
type target struct {
	pk, sk        string
	before, after attr.Item
}

// Log translates a log.
func (m *Mapping) Log(log []ddbfake.Change) []ddbfake.Change {
	t := m.Translator()
	all := make([]ddbfake.Change, 0, 2*len(log))
	for i := range log {
		all = t.Append(all, &log[i])
	}
	return all
}

// Append appends what a change of the log means: zero or more changes of META, LOCK, VER# and REQ# rows, with the
// sequence number and the request of c. Versions come before the page that leads to them, and pages before locks.
func (t *Translator) Append(to []ddbfake.Change, c *ddbfake.Change) []ddbfake.Change {
	t.of, t.marks = t.of[:0], t.marks[:0]
	matched := false
	for i := range t.m.entries {
		e := &t.m.entries[i]
		var found captures
		if !e.matches(c.Table, c.Key, &found) {
			continue
		}
		matched = true
		t.fit.time(e, c)
		t.entry(e, t.pk(&found), &found, c)
	}
	if t.m.translate != nil {
		t.custom(c)
	}
	if t.m.marks {
		t.mark(c)
	}
	marks := slices.ContainsFunc(t.marks, func(m mark) bool { return m.row != nil })
	t.fit.see(t.m, c, t.of, matched, marks)
	slices.SortStableFunc(t.of, func(a, b target) int { return rank(a.sk) - rank(b.sk) })
	for i := range t.of {
		of := &t.of[i]
		if of.before.Equal(of.after) {
			continue
		}
		translated := *c
		if t.m.unified {
			translated.Table = ""
		}
		translated.Key = attr.Item{"pk": attr.S(of.pk), "sk": attr.S(of.sk)}
		translated.Before, translated.After = of.before, of.after
		to = append(to, translated)
	}
	return to
}

func rank(sk string) int {
	switch {
	case strings.HasPrefix(sk, sortVersion):
		return 0
	case sk == sortMeta:
		return 1
	case sk == sortLock:
		return 2
	default:
		return 3
	}
}

// pk is the partition of a page's translated rows.
func (t *Translator) pk(c *captures) string {
	of := page{c.tenant, c.key}
	pk, known := t.pks[of]
	if !known {
		pk = isr.PartitionKey(of.tenant, of.key)
		t.pks[of] = pk
	}
	return pk
}

// target returns the change's translated row with a key, and adds it if it is missing.
func (t *Translator) target(pk, sk string) *target {
	i := slices.IndexFunc(t.of, func(o target) bool { return o.pk == pk && o.sk == sk })
	if i < 0 {
		i = len(t.of)
		t.of = append(t.of, target{pk: pk, sk: sk})
	}
	return &t.of[i]
}

// entry adds the page and the lock that an entry finds in the row.
func (t *Translator) entry(e *entry, pk string, found *captures, c *ddbfake.Change) {
	before, after := e.holds(c.Before), e.holds(c.After)
	if e.isMark {
		m := mark{e: e, pk: pk}
		if after {
			m.row = c.After
		}
		t.marks = append(t.marks, m)
		return
	}
	add := func(sk string, read func(attr.Item) attr.Item) {
		of := t.target(pk, sk)
		if before && of.before == nil {
			of.before = read(c.Before)
		}
		if after && of.after == nil {
			of.after = read(c.After)
		}
	}
	switch {
	case e.isRequest:
		add(sortRequest+found.request, e.request)
	case e.isVersion:
		add(sortVersion+found.version, func(row attr.Item) attr.Item { return e.page(t.m, row) })
	case e.isPage:
		add(sortMeta, func(row attr.Item) attr.Item {
			page := e.page(t.m, row)
			if page != nil && t.m.Lockless() {
				page[Unlocked] = attr.BOOL(true)
			}
			return page
		})
	}
	if e.isLock {
		t.lock(e, t.target(pk, sortLock), before, after, c)
	}
}

// lock adds the row's lock. Facts that the row lacks come from the change that wrote it.
func (t *Translator) lock(e *entry, of *target, before, after bool, c *ddbfake.Change) {
	var name rowName
	var was holding
	var known bool
	if t.m.remembers {
		name = rowName{c.Region, c.Table, c.Key.String()}
		was, known = t.held[name]
	}
	if before && of.before == nil {
		of.before = e.lock(c.Before, was)
	}
	if !after || of.after != nil {
		if c.After == nil {
			delete(t.held, name)
		}
		return
	}
	now := was
	if !known || !sameValue(&e.expires, c) && !(e.endless && before) {
		now.token = attr.S(c.Actor)
	}
	if e.lasts.is() {
		if !known || !sameValue(&e.renews, c) {
			now.renewed = c.Time
		}
		now.expires = attr.N{}
		// If the length changes but the attribute of renews does not, the new length counts from the same write,
		// because other machines count so.
		if d, ok := e.lasts.length(c.After); ok {
			now.expires = secondsOf(now.renewed.Add(d))
		}
	}
	of.after = e.lock(c.After, now)
	if t.m.remembers {
		t.held[name] = now
	}
}

// mark ends the freshness of a change's pages that other rows mark. A mark is a separate row: when it is written, the
// page's row does not change, but the translated page does.
func (t *Translator) mark(c *ddbfake.Change) {
	for _, m := range t.marks {
		page := t.marked(c, m.pk)
		if !slices.ContainsFunc(t.of, func(o target) bool { return o.pk == m.pk && o.sk == sortMeta }) {
			t.of = append(t.of, target{m.pk, sortMeta, page.row, page.row})
		}
	}
	for i := range t.of {
		of := &t.of[i]
		if of.sk != sortMeta {
			continue
		}
		page := t.marked(c, of.pk)
		page.row = of.after
		of.before = page.shown(of.before)
		for _, m := range t.marks {
			switch name := (markName{rowName{c.Region, c.Table, c.Key.String()}, m.e}); {
			case m.pk != of.pk:
			case m.row == nil:
				delete(page.marks, name)
			default:
				page.marks[name] = m
			}
		}
		of.after = page.shown(of.after)
	}
}

// marked returns the state of a page, in the table of a change or, if all tables belong to one cache, in its region.
func (t *Translator) marked(c *ddbfake.Change, pk string) *markedPage {
	name := rowName{region: c.Region, table: c.Table, key: pk}
	if t.m.unified {
		name.table = ""
	}
	if t.pages[name] == nil {
		t.pages[name] = &markedPage{marks: map[markName]mark{}}
	}
	return t.pages[name]
}

// shown is the META of a page after its marks.
func (p *markedPage) shown(row attr.Item) attr.Item {
	if row == nil {
		return nil
	}
	if len(p.marks) > 0 {
		row = maps.Clone(row)
	}
	//isrsim:unordered any of them closes the window, and the latest counts
	for _, m := range p.marks {
		m.e.invalidate(row, m.row)
	}
	return row
}

// sameValue reports whether a change leaves an attribute as it was.
func sameValue(a *attribute, c *ddbfake.Change) bool {
	before, after := a.in(c.Before), a.in(c.After)
	return before != nil && attr.Equal(before, after)
}

// custom adds the rows that the schema's function makes of the row.
func (t *Translator) custom(c *ddbfake.Change) {
	read := func(row attr.Item, of func(*target) *attr.Item) {
		if row == nil {
			return
		}
		for _, made := range t.m.translate(c.Table, row.ToSDK()) {
			item, err := attr.ItemFromSDK(made)
			if err != nil {
				t.fit.refuse(fmt.Sprintf("Translate returned a row that DynamoDB does not take: %v", err))
				continue
			}
			pk, hasPK := item.Str("pk")
			sk, hasSK := item.Str("sk")
			if !hasPK || !hasSK {
				t.fit.refuse(fmt.Sprintf("Translate returned the row %v, expected pk (S) and sk (S)", item))
				continue
			}
			for _, name := range times {
				if n, is := item[name].(attr.N); is {
					put(item, name, n)
				}
			}
			if to := of(t.target(pk, sk)); *to == nil {
				*to = item
			}
		}
	}
	read(c.Before, func(o *target) *attr.Item { return &o.before })
	read(c.After, func(o *target) *attr.Item { return &o.after })
	at := t.places[c.Table+c.Key.String()]
	for i := range t.of {
		at.pk, at.roles = t.of[i].pk, at.roles|cmp.Or(RoleOf(t.of[i].sk), Request)
	}
	t.places[c.Table+c.Key.String()] = at
}

// Place is Mapping.Place, but also knows the rows that a schema's function has translated.
func (t *Translator) Place(table string, item map[string]types.AttributeValue) (pk string, roles Roles) {
	if t == nil {
		return (*Mapping)(nil).Place(table, item)
	}
	if t.m.translate == nil {
		return t.placed(table, item)
	}
	pk, roles = t.m.Place(table, item)
	if at := t.places[t.m.Name(table, item)]; at.pk != "" {
		pk, roles = at.pk, roles|at.roles
	}
	return pk, roles
}

// placed is Mapping.Place, and remembers the places of keys of strings: a search asks for the same few at every step.
func (t *Translator) placed(table string, item map[string]types.AttributeValue) (pk string, roles Roles) {
	of, names := rowKey{table: table}, t.m.keyNames(table, item)
	if names == nil {
		return "", 0
	}
	values := [...]*string{&of.partition, &of.sort}
	for i, name := range names {
		text, is := item[name].(*types.AttributeValueMemberS)
		if !is {
			return t.m.Place(table, item)
		}
		*values[i] = text.Value
	}
	at, known := t.known[of]
	if !known {
		at.pk, at.roles = t.m.Place(table, item)
		t.known[of] = at
	}
	return at.pk, at.roles
}

// Guesses reports whether only a schema's function knows the meaning of attributes.
func (m *Mapping) Guesses() bool { return m != nil && m.translate != nil }

// resolution is the smallest step of the times in rows.
func (m *Mapping) resolution() time.Duration {
	least := time.Second
	for i := range m.entries {
		e := &m.entries[i]
		for _, a := range []*attribute{&e.generated, &e.freshUntil, &e.expires, &e.lasts, &e.window} {
			if a.is() {
				least = min(least, a.unit.resolution())
			}
		}
	}
	return least
}

// Resolution is the smallest step of the times in rows: a second if m is nil.
func (m *Mapping) Resolution() time.Duration {
	if m == nil {
		return time.Second
	}
	if m.translate != nil {
		return min(m.resolution(), time.Millisecond)
	}
	return m.resolution()
}
