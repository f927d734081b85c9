package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/control"
	"github.com/isr-sim/isr-sim/internal/hold"
	"github.com/isr-sim/isr-sim/internal/serve"
)

const serveHelp = `Serve runs the DynamoDB fake for programs in any language. It speaks the protocol of
DynamoDB over HTTP, so an AWS SDK or the AWS CLI works with it unchanged. It takes
any region and any credentials. The access key id is the caller's name. As in
DynamoDB, each region has its own tables.

The first line on stdout is JSON with the addresses:

  {"endpoint":"http://127.0.0.1:40123","control":"http://127.0.0.1:40123/_isr-sim"}

With --s3, it serves S3 as well, for the bodies to which rows point, and the line has
its address: "s3":"http://127.0.0.1:40124".

The control address reads and moves the clock, sets TTL lag, replica lag and
faults, keeps and restores states, and reads rows and changes: see docs/CONTROL.md.
Opened in a browser, it is a page that shows all of this.

With --check, the server judges the writes of its clients. It reports a violation of
an invariant on stderr and at CONTROL/violations, before it answers the request
that made it. The invariants of what readers are served are judged too if clients post
their history to CONTROL/history. Without that, the server says that they were not.

With --tls the server speaks https only, with a certificate that it makes for itself.
The first line has the file of the certificate, for NODE_EXTRA_CA_CERTS, AWS_CA_BUNDLE
or curl --cacert. The file is removed in the end. Clients may then call the server by
the service's own names, such as dynamodb.us-east-1.amazonaws.com.

The server writes nothing else to disk and sends nothing to other machines. SIGINT or
SIGTERM stops it; requests under way get three seconds to end. The exit code is
then 0. With --check it is 1 after a violation, and 3 if a write or a posted event could
not be judged, or nothing was. It is 3 as well if a request that a fault of the kind hold
has held was never released.`

type serveCommand struct {
	out, progress io.Writer

	listen      string
	allowRemote bool
	allowHosts  []string
	tls         string
	clock       string
	ttlLag      string
	seed        uint64
	faults      []string
	keepChanges int
	conflicts   bool
	throughput  bool
	replicaLag  time.Duration
	check       string
	except      []string
	rows        string
	skew        time.Duration
	revalidate  time.Duration
	s3          serveS3
	keep        keeper
	forms       formats
}

func newServe(out, progress io.Writer) *cobra.Command {
	c := &serveCommand{out: out, progress: progress}
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Serve the DynamoDB fake over HTTP, for SDKs of any language",
		Long:    serveHelp,
		Example: "  isr-sim serve\n  isr-sim serve --listen 127.0.0.1:8000 --clock manual --ttl-lag 'fixed 10m' --fault 'throttled op=PutItem times=2'",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&c.listen, "listen", "127.0.0.1:0", "address to listen on, host:port; port 0 takes a free one")
	f.BoolVar(&c.allowRemote, "allow-remote", false, "permit an address to which other machines can connect; there is no password")
	f.StringArrayVar(&c.allowHosts, "allow-host", nil, "another name than localhost by which clients call this machine; repeatable")
	f.StringVar(&c.tls, "tls", "", "serve https, with a certificate made for this run; its text is written to this file, or to isr-sim/serve-PORT.pem in the user's cache folder")
	f.Lookup("tls").NoOptDefVal = tlsAuto
	f.StringVar(&c.clock, "clock", "wall", "the fake's clock: wall (real time), manual (the control API moves it), or an instant from which on it is manual")
	f.StringVar(&c.ttlLag, "ttl-lag", "manual", "when TTL deletes an expired row: manual (the control API sweeps), never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item NAME")
	f.Uint64Var(&c.seed, "seed", 1, "the seed of a random --ttl-lag")
	f.DurationVar(&c.replicaLag, "replica-lag", 0, "the age of what eventually consistent reads see")
	f.BoolVar(&c.conflicts, "conflicts", false, "refuse writes and transactions that overlap with a transaction on the same item, as DynamoDB does")
	f.BoolVar(&c.throughput, "throughput", false, "refuse requests beyond the throughput of a partition key, a provisioned table or an on-demand table, as DynamoDB does")
	f.IntVar(&c.keepChanges, "keep-changes", 10_000, "the least number of latest changes to keep for the control API; 0 keeps all")
	c.keep.flags(cmd, "--check's changes and findings at the end")
	c.forms.formatFlag(cmd)
	f.StringVar(&c.check, "check", "", "judge the writes, and the history that clients post: by all invariants that these decide, or the named ones, separated by commas")
	f.Lookup("check").NoOptDefVal = serve.AllChecks
	f.StringArrayVar(&c.except, "check-except", nil, "for --check: an access key id whose writes are not judged, such as that of a program that sets rows up; repeatable")
	f.StringVar(&c.rows, "rows", "", "for --check: a file that says which rows are pages and locks, or the name of a ready mapping (tabletheory, dynamolock, powertools)")
	f.DurationVar(&c.skew, "max-clock-skew", 0, "for --check: the largest error of a client's clock, and the longest time for a request to arrive")
	f.DurationVar(&c.revalidate, "revalidate", 0, "for --check: how long a page is fresh where neither its row nor its posted rendering says it")
	f.StringArrayVar(&c.faults, "fault", nil, "a fault that is set from the start, such as 'throttled op=PutItem times=2'; repeatable")
	c.s3.flags(f)
	return cmd
}

