package s3fake

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Fingerprint is the fingerprint of all that later answers can depend on: buckets, objects with their dates and
// headers, and uploads under way. The log and the faults are not in it.
func (s *Store) Fingerprint() uint64 {
	var sum fingerprint.Hash
	s.mu.Lock()
	defer s.mu.Unlock()
	//isrsim:unordered a sum has no order
	for _, b := range s.buckets {
		of := fingerprint.Hash(1).Text(b.name)
		sum += of.Text(b.region).Number(uint64(b.created.UnixNano()))
		b.objects.Scan(func(key string, o *object) bool {
			sum += printOf(of.Text(key), o.header).Text(string(o.body)).Text(o.etag).
				Number(uint64(o.modified.UnixNano())).
				Text(o.checksum.print()).Text(fmt.Sprint(o.parts))
			return true
		})
		b.uploads.Scan(func(name string, u *upload) bool {
			h := printOf(of.Number(1).Text(name), u.header).Number(uint64(u.begun.UnixNano())).
				Text(checksum{algorithm: u.algorithm, composite: u.composite}.print()).
				Text(fmt.Sprint(u.named, u.overtaken, u.completed))
			u.parts.Scan(func(n int, p *part) bool {
				h = h.Number(uint64(n)).Text(string(p.body)).Text(p.etag).Number(uint64(p.modified.UnixNano())).
					Text(p.checksum)
				return true
			})
			if u.answer != nil {
				h = printOf(h.Number(uint64(u.answer.Status)), u.answer.header).Text(string(u.answer.body))
			}
			sum += h
			return true
		})
	}
	return uint64(sum.Number(uint64(s.uploads)))
}

// Keep keeps what Fingerprint is about, and returns a function that puts it back.
func (s *Store) Keep() (back func()) {
	was := s.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	uploads := s.uploads
	return func() {
		s.Restore(was)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.uploads = uploads
	}
}

// Detail is everything about a call that its sender decides.
func (c *Call) Detail() string {
	in := c.in
	if in == nil {
		return c.String()
	}
	sum := printOf(printOf(printOf(0, in.header), in.trailer), http.Header(in.query)).Text(in.region).
		Text(string(in.body))
	return fmt.Sprintf("%s by %s (%x)", c, c.Actor, uint64(sum))
}

// Fingerprint is the fingerprint of an answer, as its caller sees it.
func (a *Answer) Fingerprint() uint64 {
	if a == nil {
		return 1
	}
	h := printOf(fingerprint.Hash(0).Number(uint64(a.Status)).Text(a.Code), a.header).Text(string(a.body))
	if a.err != nil {
		h = h.Text(fmt.Sprintf("%+v", *a.err))
	}
	return uint64(h)
}

// print is the checksum as a text.
func (c checksum) print() string {
	name := ""
	if c.algorithm != nil {
		name = c.algorithm.name
	}
	return fmt.Sprint(name, c.value, c.composite)
}

// printOf adds headers, which have no order.
func printOf(h fingerprint.Hash, header http.Header) fingerprint.Hash {
	names := make([]string, 0, len(header))
	//isrsim:unordered sorted below
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		h = h.Text(name).Text(fmt.Sprint(header[name]))
	}
	return h
}
