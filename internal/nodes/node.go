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

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/nodes/objects"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// defaultRegion is the region of a node whose client names none.
const defaultRegion = "us-east-1"

// node is one incarnation of an actor: the cache of its program, as the simulator sees it.
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
	effect      func(context.Context) (string, error) // the effect of the call under way, or nil
}

var (
	_ isr.Handler     = (*node)(nil)
	_ isr.Invalidator = (*node)(nil)
	_ isr.Regenerator = (*node)(nil)
	_ isr.Rollbacker  = (*node)(nil)

	_ hooks.LockClient = (*node)(nil)
	_ hooks.OnceClient = (*node)(nil)
)

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

// Get implements isr.Handler.
func (n *node) Get(ctx context.Context, key string) (isr.Served, error) {
	return n.served(ctx, canGet, command{Verb: "get", Key: key})
}

// Invalidate implements isr.Invalidator.
func (n *node) Invalidate(ctx context.Context, key string) error {
	_, err := n.command(ctx, canInvalidate, command{Verb: "invalidate", Key: key})
	return err
}

// Regenerate implements isr.Regenerator.
func (n *node) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	return n.served(ctx, canRegenerate, command{Verb: "regenerate", Key: key, Request: r.ID, Inputs: r.Hash})
}

// Rollback implements isr.Rollbacker.
func (n *node) Rollback(ctx context.Context, key string) error {
	_, err := n.command(ctx, canRollback, command{Verb: "rollback", Key: key})
	return err
}

// Later says whether the program has set timers that have not fired. They fire within the next command, or in Rest.
func (n *node) Later() bool { return n.later }

// Rest lets time pass between two commands. The program's timers fire meanwhile, if it can work.
func (n *node) Rest(ctx context.Context, d time.Duration) error {
	if !slices.Contains(n.incarnation.program.greeted().Can, canWork) {
		n.waitsIdle()
		n.clock.Sleep(d)
		return nil
	}
	n.work(ctx, command{Verb: "work", For: d.Seconds()})
	return nil
}

// waitsIdle notes that time passes while a program has timers set but no command: they will not fire, so a heartbeat
// after the release of its lock would not be noticed.
func (n *node) waitsIdle() {
	if n.later {
		n.incarnation.program.Uses("timers that fire between two commands (its hello does not name " + canWork + ")")
	}
}

// work asks the program to let time pass, as long as the command says.
func (n *node) work(ctx context.Context, c command) {
	if _, err := n.command(ctx, canWork, c); err != nil {
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
	return l.end(within, milliseconds(n.clock.Local())) // and not Now: the node's code may be over
}

// Terms implements hooks.LockClient.
func (n *node) Terms() promise.LockTerms { return n.incarnation.program.greeted().Lock.of(n.cfg.Lease) }

// Acquire implements hooks.LockClient.
func (n *node) Acquire(ctx context.Context, name string) (*hooks.Held, error) {
	taken, err := n.command(ctx, canHold, command{Verb: "hold", Key: name})
	if err != nil {
		return nil, err
	}
	able := func(can string) bool { return slices.Contains(n.incarnation.program.greeted().Can, can) }
	if !able(canWork) {
		n.waitsIdle() // under the lock
	}
	held := &hooks.Held{Release: func(ctx context.Context) error {
		_, err := n.command(ctx, canHold, command{Verb: "release", Key: name})
		return err
	}}
	token := int64(0)
	if taken.Token != nil {
		token = *taken.Token
		held.Token = func() int64 { return token }
	}
	if able(canHeld) {
		held.Holds = func(ctx context.Context) (bool, error) {
			s, err := n.command(ctx, canHeld, command{Verb: "held", Key: name})
			return s.Held, err
		}
	}
	if able(canExtend) {
		held.Extend = func(ctx context.Context) error {
			s, err := n.command(ctx, canExtend, command{Verb: "extend", Key: name})
			if err == nil && s.Token != nil {
				token = *s.Token
			}
			return err
		}
	}
	if able(canWork) {
		held.Work = func(ctx context.Context, d time.Duration) {
			n.work(ctx, command{Verb: "work", Key: name, For: d.Seconds()})
		}
	}
	return held, nil
}

// OnceTerms implements hooks.OnceClient.
func (n *node) OnceTerms() promise.OnceTerms {
	return n.incarnation.program.greeted().Once.of(n.cfg.Lease)
}

// Once implements hooks.OnceClient. The program asks for the effect when it is to happen.
func (n *node) Once(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (string, error) {
	n.effect = effect
	defer func() { n.effect = nil }()
	s, err := n.command(ctx, canOnce, command{Verb: "once", Key: key, Payload: payload})
	if err != nil && s.Other {
		err = fmt.Errorf("%w: %w", isr.ErrOtherInputs, err)
	}
	return s.Body, err
}

// served sends the program a command whose reply is a page.
func (n *node) served(ctx context.Context, can string, c command) (isr.Served, error) {
	s, err := n.command(ctx, can, c)
	if err != nil {
		return isr.Served{}, err
	}
	return isr.Served{Body: []byte(s.Body), Fresh: s.Fresh}, nil
}

// command sends the program one command, and returns its reply.
func (n *node) command(ctx context.Context, can string, c command) (said, error) {
	if !slices.Contains(n.incarnation.program.greeted().Can, can) {
		panic(n.incarnation.wrong(c.String(), "its hello does not say that it can "+can, ""))
	}
	n.ids++
	c.ID = n.ids
	s := n.ask(ctx, c.String(), toldLine{Type: "command", command: &c})
	switch {
	case s.Type != "reply":
		panic(n.incarnation.wrong(c.String(), fmt.Sprintf("printed a line of type %q, expected reply", s.Type), ""))
	case s.ID != c.ID:
		panic(n.incarnation.wrong(c.String(),
			fmt.Sprintf("replied to command %d, expected %d: it has answered a command twice, or none", s.ID, c.ID),
			""))
	case s.Error != "":
		return s, errors.New(s.Error)
	}
	return s, nil
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

// notesUnsupported notes an operation or a parameter that the fake does not have. A program may swallow the error,
// which DynamoDB would not have answered.
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
