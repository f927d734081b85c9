package control

import (
	"context"
	"iter"
	"net/http"
	"runtime"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// streamBytes is roughly the size of a piece of an answer, which is made before it is sent.
const streamBytes = 32 << 10

// Room is the memory that an answer may hold: see Options.Room.
type Room interface {
	// Hold sets the number of bytes that the answer holds now.
	Hold(bytes int)
	// Release ends it.
	Release()
}

// streams bounds the memory of answers of any length, which are written piece by piece.
type streams struct {
	room   func(ctx context.Context, bytes int) (Room, error)
	making chan struct{} // has an element for each answer whose next piece is being made
}

// newStreams lets about half of the processors make such answers. The others can serve other requests, however many
// answers are in progress.
func newStreams(room func(ctx context.Context, bytes int) (Room, error)) *streams {
	return &streams{room, make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// stream is a JSON answer that is written piece by piece. It ends when its client is gone.
type stream struct {
	of    *streams
	ctx   context.Context
	head  bool // the client wants no body
	write func(e *jsontext.Encoder) error
}

// newStream returns the answer to a request. The function write is called only at the answer's turn, so that a waiting
// answer keeps no state of the DB in memory. By then write may no longer use the request.
func (a *api) newStream(r *http.Request, write func(e *jsontext.Encoder) error) stream {
	return stream{a.streams, r.Context(), r.Method == http.MethodHead, write}
}

func (s stream) answer(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if s.head {
		w.WriteHeader(http.StatusOK)
		return
	}
	p := &pieces{to: w, turns: s.of.making}
	if s.of.room != nil {
		room, err := s.of.room(s.ctx, heldBytes(0))
		if err != nil {
			h.Set("Content-Type", "text/plain; charset=utf-8")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer room.Release()
		p.room = room
	}
	defer p.pause()
	p.resume()
	err := s.write(jsontext.NewEncoder(p, jsonOptions))
	p.pause()
	if err == nil { // otherwise the caller is gone
		_, _ = w.Write(p.made)
	}
}

// pieces is a writer that sends its bytes in pieces. While it sends a piece, another answer may be made.
type pieces struct {
	to     http.ResponseWriter
	turns  chan struct{}
	making bool // it has a turn
	made   []byte
	begun  bool
	room   Room // nil if there is no bound
	held   int  // the size of the room
}

// heldBytes returns the memory of an answer whose buffer has made bytes: the buffer, and the same amount in the
// encoder. Only rows longer than a piece need more than the usual memory.
func heldBytes(made int) int { return 2 * max(made, 2*streamBytes) }

// hold sets the answer's room to its memory.
func (p *pieces) hold() {
	if bytes := heldBytes(cap(p.made)); p.room != nil && bytes != p.held {
		p.held = bytes
		p.room.Hold(bytes)
	}
}

func (p *pieces) resume() {
	p.turns <- struct{}{}
	p.making = true
}

func (p *pieces) pause() {
	if p.making {
		p.making = false
		<-p.turns
	}
}

// Write writes.
func (p *pieces) Write(b []byte) (int, error) {
	p.made = append(p.made, b...)
	p.hold()
	if len(p.made) < streamBytes {
		return len(b), nil
	}
	p.pause()
	err := p.send()
	p.resume()
	if p.made = p.made[:0]; cap(p.made) > 2*streamBytes {
		p.made = nil
		p.hold()
	}
	return len(b), err
}

// send sends a piece. The first piece starts the answer.
func (p *pieces) send() error {
	_, err := p.to.Write(p.made)
	if err == nil && !p.begun {
		p.begun = true
		err = http.NewResponseController(p.to).Flush()
	}
	return err
}

// object writes an object. Its members are names and, in turn, values or functions that write them.
func object(e *jsontext.Encoder, members ...any) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range members {
		write, ok := m.(func() error)
		if !ok {
			write = func() error { return json.MarshalEncode(e, m) }
		}
		if err := write(); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// list writes an array of values, each of which is made and written before the next.
func list[V any](e *jsontext.Encoder, values iter.Seq[V], write func(V) error) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for v := range values {
		if err := write(v); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}
