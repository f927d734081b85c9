package rowmap

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Roles are the kinds of row that a row may be.
type Roles uint8

// These are the roles. A nil Mapping or Translator stands for the rows META and LOCK: there the sort key is the role.
const (
	Page Roles = 1 << iota
	Lock
	Version
	Request
)

// Has reports whether r has all of the roles in other.
func (r Roles) Has(other Roles) bool { return r&other == other }

// Place returns the roles that a row may have judging only by its key, and the partition of its translated rows. The
// item may have other attributes, too.
func (m *Mapping) Place(table string, item map[string]types.AttributeValue) (pk string, roles Roles) {
	if m == nil {
		sk, _ := item["sk"].(*types.AttributeValueMemberS)
		own, _ := item["pk"].(*types.AttributeValueMemberS)
		if sk == nil || own == nil {
			return "", 0
		}
		return own.Value, RoleOf(sk.Value)
	}
	key := m.keyOf(table, item)
	if key == nil {
		return "", 0
	}
	for i := range m.entries {
		e := &m.entries[i]
		var c captures
		if e.roles() == 0 || !e.matches(table, key, &c) {
			continue
		}
		roles |= e.roles()
		pk = isr.PartitionKey(c.tenant, c.key)
	}
	if m.translate == nil {
		return pk, roles
	}
	for _, row := range m.translate(table, item) {
		sk, _ := row["sk"].(*types.AttributeValueMemberS)
		own, _ := row["pk"].(*types.AttributeValueMemberS)
		if sk == nil || own == nil {
			continue
		}
		pk = own.Value
		roles |= cmp.Or(RoleOf(sk.Value), Request)
	}
	return pk, roles
}

// RoleOf is the role of a translated row, or of a row that needs no translation, by its sort key; 0 if it has none.
func RoleOf(sk string) Roles {
	switch {
	case sk == sortMeta:
		return Page
	case sk == sortLock:
		return Lock
	case strings.HasPrefix(sk, sortVersion):
		return Version
	case strings.HasPrefix(sk, sortRequest):
		return Request
	}
	return 0
}

func (e *entry) roles() (r Roles) {
	if e.isPage || e.isMark {
		r |= Page
	}
	if e.isLock {
		r |= Lock
	}
	if e.isVersion {
		r |= Version
	}
	if e.isRequest {
		r |= Request
	}
	return r
}

// keyOf returns the attributes of a key that the entries of a table name, or nil if the item lacks them.
func (m *Mapping) keyOf(table string, item map[string]types.AttributeValue) attr.Item {
	names := m.keyNames(table, item)
	if names == nil {
		return nil
	}
	key := attr.Item{}
	for _, name := range names {
		v, err := attr.FromSDK(item[name])
		if err != nil || v == nil {
			return nil
		}
		key[name] = v
	}
	return key
}

// keyNames returns the names of the attributes of keyOf. Entries that name the table come first, because their items
// may have the key of another table among their attributes.
func (m *Mapping) keyNames(table string, item map[string]types.AttributeValue) []string {
	named := slices.ContainsFunc(m.entries, func(e entry) bool { return e.table != "" && e.table == table })
	for i := range m.entries {
		e := &m.entries[i]
		if named != (e.table != "") || named && e.table != table || item[e.partition.name] == nil ||
			e.sort.name != "" && item[e.sort.name] == nil {
			continue
		}
		return e.key
	}
	if len(m.entries) > 0 {
		return nil
	}
	return ownKey
}

// ownKey is the key of a table of META and LOCK.
var ownKey = []string{"pk", "sk"}

// Pages returns the partitions of the translated rows to which a row may belong by its key. A schema's function decides
// by more than keys, so then all rows may belong to one partition.
func (m *Mapping) Pages(table string, key attr.Item) (all []string) {
	if m.translate != nil {
		return []string{""}
	}
	for i := range m.entries {
		e := &m.entries[i]
		var c captures
		if e.roles() == 0 || !e.matches(table, key, &c) {
			continue
		}
		if pk := isr.PartitionKey(c.tenant, c.key); !slices.Contains(all, pk) {
			all = append(all, pk)
		}
	}
	return all
}

// PagesOf is Pages for the key in an item.
func (m *Mapping) PagesOf(table string, item map[string]types.AttributeValue) []string {
	if m == nil {
		if pk, roles := m.Place(table, item); roles != 0 {
			return []string{pk}
		}
		return nil
	}
	return m.Pages(table, m.keyOf(table, item))
}

// Name identifies a row in a table by the key in an item; "" if the mapping does not have that table.
func (m *Mapping) Name(table string, item map[string]types.AttributeValue) string {
	key := m.keyOf(table, item)
	if key == nil {
		return ""
	}
	return table + key.String()
}

