package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
)

// The meaning of a row in a record agrees with its line in words.
func TestMeaningsAreThoseInWords(t *testing.T) {
	run := kernel.Run{
		Scenario: scenariotest.Embedded(t, "paused-writer"), Protocol: scenariotest.Protocol(t, "recipe-b"), Seed: 2,
	}
	r, _ := made(t, run)
	roles := map[string]int{}
	for _, s := range r.Steps {
		for _, c := range s.Changes {
			if len(c.Means) != 1 {
				t.Fatalf("%s means %+v, want one thing", c.Text, c.Means)
			}
			m := c.Means[0]
			roles[m.Role]++
			if gone := strings.HasSuffix(c.Text, "=> absent"); m.Gone != gone || gone != (c.After == nil) {
				t.Errorf("%s is gone: %v", c.Text, m.Gone)
			}
			_, after, _ := strings.Cut(c.Text, " => ")
			if m.Until != nil && !strings.Contains(after, " until +"+m.Until.Sub(r.Start).String()) {
				t.Errorf("%s means something until %v", c.Text, m.Until.Sub(r.Start))
			}
			if (m.Role == "lock" || m.Role == "version") && !m.Gone && m.Until == nil {
				t.Errorf("%s has no end", c.Text)
			}
			if m.Token != "" && !strings.Contains(after, "token "+m.Token+" ") {
				t.Errorf("%s has the token %s", c.Text, m.Token)
			}
		}
	}
	if roles["lock"] == 0 || roles["page"] == 0 || roles["version"] == 0 {
		t.Errorf("found the roles %v, want locks, pages and versions", roles)
	}
}

// A row under names of its own means the same.
func TestMeaningsOfOtherRows(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: own-rows
rows:
  - partition: pk = CACHE#{key}
    sort: sk = META
    body-key: s3_key
    generated: generated_at
    window: revalidate_seconds
  - partition: pk = CACHE#{key}
    sort: sk = LOCK
    token: lease_token
    expires: lease_expires_at
actors: [{name: alice, script: [get /home]}]
bounds: {ticks: 0}
`)
	r, _ := made(t, kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 2})
	until := map[string]time.Duration{}
	for _, step := range r.Steps {
		for _, c := range step.Changes {
			for _, m := range c.Means {
				if m.Until != nil {
					until[m.Role] = m.Until.Sub(step.Time)
				}
			}
		}
	}
	if until["lock"] <= 0 || until["page"] <= 0 {
		t.Errorf("found the ends %v, want those of a lock and of a page", until)
	}
}
