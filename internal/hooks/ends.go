package hooks

import (
	"context"
	"time"
)

// Ends says for each end that a row holds when requests to that row were sent.
type Ends map[End]Tried

// End is the end of an actor's lease, or of a page's freshness.
type End struct {
	Page  string
	Actor string // "" means the end of the page's freshness
}

// Tried says whether requests were sent in the last second before an end, at it, and after it. Part says whether one
// was sent at a time at which rounding to whole seconds makes a difference: see Rounds.
type Tried struct{ Before, At, After, Part bool }

// Rounds reports whether a request at the time sent would show that the end of a promise is rounded to whole seconds,
// although it should be at the time exact. With down, the end is rounded down, as in a lease that is too short;
// otherwise up, as in a freshness that is too long. No request shows it if the promise ends at a whole second.
func Rounds(exact, sent time.Time, down bool) bool {
	second := exact.Truncate(time.Second)
	if down {
		return !sent.Before(second) && sent.Before(exact)
	}
	return !exact.Equal(second) && sent.After(exact) && sent.Before(second.Add(time.Second))
}

// Note adds the end of a row.
func (e Ends) Note(end End) {
	if _, known := e[end]; !known {
		e[end] = Tried{}
	}
}

// Try notes a request, sent at the time sent, to a row that ends at the time at; exact is that end without rounding.
// "Before" means within the last second.
func (e Ends) Try(end End, at, exact, sent time.Time) {
	tried := e[end]
	tried.Part = tried.Part || Rounds(exact, sent, end.Actor != "")
	switch {
	case sent.Before(at.Add(-time.Second)):
	case sent.Before(at):
		tried.Before = true
	case sent.Equal(at):
		tried.At = true
	default:
		tried.After = true
	}
	e[end] = tried
}

// Plus returns what was tried in one of two searches, or by one of two actors.
func (t Tried) Plus(o Tried) Tried {
	return Tried{t.Before || o.Before, t.At || o.At, t.After || o.After, t.Part || o.Part}
}

// Share credits all actors of a class with what any of them tried, because each has a run like those of the others.
func (e Ends) Share(class map[string]int) {
	type group struct {
		page  string
		class int
	}
	tried := map[group]Tried{}
	//isrsim:unordered a union
	for end, m := range e {
		if c := class[end.Actor]; c > 0 {
			tried[group{end.Page, c}] = tried[group{end.Page, c}].Plus(m)
		}
	}
	//isrsim:unordered each by itself
	for actor, c := range class {
		//isrsim:unordered each by itself
		for g, m := range tried {
			if g.class == c {
				e[End{g.page, actor}] = m
			}
		}
	}
}

// MostPatience is the largest patience that a scenario may give its cache.
const MostPatience = 1000

// NeverFresh reports whether a correct cache may never have a fresh page. If rendering takes longer than a lease, only
// caches that refresh their leases publish the page. And a page that is stale before somebody next looks at it is never
// found fresh. Replicas and clocks delay that look by the time behind. Waiting for the next poll delays it, too, unless
// the page is soon stale (see SoonStale), and is rendered and seen without any delay.
func NeverFresh(lease, revalidate, render, poll, behind time.Duration) bool {
	const second = time.Second // rows hold whole seconds
	late := behind
	if render > 0 || behind > 0 || !SoonStale(revalidate) {
		late += poll
	}
	return render+2*second > lease || render+late+2*second > revalidate
}

// SoonStale reports whether a page may be stale by the next poll after its rendering. Nodes that wait for it look again
// at once.
func SoonStale(revalidate time.Duration) bool { return revalidate < 4*time.Second }

type leftKey struct{}

// Leave returns a context whose runs break with sim.ErrLeft once the channel is closed, without going on to their end:
// a run of a program may take minutes. With a nil channel, runs go on to their end. Cancelling the context does not end
// a run, because within a run that would act like one more fault. So the context carries the channel as a value.
func Leave(ctx context.Context, left <-chan struct{}) context.Context {
	return context.WithValue(ctx, leftKey{}, left)
}

// Left returns the channel of a context's runs; nil if there is none.
func Left(ctx context.Context) <-chan struct{} {
	left, _ := ctx.Value(leftKey{}).(<-chan struct{})
	return left
}