// Writes returns the roles of a row that a put of an item, or an update, sets. It sets the lock if it sets the lock's
// token or, for a lock without a token, its end or its length. It sets the page if it sets an attribute of the page.
// For an update, the item is its key.
func (m *Mapping) Writes(
	table string, item map[string]types.AttributeValue, update *string, aliases map[string]string,
) (r Roles) {
	if m == nil {
		_, r = m.Place(table, item)
		if r == Lock && update != nil && !names(*update, aliases, "lease_token") {
			return 0
		}
		return r & (Page | Lock)
	}
	key := m.keyOf(table, item)
	var set map[string]bool
	if update != nil {
		set = setBy(*update, aliases)
	} else {
		set = map[string]bool{}
		//isrsim:unordered a set has no order
		for name := range item {
			set[name] = true
		}
	}
	for i := range m.entries {
		e := &m.entries[i]
		var c captures
		if key == nil || !e.matches(table, key, &c) {
			continue
		}
		taken := &e.token
		switch {
		case taken.is():
		case e.expires.is():
			taken = &e.expires
		default:
			taken = &e.lasts
		}
		if e.isLock && set[taken.top()] {
			r |= Lock
		}
		for _, a := range []*attribute{&e.body, &e.bodyKey, &e.generated, &e.freshUntil, &e.current} {
			if e.isPage && a.is() && set[a.top()] {
				r |= Page
			}
		}
	}
	return r
}

// names reports whether an expression contains an attribute, or an alias of it.
func names(expression string, aliases map[string]string, attribute string) bool {
	if strings.Contains(expression, attribute) {
		return true
	}
	//isrsim:unordered any of them will do
	for alias, name := range aliases {
		if name == attribute && strings.Contains(expression, alias) {
			return true
		}
	}
	return false
}

// Publishes reports whether an update gives a page a body, instead of only taking, extending or giving back its lock.
func (m *Mapping) Publishes(
	table string, item map[string]types.AttributeValue, update *string, aliases map[string]string,
) bool {
	key, set := m.keyOf(table, item), setBy(*cmp.Or(update, new(string)), aliases)
	for i := range m.entries {
		e := &m.entries[i]
		var c captures
		if key == nil || !e.isPage || !e.matches(table, key, &c) {
			continue
		}
		for _, a := range []*attribute{&e.body, &e.bodyKey, &e.current} {
			if a.is() && set[a.top()] {
				return true
			}
		}
	}
	return false
}

// setBy returns the attributes to which an update expression gives values, by SET or ADD.
func setBy(expression string, aliases map[string]string) map[string]bool {
	set := map[string]bool{}
	setting, target := false, false
	depth := 0
	for _, word := range words(expression) {
		switch strings.ToUpper(word) {
		case "SET", "ADD":
			setting, target = true, true
			continue
		case "REMOVE", "DELETE":
			setting = false
			continue
		}
		switch {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case word == "," && depth == 0:
			target = true
		case setting && target:
			name, _, _ := strings.Cut(word, "[")
			name, _, _ = strings.Cut(name, ".")
			if own, is := aliases[name]; is {
				name = own
			}
			set[name] = true
			target = false
		}
	}
	return set
}

// words splits an expression into names and the signs ( ) and ,.
func words(expression string) []string {
	var all []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			all = append(all, word.String())
			word.Reset()
		}
	}
	for _, r := range expression {
		switch {
		case r == '(' || r == ')' || r == ',':
			end()
			all = append(all, string(r))
		case unicode.IsSpace(r) || r == '=' || r == '+' || r == '-':
			end()
		default:
			word.WriteRune(r)
		}
	}
	end()
	return all
}

// Token returns the value of the token in an item, or nil.
func (m *Mapping) Token(item map[string]types.AttributeValue) types.AttributeValue {
	if m == nil {
		return item["lease_token"]
	}
	for i := range m.entries {
		if a := &m.entries[i].token; a.is() && item[a.name] != nil {
			return item[a.name]
		}
	}
	return nil
}

// TTL returns the value of the TTL attribute in an item, or nil.
func (m *Mapping) TTL(item map[string]types.AttributeValue) types.AttributeValue {
	if m == nil {
		return item["ttl"]
	}
	for i := range m.entries {
		if a := &m.entries[i].ttl; a.is() && item[a.name] != nil {
			return item[a.name]
		}
	}
	return nil
}

// Shares reports whether a page and its lock may be in one row.
func (m *Mapping) Shares() bool {
	if m == nil {
		return false
	}
	for i := range m.entries {
		for j := range m.entries {
			a, b := &m.entries[i], &m.entries[j]
			if a.isPage && b.isLock && (a.table == b.table || a.table == "" || b.table == "") &&
				a.partition.form.text == b.partition.form.text && a.sort.form.text == b.sort.form.text {
				return true
			}
		}
	}
	return m.translate != nil
}
