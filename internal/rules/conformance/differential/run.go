package differential

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pair is two stores to compare: the fake, and one that is taken to be right. From Create to Drop, both have the
// tables, empty. It runs one sequence at a time.
type Pair struct {
	// Fake is the store under test.
	Fake Store
	// Real is the store with which it is compared.
	Real Store
	// Words means that the real store has the service's own words, which are compared too.
	Words bool
	// Known are the known differences of the real store.
	Known []*Known
	// Tally counts the operations, expressions and errors of the run.
	Tally *Tally
	// Survey, if not nil, gets every difference that is not listed, and the sequence continues, so that one run shows
	// many.
	Survey func(*Failure)

	runs int
}

// Failure is a difference that is not listed.
type Failure struct {
	Sequence Sequence
	// At is the index of the request with different answers, or the length of the sequence if only the remaining rows
	// differ.
	At          int
	Disparities []disparity
	// Answers are both answers to the request, for readers.
	Answers [2]string
	names   [2]string
}

// Kind names the difference: while rapid shrinks, failures of one kind count as the same.
func (f *Failure) Kind() string {
	operation := "what is left"
	if f.At < len(f.Sequence) {
		operation = f.Sequence[f.At].Operation
	}
	d := f.Disparities[0]
	if d.path == "error" {
		return operation + " | " + general(d.left) + " | " + general(d.right)
	}
	return operation + " | " + indexInPath.ReplaceAllString(d.path, "[]")
}

// String returns the failure for readers: the requests, the answers and the differences.
func (f *Failure) String() string { return f.text(0) }

// Last is String without the requests before the one with different answers.
func (f *Failure) Last() string { return f.text(min(f.At, len(f.Sequence))) }

func (f *Failure) text(from int) string {
	var b strings.Builder
	for i, r := range f.Sequence[from:min(f.At+1, len(f.Sequence))] {
		fmt.Fprintf(&b, "%3d. %s\n", from+i+1, r)
	}
	if f.At == len(f.Sequence) {
		b.WriteString("the rows that are left:\n")
	}
	for i, name := range f.names {
		fmt.Fprintf(&b, "     %s: %s\n", name, shorten(f.Answers[i]))
	}
	for _, d := range f.Disparities {
		fmt.Fprintf(&b, "     %s: %s has %s, %s has %s\n", d.path, f.names[0], shorten(d.left),
			f.names[1], shorten(d.right))
	}
	return b.String()
}

