package rowmap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// fit tells how well a mapping fits the rows that were written.
type fit struct {
	written    bool // some row was written
	found      bool // something was found in some row
	locked     bool // some row had a lock with its holder and its end
	left       bool // some attribute or some row has no meaning
	misfits    []string
	paged      bool     // some row had a page
	pageless   []string // rows without a page, with the reason
	complaints []string // what the schema's own function reported
	times      map[*attribute]*timesOf
}

func (f *fit) clone() fit {
	c := *f
	c.misfits, c.pageless, c.complaints, c.times = slices.Clone(f.misfits), slices.Clone(f.pageless),
		slices.Clone(f.complaints), maps.Clone(f.times)
	//isrsim:unordered each by itself
	for a, of := range c.times {
		same := *of
		c.times[a] = &same
	}
	return c
}

// timesOf tells whether an attribute's values were times of the run.
type timesOf struct {
	near  bool   // some value was
	text  string // the first value that would be such a time in another unit
	as    unit   // that unit
	tries int    // how many values were tried in other units
}

// times are the attributes with times of the run whose unit the mapping chooses. The TTL attribute is not among them:
// it is always in seconds.
func (e *entry) times() [3]*attribute {
	return [...]*attribute{&e.expires, &e.generated, &e.freshUntil}
}

// mostTries bounds the effort for an attribute that holds no times.
const mostTries = 4

// life is how far the times in a row may be from the time of its write. In another unit they are further away.
const life = 10 * 365 * 24 * time.Hour

// time notes the times in a row that matches an entry.
func (f *fit) time(e *entry, c *ddbfake.Change) {
	for _, a := range e.times() {
		if !a.is() || !e.holds(c.After) || a.in(c.After) == nil {
			continue
		}
		of := f.times[a]
		if of == nil {
			of = new(timesOf)
			if f.times == nil {
				f.times = map[*attribute]*timesOf{}
			}
			f.times[a] = of
		}
		near := func(u unit) bool {
			n, ok := (&attribute{a.name, u, a.path}).seconds(c.After)
			t, is := instant(n)
			return ok && is && t.Sub(c.Time).Abs() < life
		}
		if of.near = of.near || near(a.unit); of.near || of.text != "" || of.tries == mostTries {
			continue
		}
		of.tries++
		for _, u := range unitsOfTime {
			if near(u) {
				of.text = fmt.Sprintf("%s is %s: no time of this run in %s, but one in %s", a.name,
					shortened(a.in(c.After)), a.unit, u)
				of.as = u
				break
			}
		}
	}
}

// Misread names an attribute whose values are times of the run only in another unit than the mapping's, and gives a
// hint how to map it. Otherwise both are "".
func (t *Translator) Misread() (text, hint string) {
	for i := range t.m.entries {
		e := &t.m.entries[i]
		for n, a := range e.times() {
			of := t.fit.times[a]
			if of == nil || of.near || of.text == "" {
				continue
			}
			mapped := a.name
			if of.as != seconds {
				mapped += " " + string(of.as)
			}
			field :=
				[...][2]string{{"Expires", "expires"}, {"Generated", "generated"}, {"FreshUntil", "fresh-until"}}[n]
			return of.text, fmt.Sprintf("hint: `%s` looks like %s: %s: %q, or in a file %s: %s", a.name, of.as,
				field[0], mapped, field[1], mapped)
		}
	}
	return "", ""
}

// maxNamed is the number of rows that a misfit names.
const maxNamed = 8

func (f *fit) refuse(complaint string) {
	if len(f.complaints) < maxNamed && !slices.Contains(f.complaints, complaint) {
		f.complaints = append(f.complaints, complaint)
	}
}

// see notes a change and the roles found in its row.
func (f *fit) see(m *Mapping, c *ddbfake.Change, found []target, matched, marks bool) {
	if c.After == nil {
		return
	}
	f.written = true
	any := marks
	for i := range found {
		row := found[i].after
		any = any || row != nil
		if found[i].sk == sortLock && row["lease_token"] != nil && row["lease_expires_at"] != nil {
			f.locked = true
		}
	}
	f.found = f.found || any
	f.pages(m, c, found, any)
	left := !any
	if matched && !left && !f.left {
		//isrsim:unordered any of them will do
		for name := range c.After {
			left = left || !m.known[name]
		}
	}
	f.left = f.left || left
	if len(f.misfits) == maxNamed || !left && f.locked {
		return
	}
	if text := m.misfit(c, any); !slices.Contains(f.misfits, text) {
		f.misfits = append(f.misfits, text)
	}
}

// pages notes whether a change leaves a page, or why its row is none.
func (f *fit) pages(m *Mapping, c *ddbfake.Change, found []target, any bool) {
	f.paged = f.paged || slices.ContainsFunc(found, func(o target) bool { return o.sk == sortMeta && o.after != nil })
	if f.paged || len(f.pageless) == maxNamed {
		return
	}
	why := m.reasons(c, func(e *entry) bool { return e.isPage && (!any || e.matches(c.Table, c.Key, new(captures))) })
	if why == "" {
		return
	}
	if text := rowOf(c) + why; !slices.Contains(f.pageless, text) {
		f.pageless = append(f.pageless, text)
	}
}

// misfit describes a row, with the reason why it has no role or, if it has one, why it has no lock.
func (m *Mapping) misfit(c *ddbfake.Change, found bool) string {
	return rowOf(c) + m.reasons(c, func(e *entry) bool { return !found || e.isLock })
}

