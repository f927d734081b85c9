package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// dataFile is the file in which a server keeps its tables and rows from one run to the next. It holds a complete state
// even after a crash, because saving writes a new file, which then replaces the old one.
type dataFile struct {
	name string
	db   *ddbfake.DB
	log  io.Writer

	mu    sync.Mutex
	saved string // control.State of the state that is in the file
}

// openData loads a file, if it exists.
func openData(name string, db *ddbfake.DB, log io.Writer) (*dataFile, error) {
	d := &dataFile{name: name, db: db, log: log}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(name)); err != nil {
			return nil, mistake.New(fmt.Errorf("--data: %w", err), "the folder of the file must be there")
		}
		fmt.Fprintf(log, "isr-sim: --data: there is no %s yet\n", name)
		return d, nil
	}
	if err != nil {
		return nil, mistake.New(fmt.Errorf("--data: %w", err), "")
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err == nil {
		err = db.Load("", bufio.NewReader(file))
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "ddbfake: load: ")
		return nil, mistake.New(fmt.Errorf("--data: %s: %s", name, reason),
			"the file stays as it is: mend it, or move it away")
	}
	rows := 0
	for _, table := range db.Tables() {
		rows += len(db.Items(table))
	}
	fmt.Fprintf(log, "isr-sim: --data: %s has tables: %d, rows: %d, as of %s; what was written later is missing\n",
		name, len(db.Tables()), rows, info.ModTime().UTC().Format(time.RFC3339))
	d.saved = control.State(db)
	return d, nil
}

// save writes the file, unless nothing has changed, and returns its name.
func (d *dataFile) save() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state := control.State(d.db)
	if state == d.saved {
		return d.name, nil
	}
	draft, err := atomicfile.Create(d.name)
	if err != nil {
		return "", fmt.Errorf("--data: %w", err)
	}
	defer draft.Discard()
	to := bufio.NewWriter(draft)
	err = errors.Join(control.Dump(to, d.db), to.Flush(), draft.Sync())
	if err == nil {
		err = draft.Commit(0o600)
	}
	if err != nil {
		return "", fmt.Errorf("--data: %w", err)
	}
	d.saved = state // the file may hold a later state, which is then saved again
	return d.name, nil
}

// keep saves at intervals until ctx is done.
func (d *dataFile) keep(ctx context.Context, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if _, err := d.save(); err != nil {
				fmt.Fprintf(d.log, "isr-sim: %v\n", err)
			}
		}
	}
}
