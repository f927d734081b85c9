package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/server/hold"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Prefix is the path under which the API lives. DynamoDB itself serves nothing but /.
const Prefix = "/_isr-sim"

// Clock is a clock that can be moved forward. *fakeclock.Clock is one.
type Clock interface {
	ddbfake.Clock
	// Advance moves the clock forward by d.
	Advance(d time.Duration)
	// AdvanceTo moves the clock forward to t. If t is before Now it does nothing.
	AdvanceTo(t time.Time)
}

// Resetter is a Clock that can go back. A restore sets it to the time of the restored state, and time continues from
// there.
type Resetter interface {
	Clock
	// Reset sets the clock to t, which may be before Now.
	Reset(t time.Time)
}

// Options configure a Handler.
type Options struct {
	// Clock is the clock of the DB. Nil means that time can be neither read nor moved: requests to /clock are refused
	// with status 409.
	Clock Clock
	// Mode names the kind of clock in the answers of /clock: "manual" for one that only requests move, "wall" for one
	// that follows real time. "" means "manual".
	Mode string
	// Findings returns the findings of the traffic check. Nil means that there is no check: requests to /violations are
	// refused with status 409.
	Findings func() Findings
	// Tell receives the events that clients post to /history. It accepts all of them, or returns an error, which may
	// end in a hint, and accepts none. Nil means that there is no check, as for Findings.
	Tell func([]history.Event) error
	// A restore calls Restoring with a function that sets the DB back to a state. Restoring must call this function.
	// This tells the traffic check about the restore. If Restoring is nil, the function is called directly.
	Restoring func(restore func())
	// Holds holds requests. Nil means that requests cannot be held: such faults, and requests to /held, /release and
	// /drop, are refused with status 409.
	Holds *hold.Desk
	// Room waits until there is memory for an answer that is written piece by piece; ctx is the context of the request.
	// Nil means that the memory has no bound.
	Room func(ctx context.Context, bytes int) (Room, error)
	// Save writes the file in which the state is kept, and returns its name. Nil means that there is no file: requests
	// to /save are refused with status 409.
	Save func() (file string, err error)
	// S3 is the store of bodies that is served besides the DB: snapshots include its objects. Nil means that there is
	// no such store: requests to /s3/faults are refused with status 409.
	S3 *s3fake.Store
}

// Handler returns the control API of db. Paths begin with Prefix. It must stand behind a Guard.
func Handler(db *ddbfake.DB, o Options) http.Handler {
	if o.Mode == "" {
		o.Mode = "manual"
	}
	if o.Restoring == nil {
		o.Restoring = func(restore func()) { restore() }
	}
	a := &api{
		db: db, clock: o.Clock, mode: o.Mode, findings: o.Findings, tell: o.Tell, restoring: o.Restoring,
		holds: o.Holds, snapshots: map[string]kept{},
		saving: o.Save, s3: o.S3, bodies: map[string]*s3fake.Snapshot{},
		streams: newStreams(o.Room), reading: readingOf(db),
	}
	a.resources = map[string]resource{
		"":         {http.MethodGet: a.index},
		"/changes": {http.MethodGet: a.changes},
		"/clock":   {http.MethodGet: bare(a.time), http.MethodPost: a.moveClock},
		"/dump":    {http.MethodGet: a.dump},
		"/load":    {http.MethodPost: a.load},
		"/save":    {http.MethodPost: bare(a.save)},
		"/drop":    {http.MethodPost: a.drop},
		"/faults": {
			http.MethodGet:    bare(a.listFaults),
			http.MethodPost:   a.addFaults,
			http.MethodDelete: bare(a.clearFaults),
		},
		"/held":        {http.MethodGet: bare(a.listHeld), http.MethodPost: a.awaitHeld},
		"/history":     {http.MethodGet: bare(a.historyState), http.MethodPost: a.tellHistory},
		"/metrics":     {http.MethodGet: a.metrics},
		"/region-lag":  a.regionLag(),
		"/release":     {http.MethodPost: a.release},
		"/replica-lag": a.replicaLag(),
		"/replicate":   {http.MethodPost: bare(a.replicate)},
		"/restore":     {http.MethodPost: a.restore},
		"/roll":        {http.MethodPost: a.roll},
		"/rows":        {http.MethodGet: a.rows},
		"/s3/faults": {
			http.MethodGet:    bare(a.listS3Faults),
			http.MethodPost:   a.addS3Faults,
			http.MethodDelete: bare(a.clearS3Faults),
		},
		"/snapshot": {
			http.MethodGet:    bare(a.listSnapshots),
			http.MethodPost:   a.takeSnapshot,
			http.MethodDelete: bare(a.dropSnapshots),
		},
		"/sweep":      {http.MethodPost: bare(a.sweep)},
		"/tables":     {http.MethodGet: a.tables},
		"/ttl-lag":    a.ttlLag(),
		"/violations": {http.MethodGet: bare(a.violations)},
	}
	return a
}