// Create creates the tables in both stores.
func (p *Pair) Create(ctx context.Context) error {
	p.Fake.seen, p.Real.seen = seen{}, seen{}
	return p.both(func(s Store) error {
		for _, t := range tables {
			if err := s.must(ctx, t.create()); err != nil {
				return err
			}
			if err := s.await(ctx, t.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// Drop deletes the tables. It takes no context, because it must run after the context has ended.
func (p *Pair) Drop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience) //nolint:forbidigo // see above
	defer cancel()
	return p.both(func(s Store) error {
		for _, t := range tables {
			if err := s.must(ctx, Request{Operation: "DeleteTable", Body: object{"TableName": t.name}}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *Pair) both(do func(Store) error) error {
	for _, s := range []Store{p.Fake, p.Real} {
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// must sends a request that cannot fail.
func (s Store) must(ctx context.Context, r Request) error {
	a, err := s.do(ctx, r.Operation, r.text(0))
	if err != nil {
		return err
	}
	if a.failed() {
		return fmt.Errorf("%s: %s: %s", s.Name, r, a.detailed())
	}
	return nil
}

// Run runs a sequence on both stores and leaves their tables empty. It returns nil if every difference is listed. An
// error is one of the infrastructure.
func (p *Pair) Run(ctx context.Context, s Sequence) (*Failure, error) {
	compile(p.Known)
	p.runs++
	p.Tally.sequence()
	failure, err := p.run(ctx, s)
	if err != nil {
		return nil, err
	}
	left, err := p.contents(ctx)
	if err != nil {
		return nil, err
	}
	if failure == nil {
		failure = p.compareContents(s, left)
		if failure != nil && p.Survey != nil {
			p.Survey(failure)
			failure = nil
		}
	}
	if slices.ContainsFunc(s, Request.ofMade) {
		if err := p.dropMade(ctx); err != nil {
			return nil, err
		}
	}
	return failure, p.empty(ctx, left)
}

func (p *Pair) run(ctx context.Context, s Sequence) (*Failure, error) {
	for i, r := range s {
		left, right, err := p.send(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("request %d, %s: %w", i+1, r, err)
		}
		if p.Real.Delayed && r.index() != "" && !left.failed() {
			// An index may lag behind its table: only an answer that stays different is a difference.
			_ = p.Real.until(ctx, func() (bool, error) {
				if unlisted, _ := p.judge(r, left, right); unlisted == nil {
					return true, nil
				}
				again, err := p.Real.pages(ctx, r, p.runs)
				right = again
				return false, err
			})
		}
		p.Tally.note(r, left)
		unlisted, repair := p.judge(r, left, right)
		switch {
		case unlisted != nil && p.Survey == nil:
			return p.failure(s, i, unlisted, left, right), nil
		case unlisted != nil:
			p.Survey(p.failure(s, i, unlisted, left, right))
			repair = repair || unlisted[0].path == "error"
		}
		for _, k := range p.Known {
			if k.Silent == nil || left.failed() || !k.Silent(r) {
				continue
			}
			if err := p.removeBare(ctx, k); err != nil {
				return nil, err
			}
		}
		if repair {
			mend := p.repair
			if r.ofMade() {
				mend = p.dropMade
			}
			if err := mend(ctx); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil // nothing differs
}

func (p *Pair) failure(s Sequence, at int, d []disparity, left, right answer) *Failure {
	return &Failure{
		Sequence: s, At: at, Disparities: d, names: [2]string{p.Fake.Name, p.Real.Name},
		Answers: [2]string{left.detailed() + " " + string(encode(left.body)),
			right.detailed() + " " + string(encode(right.body))},
	}
}

// send sends a request to both stores at once.
func (p *Pair) send(ctx context.Context, r Request) (left, right answer, err error) {
	var rightErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		right, rightErr = p.Real.pages(ctx, r, p.runs)
	}()
	left, err = p.Fake.pages(ctx, r, p.runs)
	<-done
	if err == nil {
		err = rightErr
	}
	return left, right, err
}

// judge compares two answers, and returns the differences that are not listed. repair is true if a listed one may have
// left different rows.
func (p *Pair) judge(r Request, left, right answer) (unlisted []disparity, repair bool) {
	return p.unlisted(r, compare(left, right, p.Words))
}

// unlisted returns the differences that are not listed.
func (p *Pair) unlisted(r Request, all []disparity) (unlisted []disparity, repair bool) {
	for _, d := range all {
		k := known(p.Known, r, d)
		if k == nil {
			unlisted = append(unlisted, d)
			continue
		}
		k.met.Add(1)
		repair = repair || k.Diverges
	}
	return unlisted, repair
}

// contents are the rows of a store: by table, sorted.
type contents map[string][]any

// contents reads all rows of both stores.
func (p *Pair) contents(ctx context.Context) ([2]contents, error) {
	var both [2]contents
	for i, s := range []Store{p.Fake, p.Real} {
		both[i] = contents{}
		for _, t := range tables {
			r := Request{Operation: "Scan", Pages: true, Body: object{"TableName": t.name, "ConsistentRead": true}}
			a, err := s.pages(ctx, r, p.runs)
			if err != nil {
				return both, err
			}
			if a.failed() {
				return both, fmt.Errorf("%s: %s: %s", s.Name, r, a.detailed())
			}
			pages, ok := a.body["Pages"].([]any)
			if !ok {
				pages = []any{a.body}
			}
			var items []any
			for _, page := range pages {
				list, _ := page.(object)["Items"].([]any)
				items = append(items, list...)
			}
			sortTexts(inOrder(items))
			both[i][t.name] = items
		}
	}
	return both, nil
}

func (p *Pair) compareContents(s Sequence, left [2]contents) *Failure {
	var all []disparity
	for _, t := range tables {
		walk(t.name, left[0][t.name], left[1][t.name], &all)
	}
	unlisted, _ := p.unlisted(Request{Operation: "Scan"}, all)
	if unlisted == nil {
		return nil
	}
	return &Failure{
		Sequence: s, At: len(s), Disparities: unlisted, names: [2]string{p.Fake.Name, p.Real.Name},
		Answers: [2]string{string(encode(left[0])), string(encode(left[1]))},
	}
}

func (p *Pair) empty(ctx context.Context, rows [2]contents) error {
	for i, s := range []Store{p.Fake, p.Real} {
		for _, t := range tables {
			if err := s.delete(ctx, t, rows[i][t.name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Store) delete(ctx context.Context, t table, rows []any) error {
	return s.write(ctx, t, rows, func(row object) object {
		key := object{}
		for _, a := range t.key {
			key[a.name] = row[a.name]
		}
		return object{"DeleteRequest": object{"Key": key}}
	})
}

func (s Store) write(ctx context.Context, t table, rows []any, write func(object) object) error {
	const most = 25 // the size of the largest batch
	for chunk := range slices.Chunk(rows, most) {
		writes := make([]any, len(chunk))
		for i, row := range chunk {
			writes[i] = write(row.(object))
		}
		r := Request{Operation: "BatchWriteItem", Body: object{"RequestItems": object{t.name: writes}}}
		if err := s.must(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// repair writes the rows of the fake to the real store, after a listed difference that left others.
func (p *Pair) repair(ctx context.Context) error {
	rows, err := p.contents(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := p.Real.delete(ctx, t, rows[1][t.name]); err != nil {
			return err
		}
		put := func(row object) object { return object{"PutRequest": object{"Item": row}} }
		if err := p.Real.write(ctx, t, rows[0][t.name], put); err != nil {
			return err
		}
	}
	return nil
}

// removeBare deletes the rows of the real store that the fake does not have and that have only their keys.
func (p *Pair) removeBare(ctx context.Context, k *Known) error {
	rows, err := p.contents(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		var bare []any
		for _, row := range rows[1][t.name] {
			has := func(other any) bool { return valueText(other) == valueText(row) }
			if len(row.(object)) == len(t.key) && !slices.ContainsFunc(rows[0][t.name], has) {
				bare = append(bare, row)
			}
		}
		if bare != nil {
			k.met.Add(1)
			if err := p.Real.delete(ctx, t, bare); err != nil {
				return err
			}
		}
	}
	return nil
}

// patience is how long a table's creation may take, or an index to catch up.
const patience = 2 * time.Minute

// await waits until a table can be used.
func (s Store) await(ctx context.Context, name string) error {
	describe := Request{Operation: "DescribeTable", Body: object{"TableName": name}}
	return s.until(ctx, func() (bool, error) {
		a, err := s.do(ctx, describe.Operation, describe.text(0))
		described, _ := a.body["Table"].(object)
		return described["TableStatus"] == "ACTIVE", err
	})
}

// until repeats something until it is done. In a store that is not delayed, it is done at once.
func (s Store) until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(time.Second) //nolint:forbidigo // the service's time is real
	defer again.Stop()
	for {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", s.Name, ctx.Err())
		case <-again.C:
		}
	}
}
