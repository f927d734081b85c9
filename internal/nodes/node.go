package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/nodes/objects"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// defaultRegion is the region of a node whose client names none.
const defaultRegion = "us-east-1"

// node is one incarnation of an actor: its program, as the simulator sees it.
type node struct {
	cfg         isr.Config
	clock       sim.NodeClock // cfg.Clock
	actor       string
	region      string
	incarnation *incarnation // nil when it is over
	wire        dynamodb.HTTPClient
	objects     http.RoundTripper // the transport of S3 requests; nil before the first request
	ids         int
	later       bool                                  // see Later
	effect      func(context.Context) (string, error) // of the command under way, or nil
}

var _ subject.Program = (*node)(nil)

// boot begins an incarnation, in the coroutine of its actor.
func (g *Program) boot(cfg isr.Config) (*node, error) {
	client, ok := cfg.Client.(*dynamodb.Client)
	if !ok {
		return nil, fmt.Errorf("a program's runs need a client of the SDK, found a %T", cfg.Client)
	}
	options := client.Options()
	key, err := options.Credentials.Retrieve(g.Context)
	if err != nil {
		return nil, fmt.Errorf("the actor's name: %w", err)
	}
	clock, ok := cfg.Clock.(sim.NodeClock)
	if !ok {
		return nil, fmt.Errorf("a program's runs need a clock of the simulator, found a %T", cfg.Clock)
	}
	n := &node{
		cfg: cfg, clock: clock, actor: key.AccessKeyID, region: cmp.Or(options.Region, defaultRegion),
		wire: options.HTTPClient,
	}
	n.incarnation = g.newLife(n.actor, clock)
	seed := fnv.New64a()
	_, _ = io.WriteString(seed, cfg.Tokens()) // a hash takes everything
	ready := n.ask(g.Context, starting, toldLine{Type: "init", initial: &initial{
		Version: version, Actor: n.actor, Tenant: cfg.Tenant, Region: n.region,
		Credentials: credentials{n.actor, "none"}, Table: cfg.Table, Bucket: objects.Bucket, Seed: seed.Sum64() >> 11,
		Config: configurationOf(cfg, options.Retryer.MaxAttempts()),
	}})
	if ready.Type != "ready" {
		return nil, n.incarnation.wrong(starting,
			fmt.Sprintf("printed a line of type %q, expected ready", ready.Type), "")
	}
	return n, nil
}

// Get implements isr.Handler: the Wire of a subject with pages has a client that asks for them.
func (*node) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, isr.ErrUnsupported
}

// Later implements subject.Program.
func (n *node) Later() bool { return n.later }

// Rest lets time pass between two commands. The program's timers fire meanwhile, if it can work.
func (n *node) Rest(ctx context.Context, d time.Duration) error {
	if !n.Can(subject.Work) {
		n.Wait()
		n.clock.Sleep(d)
		return nil
	}
	n.Work(ctx, subject.Line{Verb: subject.Work, For: d.Seconds()})
	return nil
}

// Wait implements subject.Program. If the program has set timers, they will not fire, so the run would miss a heartbeat
// after the release of its lock.
func (n *node) Wait() {
	if n.later {
		n.incarnation.program.Uses(
			"timers that fire between two commands (its hello does not name " + subject.Work + ")")
	}
}

// Work implements subject.Program.
func (n *node) Work(ctx context.Context, c subject.Line) {
	if _, err := n.Ask(ctx, subject.Work, c); err != nil {
		panic(n.incarnation.wrong(c.String(), "replied with an error to work: "+err.Error(),
			"it only waits: report failures in the replies to held, extend and release"))
	}
}

// EndLife ends the incarnation: the node has crashed, or its run is over.
func (n *node) EndLife() error { return n.end(false) }

// end ends the incarnation, once.
func (n *node) end(within bool) error {
	l := n.incarnation
	if l == nil {
		return nil
	}
	n.incarnation = nil
	return l.end(within, milliseconds(n.clock.Local())) // Local and not Now, because the node's code may be over
}

// Can implements subject.Program.
func (n *node) Can(ability string) bool {
	return slices.Contains(n.incarnation.program.greeted().Can, ability)
}