// rowOf names a row and its attributes.
func rowOf(c *ddbfake.Change) string {
	var others []string
	for _, name := range slices.Sorted(maps.Keys(c.After)) {
		if c.Key[name] == nil {
			others = append(others, name)
		}
	}
	text := fmt.Sprintf("%s %v", c.Table, c.Key)
	if len(others) > 0 {
		text += ", with " + strings.Join(others, ", ")
	}
	return text
}

// reasons gives, after a colon, the reasons why some entries find nothing in a row, or no lock; "" if there are none.
func (m *Mapping) reasons(c *ddbfake.Change, of func(*entry) bool) string {
	var reasons []string
	for i := range m.entries {
		if !of(&m.entries[i]) {
			continue
		}
		if why := m.entries[i].misses(c); why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}

// misses returns the reason why an entry finds nothing in a row, or no lock; "" if it finds it.
func (e *entry) misses(c *ddbfake.Change) string {
	if e.table != "" && e.table != c.Table {
		return "the table is not " + e.table
	}
	for _, k := range []*keyAttribute{&e.partition, &e.sort} {
		if k.name == "" {
			continue
		}
		text, ok := k.in(c.Key)
		if !ok {
			return "the key has no " + k.name
		}
		var found captures
		if !k.form.match(text, &found) {
			return fmt.Sprintf("%s is not of the form %s", k.name, k.form.text)
		}
	}
	for i := range e.when {
		if !e.when[i].holds(c.After) {
			return "not " + e.when[i].text
		}
	}
	for _, a := range []*attribute{&e.token, &e.expires, &e.lasts, &e.generated, &e.freshUntil} {
		if a.is() && a.in(c.After) == nil {
			return "no " + a.name
		}
	}
	for _, a := range e.times() {
		if _, ok := a.seconds(c.After); a.is() && !ok {
			return fmt.Sprintf("%s is %v and no time in %s", a.name, shortened(a.in(c.After)), a.unit)
		}
	}
	return ""
}

func shortened(v attr.Value) string {
	const most = 40
	text := v.String()
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// Misfit returns the reason why the mapping does not fit the rows that were translated, and names some of them; "" if
// the rows show no reason. A mapping with a lock fits if a lock was found, or if nothing in the rows could be one.
func (t *Translator) Misfit() string {
	f := &t.fit
	switch {
	case len(f.complaints) > 0:
		return "the row mapping is wrong:\n  " + strings.Join(f.complaints, "\n  ")
	case !f.written, !t.m.HasPages() && !t.m.locks():
		return ""
	case !f.found:
		return listed("the row mapping fits none of the rows that were written:", f.misfits)
	case t.m.locks() && !f.locked && f.left:
		return listed("the row mapping finds no lock in the rows that were written:", f.misfits)
	default:
		return ""
	}
}

// Unlocked reports that a mapping has no lock, and names rows that may hold one; "" if the mapping has a lock, or if
// all written rows and attributes have a meaning.
func (t *Translator) Unlocked() string {
	if !t.m.Lockless() || !t.fit.left {
		return ""
	}
	return listed("the row mapping has no lock, and other rows or attributes were written, which may be one:",
		t.fit.misfits) + "\nhint: add an entry with Token and Expires, or in a file `token` and `expires`; a cache " +
		"without a lock leaves this invariant out"
}

// Unnamed reports that a cache without a mapping wrote no known rows, and names some of its rows; otherwise "".
func Unnamed(changes []ddbfake.Change) string {
	var misfits []string
	for i := range changes {
		c := &changes[i]
		if c.After == nil {
			continue
		}
		if sk, _ := c.Key.Str("sk"); sk == sortMeta || sk == sortLock || strings.HasPrefix(sk, sortVersion) ||
			strings.HasPrefix(sk, sortRequest) {
			return ""
		}
		misfits = append(misfits, rowOf(c))
	}
	if misfits == nil {
		return ""
	}
	slices.Sort(misfits) // runs in another order get the same text
	misfits = slices.Compact(misfits)
	return listed("no row that was written is a page or a lease, META or LOCK:",
		misfits[:min(len(misfits), maxNamed)]) +
		"\nhint: say what the cache's own rows mean: Rows, or in a file `rows` (docs/SCENARIOS.md, Rows of your own)"
}

// listed returns a text, followed by the given rows.
func listed(text string, rows []string) string {
	for _, row := range rows {
		text += "\n  " + row
	}
	if len(rows) == maxNamed {
		text += "\n  and others"
	}
	return text
}

// Pageless names rows that could not be read as pages, with the reason, if no row could; otherwise "". Without a write
// of a page it says nothing, because a run may end before one.
func (t *Translator) Pageless() string {
	f := &t.fit
	if f.paged || len(f.pageless) == 0 {
		return ""
	}
	return listed("the row mapping finds no page in the rows that were written:", f.pageless)
}

func (m *Mapping) locks() bool {
	return slices.ContainsFunc(m.entries, func(e entry) bool { return e.isLock })
}

// Unlocked marks each META of a mapping without locks: no publish of such a cache belongs to a lease.
const Unlocked = "unlocked"

// Lockless reports whether no row can be a lock. Without a mapping, LOCK is one.
func (m *Mapping) Lockless() bool { return m != nil && m.translate == nil && !m.locks() }

// HasPages reports whether rows may be pages. Without a mapping, META is one.
func (m *Mapping) HasPages() bool {
	return m == nil || m.translate != nil ||
		slices.ContainsFunc(m.entries, func(e entry) bool { return e.isPage || e.isVersion })
}
