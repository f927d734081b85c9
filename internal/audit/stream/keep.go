package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

// keep is the file of Options.Keep.
type keep struct {
	*os.File
	lock   *os.File // nil if the system or the folder has no locks
	arn    string
	shards []*shard // as far as they were read
	lines  int
}

// opening is how each line begins.
const opening = `{"shardId":"`

// line has the members of a line by which the stream is found again.
type line struct {
	Shard    string    `json:"shardId"`
	Stream   string    `json:"eventSourceARN,omitempty"`
	End      time.Time `json:"shardEnd,omitzero"` // the shard has been read to its end
	Gap      *gapLine  `json:"shardGap,omitempty"`
	Dynamodb *struct {
		Created  int64             `json:"ApproximateCreationDateTime"`
		Sequence evidence.Sequence `json:"SequenceNumber"`
	} `json:"dynamodb,omitempty"`
}

type gapLine struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Why  string    `json:"why"`
}

// openKeep opens the file of a stream, or makes it. A line that a killed process has left half written is removed.
func openKeep(name, arn string) (k *keep, err error) {
	k = &keep{arn: arn}
	if k.File, err = os.OpenFile(filepath.Clean(name), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(k.Name())
	if err == nil {
		k.lock, err = atomicfile.Lock(target)
	}
	if errors.Is(err, atomicfile.ErrHeld) {
		err = mistake.New(fmt.Errorf("another process writes %s", name), "name another file, or end that process")
	} else {
		err = k.scan()
	}
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *keep) close() {
	_ = k.Close() // each line has been written
	if k.lock != nil {
		_ = k.lock.Close()
	}
}

// scan finds out from the file how far each shard was read, and moves to the file's end.
func (k *keep) scan() error {
	named := map[string]*shard{}
	text, whole := bufio.NewReaderSize(k, 1<<20), int64(0)
	for {
		data, err := text.ReadBytes('\n')
		cut := errors.Is(err, io.EOF)
		if err != nil && !cut {
			return err
		}
		if cut && (strings.HasPrefix(opening, string(data)) || bytes.HasPrefix(data, []byte(opening))) {
			break
		}
		var l line
		k.lines++
		if err := json.Unmarshal(data, &l); cut || err != nil || !bytes.HasPrefix(data, []byte(opening)) {
			return mistake.New(fmt.Errorf("%v: found no record that an audit has kept", evidence.Place{File: k.Name(),
				Line: k.lines}), "name a file that does not exist yet")
		}
		if l.Stream != "" && l.Stream != k.arn {
			return mistake.New(fmt.Errorf("%s has records of %s, expected %s", k.Name(), l.Stream, k.arn),
				"name another file: a stream that is switched on again is a new one")
		}
		whole += int64(len(data))
		s := named[l.Shard]
		if s == nil {
			s = &shard{id: l.Shard, begun: true}
			named[l.Shard], k.shards = s, append(k.shards, s)
		}
		s.take(&l)
	}
	if info, err := k.Stat(); err != nil || info.Size() == whole {
		return err
	}
	_, err := k.Seek(whole, io.SeekStart)
	return errors.Join(err, k.Truncate(whole))
}

// take brings a shard up to date with a line of the file.
func (s *shard) take(l *line) {
	switch {
	case l.Gap != nil:
		s.last, s.at, s.seen = "", time.Time{}, l.Gap.To
	case l.Dynamodb != nil:
		s.last, s.at = l.Dynamodb.Sequence, time.Unix(l.Dynamodb.Created, 0)
		s.seen = s.at
	default:
		s.ended, s.seen = true, l.End
	}
}

// entries reads the file.
func (k *keep) entries() iter.Seq2[evidence.Entry, error] {
	files, err := evidence.Open([]string{k.Name()}, nil)
	if err != nil {
		return func(yield func(evidence.Entry, error) bool) { yield(evidence.Entry{}, err) }
	}
	return files[0].Entries()
}

// append writes the entries that were read from a shard, and sets their places.
func (k *keep) append(s *shard, entries []evidence.Entry) error {
	var text []byte
	note := func(l line) {
		l.Shard = s.id
		data, _ := json.Marshal(l) // no error: JSON can represent each field
		text = append(append(text, data...), '\n')
	}
	for _, e := range entries {
		k.lines++
		place := evidence.Place{File: k.Name(), Line: k.lines}
		if g := e.Gap; g != nil {
			note(line{Stream: k.arn, Gap: &gapLine{g.From, g.To, g.Why}})
			g.Place = place
			continue
		}
		e.Record.Place = place
		text = append(append(append(text, opening...), s.id...), `",`...)
		from := len(text)
		text = evidence.AppendJSON(text, k.arn, e.Record)
		text = append(text[:from], text[from+1:]...) // without its opening brace
	}
	if s.ended {
		k.lines++
		note(line{End: s.seen.UTC()})
	}
	_, err := k.Write(text)
	return err
}