// Promises implements subject.Program.
func (n *node) Promises(of subject.Wire) subject.Promises {
	return n.incarnation.program.greeted().promise(of)
}

// Config implements subject.Program.
func (n *node) Config() isr.Config { return n.cfg }

// Ask implements subject.Program.
func (n *node) Ask(ctx context.Context, ability string, c subject.Line) (subject.Reply, error) {
	if !n.Can(ability) {
		panic(n.incarnation.wrong(c.String(), "its hello does not say that it can "+ability, ""))
	}
	n.effect, c.Effect = c.Effect, nil // lines are remembered, and must not hold the effect
	defer func() { n.effect = nil }()
	n.ids++
	c.ID = n.ids
	s := n.ask(ctx, c.String(), toldLine{Type: "command", Line: &c})
	switch {
	case s.Type != "reply":
		panic(n.incarnation.wrong(c.String(), fmt.Sprintf("printed a line of type %q, expected reply", s.Type), ""))
	case s.ID != c.ID:
		panic(n.incarnation.wrong(c.String(),
			fmt.Sprintf("replied to command %d, expected %d: it has answered a command twice, or none", s.ID, c.ID),
			""))
	case s.Error != "":
		return s.Reply, errors.New(s.Error)
	}
	return s.Reply, nil
}

// ours begins the paths of requests to isr-sim itself.
const ours = "/_isr-sim/"

// serve performs one request. It returns the answer, or nil, and whether the request was a step of the run.
func (n *node) serve(ctx context.Context, at string, a *arrival) (to *answer, step bool) {
	path, mine := strings.CutPrefix(a.path, ours)
	switch {
	case !mine && a.header.Get("X-Amz-Target") == "" && (a.method != http.MethodPost || a.path != "/"):
		return n.object(ctx, at, a)
	case !mine:
		return n.store(ctx, at, a), true
	}
	values, err := url.ParseQuery(a.query)
	if err != nil {
		return text(http.StatusBadRequest, "found a query that does not parse: "+err.Error()), false
	}
	name, body := strings.CutPrefix(path, "bodies/")
	switch {
	case path == "time" && a.method == http.MethodGet:
		return text(http.StatusOK, strconv.FormatInt(milliseconds(n.clock.Now()), 10)), false
	case path == "sleep" && a.method == http.MethodPost:
		return n.sleep(values.Get("ms"), a.body)
	case path == "origin" && a.method == http.MethodGet:
		page, err := n.cfg.Render(ctx, values.Get("key"), func(context.Context) error { return nil })
		if err != nil {
			return text(http.StatusBadGateway, err.Error()), true
		}
		return &answer{status: http.StatusOK, body: page}, true
	case path == "effect" && a.method == http.MethodPost && n.effect == nil:
		return text(http.StatusConflict,
			"found no call that is under way: effects happen between a command once and its reply"), false
	case path == "effect" && a.method == http.MethodPost:
		result, err := n.effect(ctx)
		if err != nil {
			return text(http.StatusBadGateway, err.Error()), true
		}
		return text(http.StatusOK, result), true
	case body && name != "":
		return n.body(ctx, a, name), true
	default:
		return text(http.StatusNotFound, "found "+a.String()+", expected POST /_isr-sim/sleep, GET /_isr-sim/time, "+
			"GET /_isr-sim/origin?key=KEY, POST /_isr-sim/effect or GET, PUT or DELETE /_isr-sim/bodies/NAME"), false
	}
}

// store lets a request to DynamoDB happen.
func (n *node) store(ctx context.Context, at string, a *arrival) *answer {
	of := n.signed(at, a)
	ctx = context.WithValue(ctx, hooks.Late{}, &a.late)
	r, err := http.NewRequestWithContext(ctx, a.method, "http://dynamodb.invalid"+a.path, a.reader())
	if err != nil {
		return text(http.StatusBadRequest, err.Error())
	}
	r.Header = a.header.Clone()
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+n.actor+"/20000101/"+cmp.Or(of, n.region)+
		"/dynamodb/aws4_request, SignedHeaders=host, Signature=none")
	response, err := n.wire.Do(r)
	if err != nil {
		return nil // the request or its answer was lost
	}
	to := answerOf(response)
	if to != nil && to.status == http.StatusBadRequest {
		n.notesUnsupported(to.body)
	}
	return to
}