// Mux returns a handler that sends requests below Prefix to control and all others to the door of the fake.
func Mux(door, control http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if owns(r.URL.Path) {
			control.ServeHTTP(w, r)
			return
		}
		door.ServeHTTP(w, r)
	})
}

// owns reports whether a path belongs to this API: whether it is Prefix or below it.
func owns(path string) bool {
	rest, ok := strings.CutPrefix(path, Prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// answerer is a result that is not answered as JSON.
type answerer interface{ answer(w http.ResponseWriter) }

// resource has the functions that serve one path, by method. A function's result is answered as JSON, unless it is an
// answerer. An error is always answered as JSON.
type resource map[string]func(http.ResponseWriter, *http.Request) (any, error)

// bare adapts a function that takes neither parameters nor a body.
func bare(serve func() (any, error)) func(http.ResponseWriter, *http.Request) (any, error) {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		if err := nothing(w, r); err != nil {
			return nil, err
		}
		return serve()
	}
}

type api struct {
	db        *ddbfake.DB
	reading   reading // the further methods of its HTTP door
	streams   *streams
	mode      string
	resources map[string]resource
	findings  func() Findings
	tell      func([]history.Event) error
	restoring func(restore func())
	saving    func() (file string, err error)
	holds     *hold.Desk    // nil if requests cannot be held
	s3        *s3fake.Store // nil if there is none

	mu        sync.Mutex // held during a check and the action after it, but not while a body is read
	clock     Clock
	snapshots map[string]kept
	bodies    map[string]*s3fake.Snapshot // kept with the snapshots of the same names
}

// ServeHTTP serves one request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := a.serve(w, r)
	if err == nil {
		if own, ok := out.(answerer); ok {
			own.answer(w)
			return
		}
		answer(w, http.StatusOK, out)
		return
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{status: http.StatusInternalServerError, Message: err.Error()}
	}
	refuse(w, f)
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) (any, error) {
	path, _ := strings.CutPrefix(r.URL.Path, Prefix)
	path = strings.TrimSuffix(path, "/")
	found, ok := a.resources[path]
	if !ok {
		var hint string
		paths := slices.Sorted(maps.Keys(a.resources))
		if option, ok := suggest.Nearest(path, paths); ok {
			hint = "did you mean " + Prefix + option + "?"
		}
		return nil, missing("there is no such resource", r.URL.Path, Prefix+strings.Join(paths, ", "+Prefix), hint)
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	serve, ok := found[method]
	if !ok {
		methods := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
		w.Header().Set("Allow", methods)
		return nil, &failure{
			status:   http.StatusMethodNotAllowed,
			Message:  "the resource does not know this method",
			Found:    r.Method + " " + r.URL.Path,
			Expected: methods,
		}
	}
	return serve(w, r)
}

// index lists the resources. A browser gets the page instead.
func (a *api) index(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	w.Header().Set("Vary", "Accept")
	if wantsPage(r) {
		return html{}, nil
	}
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(a.resources)) {
		lines = append(lines,
			fmt.Sprintf("%s %s%s", strings.Join(slices.Sorted(maps.Keys(a.resources[path])), ","), Prefix, path))
	}
	return map[string]any{"resources": lines}, nil
}

// parameters reads the query, in which each expected parameter, and no other, may occur once.
func parameters(r *http.Request, expected ...string) (map[string]string, error) {
	found := map[string]string{}
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case !slices.Contains(expected, name):
			return nil, badRequest("the query has an unknown parameter", name,
				cmp.Or(strings.Join(expected, ", "), "none"), suggest.Hint(name, expected, ""))
		case len(query[name]) > 1:
			return nil, badRequest("a parameter is given twice", strings.Join(query[name], ", "), name+" once", "")
		}
		found[name] = query[name][0]
	}
	return found, nil
}

