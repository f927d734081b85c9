package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/internal/server/hold"
	"github.com/isr-sim/isr-sim/internal/server/tables"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// Settings are the flags of isr-sim serve. A flag that ParseClock, ParseChecks or another function parses is kept as
// the user's text. Errors name the flags.
type Settings struct {
	Listen      string // host:port
	AllowRemote bool
	AllowHosts  []string
	TLS         string // the file of the certificate, or AutoTLS; "" speaks http
	Clock       string // see ParseClock
	TTLLag      string // default "": WallLag with the wall clock, manual with a manual one
	Seed        uint64
	Faults      []string // faults of requests, and rules for holding them
	KeepChanges int
	Conflicts   bool
	Throughput  bool
	ReplicaLag  time.Duration
	S3          string // host:port; "" serves none
	Buckets     []string
	Data        string // a file; "" keeps nothing
	DataEvery   time.Duration
	Tables      []string // files
	Region      string   // the region of tables whose file names none
	CORS        []string // origins

	Check      string // see ParseChecks
	Except     []string
	Recipe     bool   // the cache promises the rules of the recipe
	RowsName   string // the user's name for Rows
	Rows       isr.Schema
	Skew       time.Duration
	Revalidate time.Duration

	Log io.Writer // for people
}

// Server is a server that listens. Run must be called exactly once.
type Server struct {
	settings Settings
	options  Options
	desk     *hold.Desk
	sockets  []net.Listener // the sockets of DynamoDB and of S3
	file     string         // the file of the certificate
	start    time.Time
	checker  *live.Checker // nil checks nothing
	data     *dataFile     // nil keeps nothing
}

// check refuses mistakes that are visible in the settings alone.
func (c *Settings) check() error {
	const help = "isr-sim serve --help"
	switch {
	case c.S3 == "" && len(c.Buckets) > 0:
		return mistake.New(errors.New("found --s3-bucket without --s3, which alone needs it"),
			"--s3 --s3-bucket "+c.Buckets[0])
	case c.ReplicaLag < 0:
		return mistake.New(fmt.Errorf("--replica-lag: found %v, expected 0s or more", c.ReplicaLag), help)
	case c.Data != "" && c.DataEvery <= 0:
		return mistake.New(fmt.Errorf("--data-every: found %v, expected more than 0s", c.DataEvery), help)
	case c.KeepChanges < 0:
		return mistake.New(fmt.Errorf("--keep-changes: found %d, expected 0 or more", c.KeepChanges),
			"0 keeps all changes")
	case c.Skew < 0:
		return mistake.New(fmt.Errorf("--max-clock-skew: found %v, expected 0s or more", c.Skew), help)
	case c.Revalidate < 0:
		return mistake.New(fmt.Errorf("--revalidate: found %v, expected 0s or more", c.Revalidate), help)
	case len(c.Except) > 0 && c.Check == "":
		return mistake.New(errors.New("found --check-except without --check, which alone needs it"),
			"--check --check-except "+c.Except[0])
	case c.Recipe && c.Check == "":
		return mistake.New(errors.New("found --recipe without --check, which alone needs it"), "--check --recipe")
	case slices.Contains(c.Except, ""):
		return mistake.New(errors.New("--check-except: found no name, expected an access key id"),
			"for example --check-except seed")
	}
	for _, origin := range c.CORS {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" ||
			u.Scheme+"://"+u.Host != origin {
			return mistake.New(fmt.Errorf("--cors: found %q, expected an origin: a scheme, a host and perhaps a port",
				origin), "for example --cors http://localhost:5173")
		}
	}
	for _, name := range c.Buckets {
		if !hostname.IsBucket(name) {
			return mistake.New(
				fmt.Errorf("--s3-bucket: found %q, expected a bucket's name: 3 to 63 lower-case letters, digits, "+
					"dots and hyphens", name), "",
			)
		}
	}
	for _, at := range []struct{ flag, address string }{{"--listen", c.Listen}, {"--s3", c.S3}} {
		if at.flag == "--s3" && at.address == "" {
			continue
		}
		if err := c.checkListen(at.flag, at.address); err != nil {
			return err
		}
	}
	return nil
}

// checkListen refuses the address of a flag if it is invalid, or if other machines can reach it and the user has not
// allowed that.
func (c *Settings) checkListen(flag, address string) error {
	host, port, err := net.SplitHostPort(address)
	if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n > 65535 {
		return mistake.New(fmt.Errorf("%s: found %q, expected host:port", flag, address),
			"for example "+flag+"=127.0.0.1:8000")
	}
	if hostname.Loopback(host) {
		return nil
	}
	if !c.AllowRemote {
		return mistake.New(fmt.Errorf("%s: found %q, expected a loopback address such as 127.0.0.1:%s", flag, address,
			port),
			"other machines can connect to this address, and there is no password; to permit that, add --allow-remote")
	}
	fmt.Fprintf(c.Log,
		"isr-sim: warning: there is no password: every client that can connect to %s can read and change all data\n",
		address)
	return nil
}

