package invariant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// maxFlights is the number of flights under way on one page that are remembered. Beyond it, the flights whose leases
// ended first are forgotten: their clients took the lease and have never come back.
const maxFlights = 256

// followedFlights judges flights of clients that are not known in advance. A simulation knows for certain when a node
// has not taken a lease. Here the client may have taken it under another name, or in another place.
type followedFlights struct {
	flights
	byKey     map[string][]*partition
	actors    map[string]bool     // the actors that have changed a row
	locks     map[tableOf]bool    // the tables that have had a LOCK row
	forgotten map[*partition]bool // not all of their flights are known
	// replicated has the names of the tables that have received a write from another region. Before that, tables with
	// one name in two regions may be two tables.
	replicated map[string]bool
}

// tableOf is a table by its region and name. The name lacks the suffix with which live.Checker marks a table that was
// created again.
type tableOf struct{ region, name string }

// createdAgain separates the name of a table that was created again from the number of times it was.
const createdAgain = ", created again "

func (id rowID) tableOf() tableOf {
	name, _, _ := strings.Cut(id.table, createdAgain)
	return tableOf{id.region, name}
}

func (all *followedFlights) Request(changes []ddbfake.Change) {
	if all.byKey == nil {
		all.byKey, all.actors, all.locks, all.forgotten = map[string][]*partition{}, map[string]bool{},
			map[tableOf]bool{}, map[*partition]bool{}
		all.replicated = map[string]bool{}
	}
	if c := &changes[0]; c.Cause == ddbfake.CauseClient {
		all.actors[c.Actor] = true
	}
	all.log.take(changes, func(s *step) {
		known := all.byKey[s.pk]
		if (s.onMeta != nil || s.onLock != nil) && !slices.Contains(known, s.partition) {
			same := func(other *partition) bool { return other.tableOf() == s.tableOf() } // its table was created again
			all.byKey[s.pk] = append(slices.DeleteFunc(known, same), s.partition)
		}
		if s.onLock != nil {
			all.locks[s.tableOf()] = true
		}
		if changes[0].Cause == ddbfake.CauseReplica {
			all.replicated[s.tableOf().name] = true
		}
		all.step(s)
		all.forget(s.partition)
	})
}

// forget drops flights beyond maxFlights.
func (all *followedFlights) forget(p *partition) {
	under := all.pages[all.page(p)]
	if len(under) <= maxFlights {
		return
	}
	first := 0
	for i, f := range under {
		if f.expires.Before(under[first].expires) {
			first = i
		}
	}
	all.pages[all.page(p)], all.forgotten[p] = slices.Delete(under, first, first+1), true
}

func (all *followedFlights) Event(e *history.Event) Finding {
	if e.Kind == history.Rendered {
		return all.judge(e)
	}
	all.event(e)
	return Finding{}
}

// judge judges a rendering whose page and client are known.
func (all *followedFlights) judge(e *history.Event) Finding {
	p, why := all.partitionOf(e)
	if p == nil {
		return unknown("event %d: %s made %s, and %s", e.Seq, e.Actor, e.Key, why).event(e.Seq)
	}
	all.apart = !all.replicated[p.tableOf().name]
	under := all.pages[all.page(p)]
	own := slices.IndexFunc(under, func(f *flight) bool { return f.actor == e.Actor })
	if own < 0 {
		switch {
		case !all.locks[p.tableOf()]:
			return unknown("event %d: %s made %s, and no LOCK row was ever written in table %s", e.Seq, e.Actor, e.Key,
				p.tableOf().name).event(e.Seq)
		case !all.actors[e.Actor]:
			return unknown("event %d: %s made %s without having taken its lease, and has never written a row: is "+
				"that the access key id that it signs its requests with?", e.Seq, e.Actor, e.Key).event(e.Seq)
		case all.forgotten[p]:
			return unknown("event %d: %s made %s, whose lease more than %d clients have taken without giving it back",
				e.Seq, e.Actor, e.Key, maxFlights).event(e.Seq)
		}
	} else if first := under[own].rendered; first != nil && first.Call != e.Call && first.Call != "" && e.Call != "" {
		return Finding{
			Verdict: Violated,
			Why:     fmt.Sprintf("%s made %s for two requests under one lease", e.Actor, e.Key),
			Changes: []int{under[own].began}, Events: []int{first.Seq, e.Seq},
		}
	}
	return all.renderIn(p, e)
}

// partitionOf returns the rows of the rendered page, or the reason why they are not known. In several regions, they are
// those of the region in which the actor took the lease.
func (all *followedFlights) partitionOf(e *history.Event) (*partition, string) {
	pk := e.Partition
	if pk == "" {
		pk = ownPartition(e)
	}
	switch found := all.byKey[pk]; {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1 &&
		!slices.ContainsFunc(found, func(p *partition) bool { return all.page(p) != all.page(found[0]) }):
		for _, f := range all.pages[all.page(found[0])] {
			for _, p := range found {
				if f.actor == e.Actor && f.region == p.region {
					return p, ""
				}
			}
		}
		return found[0], ""
	case len(found) > 1:
		return nil, "there are rows of that page in the tables " + found[0].table + " and " + found[1].table
	case e.Partition != "":
		return nil, "no META or LOCK row with the partition key " + pk + " was ever written"
	default:
		return nil, "nothing tells which rows are that page's: there is none with the partition key " + pk +
			", and the event names no partition"
	}
}

// teller judges a log and a history while both are written. It is told of changes and events in the order in which they
// happened, and relies on that order, even for changes and events at the same time. It goes on after a violation.
//
// A teller remembers every key, rendering and event that it is told of. It is not safe for concurrent use.
type teller interface {
	// Request takes in the changes of one request, like a Watcher.
	Request(changes []ddbfake.Change)
	// Event judges the next event, whose Seq is greater than those before it. The event must not change afterwards. A
	// Finding without a Verdict judged nothing. The Events of a Finding are those that decide it.
	Event(e *history.Event) Finding
}
