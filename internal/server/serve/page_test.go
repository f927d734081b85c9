//go:build !race

// These tests do not run under the race detector: the code that drives a browser is sixty packages to compile.

package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/browser"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/server/hold"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

func TestMain(m *testing.M) {
	defer browser.End()
	m.Run()
}

// watched is a server with a check, a desk, a clock that stands, and a table with the TTL attribute "ttl".
type watched struct {
	*testing.T
	db      *ddbfake.DB
	clock   *fakeclock.Clock
	checker *live.Checker
	desk    *hold.Desk
	address string
}

func startWatched(t *testing.T) *watched {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	s := &watched{T: t, db: ddbfake.New(ddbfake.Options{Clock: clock}), clock: clock}
	setup := s.db.As("setup")
	must.Done(t)(setup.CreateTable(t.Context(), isr.TableInput("cache")))
	must.Done(t)(setup.UpdateTimeToLive(t.Context(), isr.TTLInput("cache")))
	s.checker = live.New(s.db, live.Options{Clock: clock})
	s.desk = hold.New(hold.Options{DB: s.db, Clock: clock})
	s.address = "http://" + running(t,
		Options{DB: s.db, Control: control.Options{Clock: clock, Holds: s.desk}, Log: io.Discard, Checker: s.checker})
	return s
}

// put writes a row over HTTP, as any client does.
func (s *watched) put(actor string, item map[string]types.AttributeValue) {
	s.Helper()
	must.OK(s, putRow(s.Context(), s.address, actor, item))
}

func putRow(ctx context.Context, address, actor string, item map[string]types.AttributeValue) error {
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &address,
		Credentials: credentials.NewStaticCredentialsProvider(actor, "any", ""),
	})
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: item})
	return err
}

func row(pk, sk string, more ...string) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
	}
	for i := 0; i < len(more); i += 2 {
		item[more[i]] = &types.AttributeValueMemberS{Value: more[i+1]}
	}
	return item
}