// notesUnsupported notes an operation or a parameter that the fake lacks. A program may swallow this error, with which
// DynamoDB would not have answered.
func (n *node) notesUnsupported(body []byte) {
	var refused struct{ Message string }
	if json.Unmarshal(body, &refused) != nil {
		return
	}
	if what, is := strings.CutPrefix(refused.Message, "ddbfake does not support "); is {
		n.incarnation.program.Uses(what)
	}
}

// object lets a request to S3 happen.
func (n *node) object(ctx context.Context, at string, a *arrival) (to *answer, step bool) {
	n.signed(at, a)
	if n.objects == nil {
		do, err := objects.Do(n.cfg.Bodies)
		if err != nil {
			return text(http.StatusNotImplemented, err.Error()), false
		}
		n.objects = s3fake.Transport(do)
	}
	r, err := http.NewRequestWithContext(ctx, a.method, "http://127.0.0.1"+a.raw+"?"+a.query, a.reader())
	if err != nil {
		return text(http.StatusBadRequest, err.Error()), false
	}
	r.Header = a.header.Clone()
	response, err := n.objects.RoundTrip(r)
	if err != nil {
		return nil, true
	}
	return answerOf(response), true
}

// signed makes sure that a signed request is the actor's own, and returns its region.
func (n *node) signed(at string, a *arrival) (region string) {
	key, region := signer(a.header.Get("Authorization"))
	if key != "" && key != n.actor {
		panic(n.incarnation.wrong(at, fmt.Sprintf("signed %s with the access key %q, expected %q", a, key, n.actor),
			"use the credentials of the init line"))
	}
	return region
}

// answerOf is a complete response; nil stays nil.
func answerOf(response *http.Response) *answer {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil
	}
	return &answer{status: response.StatusCode, header: response.Header, body: body}
}

// mostSleep bounds a sleep, and a timer, in milliseconds: a year.
const mostSleep = float64(365 * 24 * time.Hour / time.Millisecond)

// sleep waits by the node's clock: ?ms=1500, or a body {"ms": 1500}.
func (n *node) sleep(ms string, body []byte) (to *answer, step bool) {
	var asked struct {
		Milliseconds float64 `json:"ms"`
	}
	var err error
	if ms != "" {
		asked.Milliseconds, err = strconv.ParseFloat(ms, 64)
	} else {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil || !(asked.Milliseconds >= 0 && asked.Milliseconds <= mostSleep) {
		return text(http.StatusBadRequest,
			"found no milliseconds from 0 to those of a year: expected ?ms=1500, or the body {\"ms\": 1500}"), false
	}
	d := time.Duration(asked.Milliseconds * float64(time.Millisecond))
	n.clock.Sleep(d)
	return &answer{status: http.StatusNoContent}, d > 0
}

// body lets a request to the body store happen.
func (n *node) body(ctx context.Context, a *arrival, name string) *answer {
	var err error
	done := &answer{status: http.StatusNoContent}
	switch a.method {
	case http.MethodPut:
		err = n.cfg.Bodies.PutBody(ctx, name, slices.Concat([]byte{}, a.body))
	case http.MethodGet:
		done.status = http.StatusOK
		done.body, err = n.cfg.Bodies.GetBody(ctx, name)
	case http.MethodDelete:
		deleter, ok := n.cfg.Bodies.(interface {
			DeleteBody(context.Context, string) error
		})
		if !ok {
			return text(http.StatusMethodNotAllowed, "these bodies cannot be deleted")
		}
		err = deleter.DeleteBody(ctx, name)
	default:
		return text(http.StatusMethodNotAllowed, "found "+a.method+", expected GET, PUT or DELETE")
	}
	switch {
	case errors.Is(err, isr.ErrNoBody):
		return text(http.StatusNotFound, err.Error())
	case err != nil:
		return text(http.StatusInternalServerError, err.Error())
	}
	return done
}

// text is an answer in words.
func text(status int, words string) *answer { return &answer{status: status, body: []byte(words)} }
