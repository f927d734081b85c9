package property

import (
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rowmap"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rows holds that Check.Rows is right.
func (c *Check) rows(t *testing.T) {
	t.Helper()
	if _, err := rowmap.New(c.Rows); err != nil {
		t.Fatalf("property: Check.Rows: %v", err)
	}
}

// reach is the marks that a check must reach unless it says otherwise. TTL deletes no row that has no ttl.
func (c *Check) reach() []scenario.Mark {
	m, err := rowmap.New(c.Rows)
	if m == nil || err != nil || m.Expires() {
		return Reach()
	}
	return slices.DeleteFunc(Reach(), func(mark scenario.Mark) bool { return mark == scenario.TTLDeletion })
}

// say puts the store's own names into a sentence about META and LOCK.
func (c *Check) say(text string) string {
	m, err := rowmap.New(c.Rows)
	if err != nil {
		return text
	}
	return m.Say(text)
}

// expectedRows names the rows that the store is to write, for a question.
func (c *Check) expectedRows() string {
	if len(c.Rows.Rows) == 0 && c.Rows.Translate == nil {
		return "rows META and LOCK"
	}
	return "the rows of Check.Rows"
}

// shares reports whether a page and its lock may be in one row, so that a fault of one is a fault of the other.
func shares(s isr.Schema) bool {
	m, err := rowmap.New(s)
	return err == nil && m.Shares()
}