// run serves, and writes what --check found in the forms that were asked for.
func (c *serveCommand) run(cmd *cobra.Command) error {
	if err := c.forms.parse(); err != nil {
		return err
	}
	if len(c.forms.to) > 0 && c.check == "" {
		return usage(errors.New("found --format without --check, which alone has results"), "isr-sim serve --check --format junit=junit.xml")
	}
	for _, to := range c.forms.to {
		if to.file == "" && !to.format.WithText() {
			return usage(fmt.Errorf("--format: found %s for the output, which begins with the address, expected a file", to.format), fmt.Sprintf("--format %s=FILE", to.format))
		}
	}
	return c.forms.around(cmd, &c.out, func() error { return c.serve(cmd.Context()) })
}

// serve serves until ctx is done.
func (c *serveCommand) serve(ctx context.Context) error {
	if err := c.checkListen("--listen", c.listen); err != nil {
		return err
	}
	if err := c.s3.check(); err != nil {
		return err
	}
	if c.s3.listen != "" {
		if err := c.checkListen("--s3", c.s3.listen); err != nil {
			return err
		}
	}
	clock, mode, err := serve.ParseClock(c.clock)
	if err != nil {
		return usage(fmt.Errorf("--clock: %w", err), "for example --clock 2040-01-01T00:00:00Z")
	}
	lag, err := ddbfake.ParseLag(c.ttlLag)
	if err != nil {
		return usage(fmt.Errorf("--ttl-lag: %w", err), "isr-sim serve --help")
	}
	if c.replicaLag < 0 {
		return usage(fmt.Errorf("--replica-lag: found %v, expected 0s or more", c.replicaLag), "isr-sim serve --help")
	}
	if c.keepChanges < 0 {
		return usage(fmt.Errorf("--keep-changes: found %d, expected 0 or more", c.keepChanges), "0 keeps all changes")
	}
	invariants, err := c.invariants()
	if err != nil {
		return err
	}
	rows, err := c.schema()
	if err != nil {
		return err
	}
	db := ddbfake.New(ddbfake.Options{Clock: clock, Lag: lag, Seed: c.seed, ReplicaLag: c.replicaLag, KeepChanges: c.keepChanges, Conflicts: c.conflicts, Throughput: c.throughput})
	desk := hold.New(hold.Options{DB: db, Clock: clock, Log: func(line string) { fmt.Fprintf(c.progress, "isr-sim: %s\n", line) }})
	for _, text := range c.faults {
		if hold.IsRule(text) {
			rule, err := hold.ParseRule(text)
			if err != nil {
				return usage(fmt.Errorf("--fault: %w", err), "for example --fault 'hold op=PutItem key=LOCK'")
			}
			desk.Add(rule)
			continue
		}
		fault, err := ddbfake.ParseFault(text)
		if err != nil {
			return usage(fmt.Errorf("--fault: %w", err), "for example --fault 'throttled op=PutItem times=2'")
		}
		db.Inject(fault)
	}

	listener, err := serve.Listen(ctx, c.listen)
	if err != nil {
		hint := ""
		if errors.Is(err, syscall.EADDRINUSE) {
			hint = "port 0 takes a free one: --listen 127.0.0.1:0"
		}
		return unknown(err, hint)
	}
	bodies, s3Socket, err := c.s3.start(ctx, clock)
	if err != nil {
		_ = listener.Close()
		return err
	}
	address, s3Address := "http://"+serve.Reachable(listener.Addr()), ""
	if s3Socket != nil {
		s3Address = "http://" + serve.Reachable(s3Socket.Addr())
	}
	certificate, file, err := c.certificate(listener.Addr())
	if err != nil {
		_ = listener.Close()
		if s3Socket != nil {
			_ = s3Socket.Close()
		}
		return err
	}
	if certificate != nil {
		address = "https://" + serve.Reachable(listener.Addr())
		defer os.Remove(file) //nolint:errcheck // it may be gone
	}
	line, err := json.Marshal(struct {
		Endpoint    string `json:"endpoint"`
		Control     string `json:"control"`
		S3          string `json:"s3,omitempty"`
		Certificate string `json:"certificate,omitempty"`
	}{address, address + control.Prefix, s3Address, file})
	if err == nil {
		_, err = fmt.Fprintf(c.out, "%s\n", line)
	}
	if err != nil {
		_ = listener.Close()
		if s3Socket != nil {
			_ = s3Socket.Close()
		}
		return unknown(err, "")
	}
	start := clock.Now().Truncate(time.Second)
	checker := c.checker(db, clock, invariants, rows)
	if err := serve.Run(ctx, listener, serve.Options{
		DB: db, Control: control.Options{Clock: clock, Mode: mode, Holds: desk}, Hosts: c.allowHosts, Log: c.progress, Checker: checker,
		Certificate: certificate, S3: bodies, S3Socket: s3Socket,
	}); err != nil {
		return unknown(err, "")
	}
	if err := c.keepSeen(db, checker, rows, start); err != nil {
		return err
	}
	if err := c.judged(checker); err != nil {
		return err
	}
	if _, n := desk.Never(); n > 0 {
		return unknown(fmt.Errorf("%d held requests were never released", n), "docs/CONTROL.md says how to release and drop them")
	}
	return nil
}

// checkListen refuses a flag's address if it is invalid, or if other machines reach it and that is not wanted.
func (c *serveCommand) checkListen(flag, address string) error {
	host, port, err := net.SplitHostPort(address)
	if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n > 65535 {
		return usage(fmt.Errorf("%s: found %q, expected host:port", flag, address), "for example "+flag+"=127.0.0.1:8000")
	}
	if serve.Loopback(host) {
		return nil
	}
	if !c.allowRemote {
		return usage(fmt.Errorf("%s: found %q, expected a loopback address such as 127.0.0.1:%s", flag, address, port),
			"other machines can connect to this address, and there is no password; to permit that, add --allow-remote")
	}
	fmt.Fprintf(c.progress, "isr-sim: warning: there is no password: every client that can connect to %s can read and change all data\n", address)
	return nil
}
