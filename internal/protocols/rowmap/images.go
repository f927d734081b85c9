package rowmap

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// lock is the translated LOCK of a row; nil if the row is not locked.
func (e *entry) lock(row attr.Item, held holding) attr.Item {
	lock := attr.Item{}
	token, has := held.token, held.token != ""
	if e.token.is() {
		var text string
		text, has = e.token.text(row)
		token = attr.S(text)
	}
	var expires attr.N
	ends := false
	if e.expires.is() {
		expires, ends = e.expires.seconds(row)
	} else {
		expires, ends = held.expires, held.expires != attr.N{}
	}
	if e.token.is() && !has && e.token.in(row) != nil {
		return nil // an empty text, or null: nobody holds it
	}
	// In a row that is also a page, the lock exists only with its token.
	if e.isPage && (e.token.is() && !has || !e.token.is() && (e.endless || e.expires.in(row) == nil)) {
		return nil
	}
	if has {
		lock["lease_token"] = token
	}
	if e.endless {
		lock["lease_expires_at"] = attr.NULL{}
	}
	if ends {
		put(lock, "lease_expires_at", expires)
	}
	e.addTTL(lock, row)
	return lock
}

func (e *entry) addTTL(to, row attr.Item) {
	if v := e.ttl.in(row); e.ttl.is() && v != nil {
		to["ttl"] = v
	}
}

// page is the translated META or VER# of a row; nil if the row has no attribute of a page.
func (e *entry) page(m *Mapping, row attr.Item) attr.Item {
	page := attr.Item{}
	for _, of := range []struct {
		from *attribute
		to   string
	}{{&e.generated, "generated_at"}, {&e.window, "revalidate_seconds"}, {&e.freshUntil, "fresh_until"}} {
		if n, ok := of.from.seconds(row); of.from.is() && ok {
			put(page, of.to, n)
		}
	}
	if e.always > 0 && len(page) > 0 {
		put(page, "revalidate_seconds", scaled(attr.Int(int64(e.always)), 9))
	}
	for _, of := range []struct {
		from *attribute
		to   string
	}{{&e.bodyKey, "s3_key"}, {&e.etag, "etag"}} {
		if text, ok := of.from.text(row); of.from.is() && ok {
			page[of.to] = attr.S(text)
		}
	}
	if text, ok := e.current.text(row); e.current.is() && ok {
		page["current_sk"] = attr.S(sortVersion + m.versionIn(text))
	}
	if v := e.body.in(row); e.body.is() && v != nil && attr.KindOf(v) != "NULL" {
		page["body"] = v
	}
	if v := e.version.in(row); e.version.is() && v != nil {
		page["version"] = v
	}
	if !e.body.is() && !e.bodyKey.is() && !e.current.is() {
		//isrsim:unordered each by itself
		for name, v := range row {
			if !m.known[name] {
				page["page."+name] = v
			}
		}
	}
	e.invalidate(page, row)
	if len(page) == 0 {
		return nil
	}
	e.addTTL(page, row)
	return page
}

// MarkedAt is the attribute of a translated page with the time of its latest mark, if the page was generated after the
// mark. Then the mark has no effect, by the clocks that wrote the two times.
const MarkedAt = "marked_at"

// invalidate ends the freshness of a page that the row marks as not fresh, and notes a mark from before the page.
func (e *entry) invalidate(page, row attr.Item) {
	if e.invalidated.unit == "" {
		if e.invalidated.is() && e.marks(row) {
			closeWindow(page)
		}
		return
	}
	n, ok := e.invalidated.seconds(row)
	at, isTime := instant(n)
	if !ok || !isTime {
		return
	}
	if generated, known := Instant(page, "generated_at"); !known || !at.Before(generated) {
		closeWindow(page)
	} else if last, noted := Instant(page, MarkedAt); !noted || last.Before(at) {
		put(page, MarkedAt, n)
	}
}

// closeWindow ends the freshness of a page.
func closeWindow(page attr.Item) {
	page["revalidate_seconds"] = attr.Int(0)
	delete(page, nanosOf("revalidate_seconds"))
	if page["fresh_until"] == nil {
		return
	}
	delete(page, nanosOf("fresh_until"))
	if page["fresh_until"] = attr.Int(0); page["generated_at"] != nil {
		delete(page, "fresh_until")
	}
}

// marks reports whether the marker of a row, if it is not a time, says that the page is not fresh.
func (e *entry) marks(row attr.Item) bool {
	switch v := e.invalidated.in(row).(type) {
	case nil, attr.NULL:
		return false
	case attr.BOOL:
		return bool(v)
	case attr.N:
		return v != attr.Int(0)
	case attr.S:
		return v != ""
	default:
		return true
	}
}

// versionIn is the name of the version that a page's pointer leads to. The pointer is that name, or the sort key or
// partition key of the version's row.
func (m *Mapping) versionIn(pointer string) string {
	for i := range m.entries {
		e := &m.entries[i]
		if !e.isVersion {
			continue
		}
		for _, k := range []*keyAttribute{&e.sort, &e.partition} {
			var c captures
			if k.name != "" && k.form.has(forVersion) && len(k.form.parts) > 1 && k.form.match(pointer, &c) {
				return c.version
			}
		}
	}
	return pointer
}

// request is the translated REQ# of a row.
func (e *entry) request(row attr.Item) attr.Item {
	request := attr.Item{}
	for _, of := range []struct {
		from *attribute
		to   string
	}{{&e.hash, "request_hash"}, {&e.status, "status"}, {&e.made, "result_s3_key"}} {
		if text, ok := of.from.text(row); of.from.is() && ok {
			request[of.to] = attr.S(text)
		}
	}
	e.addTTL(request, row)
	return request
}
