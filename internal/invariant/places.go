package invariant

import (
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// places finds the partition of a page's rows. Usually the schema derives it from the page's key. If a cache has other
// partition keys, the partition is learnt from rows: the row that leads to a body belongs to the page for which the
// body was made. If the page was never published, the rows that its node named show it (history.Event.Partition).
type places struct {
	ev     Evidence
	learnt map[pageOf]string // learnt from bodies; "" if there are several. Nil until it is needed
}

// of returns the partition key of the page that e rendered; "" if it is not known. A partition derived from the key
// counts even if it exists only after the rendering: at one instant, either may come first.
func (p *places) of(l *ledger, e *history.Event) string {
	own := ownPartition(e)
	if e.Partition == own || l.find(own) != nil {
		return own
	}
	if p != nil {
		if slices.ContainsFunc(p.ev.Changes, func(c ddbfake.Change) bool { id, _ := role(c); return id.pk == own }) {
			return own
		}
		if p.learnt == nil {
			p.learn()
		}
		if pk := p.learnt[pageOf{e.Tenant, e.Key}]; pk != "" {
			return pk
		}
	}
	return e.Partition
}

// ownPartition is the partition key that the schema gives a page.
func ownPartition(e *history.Event) string { return isr.PartitionKey(e.Tenant, e.Key) }

// learn connects each body with its maker and with the row that leads to it.
func (p *places) learn() {
	p.learnt = map[pageOf]string{}
	made := map[string]pageOf{}
	for i := range p.ev.History {
		if e := &p.ev.History[i]; e.Kind == history.Rendered {
			made[e.Body] = pageOf{e.Tenant, e.Key}
		}
	}
	shown := bodiesOf(p.ev)
	for i := range p.ev.Changes {
		c := &p.ev.Changes[i]
		if c.Cause != ddbfake.CauseClient || c.After == nil {
			continue
		}
		id, sk := role(*c)
		if sk != sortMeta && !strings.HasPrefix(sk, sortVersion) {
			continue
		}
		page, known := made[shown.by(c.After, c.Seq)]
		if !known {
			continue
		}
		if before, twice := p.learnt[page]; twice && before != id.pk {
			id.pk = ""
		}
		p.learnt[page] = id.pk
	}
}