// New makes a server that listens. An error that is a *mistake.Error is the user's mistake.
func New(ctx context.Context, c Settings) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	clock, mode, err := ParseClock(c.Clock)
	if err != nil {
		return nil, mistake.New(fmt.Errorf("--clock: %w", err), "for example --clock 2040-01-01T00:00:00Z")
	}
	lag, err := ddbfake.ParseLag(cmp.Or(c.TTLLag, defaultLag(mode)))
	if err != nil {
		return nil, mistake.New(fmt.Errorf("--ttl-lag: %w", err), "isr-sim serve --help")
	}
	invariants, err := ParseChecks(c.Check)
	if err != nil {
		return nil, mistake.New(fmt.Errorf("--check: %w", err), "")
	}
	db := ddbfake.New(ddbfake.Options{
		Clock: clock, Lag: lag, Seed: c.Seed, ReplicaLag: c.ReplicaLag, KeepChanges: c.KeepChanges,
		Conflicts: c.Conflicts, Throughput: c.Throughput,
	})
	s := &Server{
		settings: c,
		desk: hold.New(hold.Options{
			DB: db, Clock: clock, Log: func(line string) { fmt.Fprintf(c.Log, "isr-sim: %s\n", line) },
		}),
	}
	s.options = Options{DB: db, Control: control.Options{Clock: clock, Mode: mode, Holds: s.desk}, Hosts: c.AllowHosts,
		CORS: c.CORS, Log: c.Log}
	if c.AllowRemote { // other machines call this machine by its network names
		s.options.Hosts = append(slices.Clone(c.AllowHosts), hostname.OfNetwork)
	}
	if err := s.fill(); err != nil {
		return nil, err
	}
	for _, text := range c.Faults {
		if err := s.inject(text); err != nil {
			return nil, err
		}
	}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.start = clock.Now().Truncate(time.Second)
	if invariants != nil {
		s.checker = s.newChecker(invariants)
	}
	s.options.Checker = s.checker
	return s, nil
}

// fill loads the initial tables and rows.
func (s *Server) fill() error {
	c, db := &s.settings, s.options.DB
	if c.Data != "" {
		var err error
		if s.data, err = openData(c.Data, db, c.Log); err != nil {
			return err
		}
		s.options.Control.Save = s.data.save
		if c.S3 != "" {
			fmt.Fprintln(c.Log, "isr-sim: --data: the objects of S3 are not kept")
		}
	}
	for _, file := range c.Tables {
		skipped, err := tables.Load(db, c.Region, file)
		if err != nil {
			return mistake.New(fmt.Errorf("--tables: %w", err), "docs/SERVE.md lists the kinds of files")
		}
		for _, what := range skipped {
			fmt.Fprintf(c.Log, "isr-sim: --tables: %s: %s\n", file, what)
		}
	}
	return nil
}

// inject injects a fault, or a rule for holding requests.
func (s *Server) inject(text string) error {
	if hold.IsRule(text) {
		rule, err := hold.ParseRule(text)
		if err != nil {
			return mistake.New(fmt.Errorf("--fault: %w", err), "for example --fault 'hold op=PutItem key=LOCK'")
		}
		s.desk.Add(rule)
		return nil
	}
	fault, err := ddbfake.ParseFault(text)
	if err != nil {
		return mistake.New(fmt.Errorf("--fault: %w", err), "for example --fault 'throttled op=PutItem times=2'")
	}
	s.options.DB.Inject(fault)
	return nil
}

// open opens the sockets of DynamoDB and S3, and makes the certificate.
func (s *Server) open(ctx context.Context) error {
	c := &s.settings
	if err := s.listen(ctx, c.Listen, "--listen "); err != nil {
		return err
	}
	if c.S3 != "" {
		if err := s.listen(ctx, c.S3, "--s3="); err != nil {
			return err
		}
		s.options.S3, s.options.S3Socket =
			s3fake.New(s3fake.Options{Clock: s.options.Control.Clock, Buckets: c.Buckets}), s.sockets[1]
	}
	var err error
	s.options.Certificate, s.file, err = c.certificate(s.sockets)
	return err
}

// listen opens a socket. flag is the text before the address in a hint.
func (s *Server) listen(ctx context.Context, address, flag string) error {
	socket, err := Listen(ctx, address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w\nhint: port 0 takes a free one: %s127.0.0.1:0", err, flag)
	}
	if err == nil {
		s.sockets = append(s.sockets, socket)
	}
	return err
}

// Close closes the sockets of a server that will not be run.
func (s *Server) Close() {
	for _, socket := range s.sockets {
		_ = socket.Close()
	}
	s.forget()
}

// forget deletes the file of the certificate.
func (s *Server) forget() {
	if s.file != "" {
		_ = os.Remove(s.file) // it may be gone already
	}
}

// Line returns the line of JSON with the addresses.
func (s *Server) Line() ([]byte, error) {
	scheme := "http://"
	if s.options.Certificate != nil {
		scheme = "https://"
	}
	var at [2]string
	for i, socket := range s.sockets {
		at[i] = scheme + Reachable(socket.Addr())
	}
	return json.Marshal(struct {
		Endpoint    string `json:"endpoint"`
		Control     string `json:"control"`
		S3          string `json:"s3,omitempty"`
		Certificate string `json:"certificate,omitempty"`
	}{at[0], at[0] + control.Prefix, at[1], s.file})
}

// Run serves until ctx is done.
func (s *Server) Run(ctx context.Context) error {
	defer s.forget()
	if s.data == nil {
		return Run(ctx, s.sockets[0], s.options)
	}
	go s.data.keep(ctx, s.settings.DataEvery)
	err := Run(ctx, s.sockets[0], s.options)
	_, saveErr := s.data.save()
	return errors.Join(err, saveErr)
}

// Idle lists the waiting faults and holds that have hit no request. Once the server has ended, these are the ones at
// its end.
func (s *Server) Idle() []string {
	idle := control.Idle(s.options.DB, s.desk)
	if s.options.S3 != nil {
		idle = append(idle, control.IdleS3(s.options.S3)...)
	}
	return idle
}

// Held returns the number of requests that were held and never released.
func (s *Server) Held() int {
	_, n := s.desk.Never()
	return n
}
