// Package symmetry finds the names of interchangeable actors in the texts of a world: see sim.Symmetry.
package symmetry

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Actors are the symmetric actors of a search, and the world's knowledge of them. Slices are replaced, never modified,
// so copies stay valid.
type Actors struct {
	Class map[string]int // by name, from 1; empty without such actors
	Names []string       // of all of them
	met   []string       // the names that are in rows, bodies or memories, in order of appearance
	tags  []string       // the etags, in order of appearance
	Keyed bool           // a row has a name in its key, so the order of rows depends on names
}

// Rank returns the position of an actor among those met, from 1; 0 for one not met or not symmetric.
func (t *Actors) Rank(actor string) int { return slices.Index(t.met, actor) + 1 }

// Text returns a text with ranks in place of names, and notes these names as met: alice.2-render-1 becomes the first
// body of the second incarnation of the n-th actor.
func (t *Actors) Text(text string) string {
	if len(t.Class) == 0 {
		return text
	}
	if i := slices.Index(t.tags, text); i >= 0 {
		return "\x00etag " + strconv.Itoa(i)
	}
	at, end := t.Next(text, 0)
	if at == end {
		return text
	}
	var ranked []byte
	from := 0
	for ; at < end; at, end = t.Next(text, end) {
		ranked = append(append(ranked, text[from:at]...), 0)
		ranked = strconv.AppendInt(ranked, int64(numbered(&t.met, text[at:end])), 10)
		from = end
	}
	return string(append(ranked, text[from:]...))
}

// Next returns the bounds of the next name in a text, which consists of whole words. Without a name, both are the end
// of the text.
func (t *Actors) Next(text string, from int) (at, end int) {
	edge := func(i int) bool { return (i > 0 && isOfWord(text[i-1])) != (i < len(text) && isOfWord(text[i])) }
	at, end = len(text), len(text)
	for _, name := range t.Names {
		for i := from; ; i++ {
			n := strings.Index(text[i:], name)
			if i += n; n < 0 || i >= at {
				break
			}
			if edge(i) && edge(i+len(name)) {
				at, end = i, i+len(name)
			}
		}
	}
	return at, end
}

func isOfWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// numbered returns the number of a text in order of appearance, from 1.
func numbered(all *[]string, text string) int {
	if i := slices.Index(*all, text); i >= 0 {
		return i + 1
	}
	*all = append(slices.Clip(*all), text)
	return len(*all)
}

// Value is the text of an attribute's value for fingerprints. An etag that is a digest is derived from a body that may
// hold a name; all that is done with digests is to compare them, so their number stands for them. Other etags, such as
// versions and times, count as they are: another attribute may have the same text, and they have an order.
func (t *Actors) Value(attribute, text string) string {
	if attribute == "etag" && len(t.Class) > 0 && digest.MatchString(text) && strings.ContainsAny(text, "abcdef") {
		numbered(&t.tags, text)
	}
	return t.Text(text)
}

// digest is the form of a digest, with or without the quotes of an etag.
var digest = regexp.MustCompile(`^(W/)?"?[0-9a-f]{16,}"?$`)

// Key notes whether the key of a row has a name in it.
func (t *Actors) Key(key string) {
	at, end := t.Next(key, 0)
	t.Keyed = t.Keyed || at < end
}