// failure is an error of this API, and its JSON.
type failure struct {
	status int

	Message  string `json:"error"`
	Found    string `json:"found,omitzero"`
	Expected string `json:"expected,omitzero"`
	Hint     string `json:"hint,omitzero"`
	// Type and Text repeat the message where an SDK looks for it: the server may also refuse a client of the service,
	// whose user should learn why.
	Type string `json:"__type,omitzero"`
	Text string `json:"message,omitzero"`
}

func (f *failure) Error() string { return f.Message }

// badRequest is the error for a body or parameter that cannot be read.
func badRequest(message, found, expected, hint string) error {
	return &failure{status: http.StatusBadRequest, Message: message, Found: found, Expected: expected, Hint: hint}
}

// missing is the error for a resource that does not exist.
func missing(message, found, expected, hint string) error {
	return &failure{status: http.StatusNotFound, Message: message, Found: found, Expected: expected, Hint: hint}
}

// conflict is the error for a request that the present state does not allow.
func conflict(message, found, expected, hint string) error {
	return &failure{status: http.StatusConflict, Message: message, Found: found, Expected: expected, Hint: hint}
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, f *failure) {
	if f.status == http.StatusForbidden {
		f.Type = "com.amazon.coral.service#AccessDeniedException"
		f.Text = fmt.Sprintf("isr-sim: %s: found %s, expected %s", f.Message, f.Found, f.Expected)
	}
	answer(w, f.status, f)
}

// CrossSite is the value of the Sec-Fetch-Site header by which a browser says that a page of another site made it send
// the request, or that the user followed a link there. Guard needs it, because a browser may send no Origin when it
// loads an image, a script or a frame.
//
// Source: https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
const CrossSite = "cross-site"

// Guard refuses requests that a foreign web page in a browser may have sent: those with an Origin header, those that
// say CrossSite, and those whose Host is neither an IP address nor localhost nor one of names. It answers with status
// 403. This server's own page may use the control API: its Origin names the same host as the Host header. The package
// documentation says why requests are refused.
func Guard(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Browsers send no empty Origin, but an empty one counts as a header, too.
		if origin, ok := r.Header["Origin"]; ok && !(owns(r.URL.Path) && own(origin, r.Host)) {
			refuse(w, &failure{
				status:   http.StatusForbidden,
				Message:  "a request with an Origin header is a browser's, and no foreign page is a client here",
				Found:    strings.Join(origin, ", "),
				Expected: "no Origin header",
				Hint:     "send requests from a test or with curl",
			})
			return
		}
		if slices.Contains(r.Header["Sec-Fetch-Site"], CrossSite) {
			refuse(w, &failure{
				status: http.StatusForbidden,
				Message: "a page of another site made a browser send this request, and no foreign page is a " +
					"client here",
				Found:    "Sec-Fetch-Site: " + CrossSite,
				Expected: "a request of a program, or of this server's own page",
				Hint:     "to see the server's page, type its address into the browser",
			})
			return
		}
		if !hostname.Local(r.Host, names...) {
			refuse(w, &failure{
				status:   http.StatusForbidden,
				Message:  "this server does not go by that name",
				Found:    hostname.Of(r.Host),
				Expected: strings.Join(append([]string{"an IP address", "localhost"}, names...), " or "),
				Hint:     "use the address that isr-sim serve printed, or start it with --allow-host for this name",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// own reports whether an Origin header names the host of the request. The check of Host decides which names belong to
// the server.
func own(origin []string, host string) bool {
	if len(origin) != 1 || host == "" {
		return false
	}
	return origin[0] == "http://"+host || origin[0] == "https://"+host
}

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// page is the page of the server. pagePolicy is its content security policy: the page runs only its own style and
// script, and sends requests only to this server.
var page, pagePolicy = func() (string, string) {
	text := strings.NewReplacer("{{style}}", pageStyle, "{{script}}", pageScript).Replace(pageHTML)
	policy := []string{
		"default-src 'none'", "connect-src 'self'", "style-src " + digest(pageStyle),
		"script-src " + digest(pageScript), "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
	}
	return text, strings.Join(policy, "; ")
}()

// digest returns the hash by which a policy allows a style or a script.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// wantsPage reports whether a request comes from a browser that will display the answer, rather than from curl or an
// SDK, which accept anything.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// html is an answer that is the page.
type html struct{}

func (html) answer(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	w.WriteHeader(http.StatusOK)
	// A failed write means that the caller is gone.
	_, _ = w.Write([]byte(page))
}