// TestPage drives the page like a person. If ISRSIM_AXE names the file of axe-core, it also checks accessibility.
func TestPage(t *testing.T) {
	s := startWatched(t)
	b := browser.Open(t, s.address+control.Prefix)
	b.Load(s.address+control.Prefix+"/", "html[data-looks]", 1280, 800)
	b.Until("now.textContent === '2040-01-01 00:00:00' && verdict.textContent.startsWith('Nothing was judged yet')")

	// The page is green only where the exit code would be 0: neither for an event alone, nor for a lock alone.
	must.OK(t, s.checker.Tell(history.Event{Kind: history.Asked, Actor: "alice", Key: "/home"}))
	b.Until("verdict.textContent === 'Nothing was judged yet; 0 of 0 changes judged, 1 events posted'")
	empty := s.db.Snapshot()
	s.put("alice", row("CACHE#1", "LOCK", "lease_token", "a1"))
	s.checker.Look()
	b.Until("verdict.textContent.startsWith('Too little was judged yet; 1 of 1 changes') && judged.className === ''")
	s.db.Restore(empty)

	// Rows and changes appear without a reload. The page shows everything that clients have written as plain text.
	const script = `<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>`
	hostile := row("CACHE#1", script, "body", script, script, "x")
	hostile["ttl"] = &types.AttributeValueMemberN{Value: fmt.Sprint(fakeclock.Epoch.Add(30 * time.Second).Unix())}
	s.put("alice<b>", hostile)
	s.put("alice", row("CACHE#2", "META"))
	b.Until("rows.tBodies[0].rows.length === 2 && changes.tBodies[0].rows.length === 2")
	if got := browser.Value[string](b, "rows.tBodies[0].textContent"); !strings.Contains(got, "onerror") ||
		!strings.Contains(got, "● expires in 31 s, deleted by a sweep") {
		t.Errorf("the rows are shown as %s", got)
	}
	if browser.Value[bool](b,
		"'hacked' in window || document.images.length > 0 || document.querySelector('td b') !== null") {
		t.Error("a row has run a script, or was taken for HTML")
	}

	// The clock is moved, and TTL deletes.
	b.Do(chromedp.Click("[data-advance='1m']"))
	b.Until("now.textContent === '2040-01-01 00:01:00' && document.querySelector('td.expired')?.textContent === " +
		"'◐ expired 29 s ago, deleted by a sweep'")
	b.Do(chromedp.Focus("#lag input"), chromedp.KeyEvent("a", chromedp.KeyModifiers(2)),
		chromedp.KeyEvent("fixed 10m"+kb.Enter))
	b.Until("document.querySelector('td.expired').textContent === '◐ expired 29 s ago, deleted in 9 min 31 s'")
	b.Do(chromedp.Focus("#advance input"), chromedp.KeyEvent("10m"+kb.Enter))
	b.Until("rows.tBodies[0].rows.length === 1 && changes.tBodies[0].rows[0].textContent.includes('TTL')")

	// A mistake gets a sentence as its answer, and the user's input is not lost.
	b.Do(chromedp.Focus("#fault input"), chromedp.KeyEvent("respons-lost op=PutItem"+kb.Enter))
	b.Until("!refused.hidden && refused.textContent.includes('response-lost')")
	b.Expect("responded with a status of 400")
	if got := browser.Value[string](b, "fault.elements.fault.value"); got != "respons-lost op=PutItem" {
		t.Errorf("the field holds %q, want what was typed", got)
	}
	b.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(2)), chromedp.KeyEvent("hold op=PutItem actor=bob"+kb.Enter))
	b.Until("refused.hidden && faults.textContent.includes('hold')")

	// A held request is released.
	held := make(chan error, 1)
	go func() { held <- putRow(t.Context(), s.address, "bob", row("CACHE#3", "META")) }()
	b.Until("document.querySelector('#held button') !== null && held.textContent.includes('bob PutItem')")
	b.Keep("serve-held.png")
	b.Do(chromedp.Click("#held button"))
	if err := <-held; err != nil {
		t.Error(err)
	}
	b.Until("holds.hidden && changes.tBodies[0].rows[0].textContent.includes('bob')")

	// A violation is visible at once.
	s.violate()
	b.Until("judged.className === 'violated' && findings.textContent.includes('violated: stale-writer by mallory')")
	if !browser.Value[bool](b,
		"(box => box.top >= 0 && box.bottom <= "+
			"innerHeight)(document.querySelector('.finding').getBoundingClientRect())") {
		t.Error("the violation is not in view")
	}

	// A state is kept and restored.
	b.Do(chromedp.Focus("#keep input"), chromedp.KeyEvent("later"+kb.Enter))
	b.Until("snapshots.textContent.includes('later')")
	s.put("alice", row("CACHE#4", "META"))
	b.Until("rows.textContent.includes('CACHE#4')")
	b.Do(chromedp.Click("#snapshots button"))
	b.Until("!rows.textContent.includes('CACHE#4') && !changes.textContent.includes('CACHE#4')")

	// The page shows only the rows that contain a text.
	b.Do(chromedp.Focus("#chosen input"), chromedp.KeyEvent("cache#3"))
	b.Until("rows.tBodies[0].rows.length === 1 && document.getElementById('count').textContent.includes('1 have the " +
		"text') || rows.tBodies[0].rows.length === 1")

	for _, width := range []int64{1280, 400} {
		b.Do(chromedp.EmulateViewport(width, 800))
		if browser.Value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("at %d pixels the page is wider than the window", width)
		}
		scheme := map[int64]string{1280: "light", 400: "dark"}[width]
		b.Prefer(scheme)
		b.Keep(fmt.Sprintf("serve-%d-%s.png", width, scheme))
		b.Axe(fmt.Sprintf("%s, %d pixels wide", scheme, width))
	}
	b.Quiet()
}

// violate makes mallory publish while alice holds the lock.
func (s *watched) violate() {
	s.Helper()
	n := 0
	alice, err := pagecache.NewRecipeA(isr.Config{
		Client: s.db.As("alice"), Clock: s.clock, Table: "cache", Bodies: scenariotest.Bodies{},
		Tokens: func() string { n++; return fmt.Sprint("a", n) },
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) { return nil, nil },
	})
	if err == nil {
		_, err = alice.Acquire(s.Context(), "/home")
	}
	must.OK(s, err)
	s.put("mallory",
		pagecache.Meta{PK: alice.PK("/home"), S3Key: "evil", GeneratedAt: alice.Now(), RevalidateSeconds: 60}.Item())
}

// A foreign page cannot use the API that the server's own page uses, even through the server's fast path.
func TestAForeignPageIsRefused(t *testing.T) {
	s := startWatched(t)
	for origin, want := range map[string]int{s.address: 200, "http://evil.example": 403, "null": 403} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+control.Prefix+"/clock",
			strings.NewReader(`{"advance":"1s"}`))
		must.OK(t, err)
		r.Header.Set("Origin", origin)
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		must.OK(t, err)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a page of %s gets %d, want %d", origin, response.StatusCode, want)
		}
	}
	if want := fakeclock.Epoch.Add(time.Second); !s.clock.Now().Equal(want) {
		t.Errorf("the clock is at %v, want %v", s.clock.Now(), want)
	}
}
