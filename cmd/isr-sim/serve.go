package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/server/serve"
	"github.com/isr-sim/isr-sim/scenario/invariant"
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
faults, keeps and restores states, and reads rows and changes: see docs/SERVE.md.
Opened in a browser, it is a page that shows all of this.

With --check, the server judges the writes of its clients. It reports a violation of
an invariant on stderr and at CONTROL/violations, before it answers the request
that made it. Invariants about what readers get are judged only if clients post
their history to CONTROL/history; otherwise the server says that they were not.

With --tls the server speaks https only, S3 included, with a certificate that it makes
for itself.
The first line has the file of the certificate, for NODE_EXTRA_CA_CERTS, AWS_CA_BUNDLE
or curl --cacert. The file is removed in the end. Clients may then call the server by
the service's own names, such as dynamodb.us-east-1.amazonaws.com.

With --data, a file keeps tables and rows from one run to the next. The server writes
nothing else to disk and sends nothing to other machines. SIGINT or SIGTERM stops it;
requests under way get three seconds to end. The exit code is then 0, but with --check
it is 1 after a violation, and 3 if a write or a posted event could not be judged, or
nothing was judged. It is also 3 if a request that a hold fault stopped was never
released, or if a fault that is still set has struck no request.`

type serveCommand struct {
	flags.Results
	serve.Settings
}

func newServe() *cobra.Command {
	c := &serveCommand{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the DynamoDB fake over HTTP, for SDKs of any language",
		Long:  serveHelp,
		Example: "  isr-sim serve\n" +
			"  isr-sim serve --listen 127.0.0.1:8000 --clock manual --ttl-lag 'fixed 10m' --fault 'throttled " +
			"op=PutItem times=2'",
		Args:    cli.NoArguments,
		PreRunE: c.forms,
		RunE:    c.Around(c.run),
	}
	f := cmd.Flags()
	f.StringVar(&c.Listen, "listen", "127.0.0.1:0", "address to listen on, host:port; port 0 takes a free one")
	f.BoolVar(&c.AllowRemote, "allow-remote", false,
		"permit an address to which other machines can connect; there is no password")
	f.StringArrayVar(&c.AllowHosts, "allow-host", nil,
		"another name than localhost by which clients call this machine; repeatable")
	f.StringVar(&c.TLS, "tls", "",
		"serve https, with a certificate made for this run; its text is written to this file, or to "+
			"isr-sim/serve-PORT.pem in the user's cache folder")
	f.Lookup("tls").NoOptDefVal = serve.AutoTLS
	f.StringVar(&c.Clock, "clock", "wall",
		"the fake's clock: wall (real time), manual (the control API moves it), or the time at which a "+
			"manual clock starts")
	f.StringVar(&c.TTLLag, "ttl-lag", "",
		"when TTL deletes an expired row: manual (the control API sweeps), never, at-once, fixed 10m, uniform 1m "+
			"48h, exponential 10m, or per-item NAME (default: "+serve.WallLag+" on the wall clock, manual on another)")
	f.Uint64Var(&c.Seed, "seed", 1, "the seed of a random --ttl-lag")
	f.DurationVar(&c.ReplicaLag, "replica-lag", 0, "how old the data of eventually consistent reads is")
	f.BoolVar(&c.Conflicts, "conflicts", false,
		"refuse writes and transactions that overlap with a transaction on the same item, as DynamoDB does")
	f.BoolVar(&c.Throughput, "throughput", false,
		"refuse requests beyond the throughput of a partition key, a provisioned table or an on-demand table, as "+
			"DynamoDB does")
	f.IntVar(&c.KeepChanges, "keep-changes", 10_000,
		"the least number of latest changes to keep for the control API; 0 keeps all")
	c.RegisterFiles(cmd, "--check's changes and findings at the end")
	c.RegisterFormat(cmd)
	f.StringVar(&c.Check, "check", "",
		"check the writes of clients, and the history that they post, for the named invariants, separated by "+
			"commas, or for all that can be judged from these")
	f.Lookup("check").NoOptDefVal = serve.AllChecks
	f.StringArrayVar(&c.Except, "check-except", nil,
		"for --check: an access key id whose writes are not judged, such as that of a program that sets rows "+
			"up; repeatable")
	f.StringVar(&c.RowsName, "rows", "",
		"for --check: a file that says which rows are pages and locks, or the name of a ready mapping (tabletheory, "+
			"dynamolock, powertools)")
	f.BoolVar(&c.Recipe, "recipe", false,
		"for --check: the cache promises the rules of the recipe too; breaking one serves no wrong page")
	f.DurationVar(&c.Skew, "max-clock-skew", 0,
		"for --check: the largest error of a client's clock, and the longest time for a request to arrive")
	f.DurationVar(&c.Revalidate, "revalidate", 0,
		"for --check: how long a page is fresh if neither its row nor its posted rendering says so")
	f.StringArrayVar(&c.Faults, "fault", nil,
		"a fault that is set from the start, such as 'throttled op=PutItem times=2'; repeatable")
	f.StringVar(&c.S3, "s3", "",
		"serve S3 as well, for bodies: on a free port of 127.0.0.1, or on the address given as --s3=127.0.0.1:9000")
	f.Lookup("s3").NoOptDefVal = "127.0.0.1:0"
	f.StringVar(&c.Data, "data", "",
		"a file that keeps tables and rows: it is loaded at the start, and saved at the end, every --data-every, "+
			"and when the control API says so")
	f.DurationVar(&c.DataEvery, "data-every", time.Minute, "for --data: how often changes are saved")
	f.StringArrayVar(&c.Tables, "tables", nil,
		"a file of tables and rows that exist from the start: a template of CloudFormation, SAM or CDK, a plan of "+
			"Terraform in JSON, the AWS CLI's JSON, or a dump of the control API; repeatable")
	f.StringVar(&c.Region, "region", ddbfake.DefaultRegion, "for --tables: the region of tables whose file names none")
	f.StringArrayVar(&c.CORS, "cors", nil,
		"the origin of a web page that may use this server, such as http://localhost:5173; repeatable")
	f.StringArrayVar(&c.Buckets, "s3-bucket", nil, "for --s3: a bucket that exists from the start; repeatable")
	return cmd
}

// forms refuses --format if there are no results, or nowhere to print them.
func (c *serveCommand) forms(*cobra.Command, []string) error {
	if err := c.Parse(); err != nil {
		return err
	}
	if len(c.To) > 0 && c.Check == "" {
		return cli.Usage(errors.New("found --format without --check, which alone has results"),
			"isr-sim serve --check --format junit=junit.xml")
	}
	for _, to := range c.To {
		if to.File == "" && !to.WithText() {
			return cli.Usage(fmt.Errorf(
				"--format: found %s for the output, which begins with the address, expected a file",
				to.Format), fmt.Sprintf("--format %s=FILE", to.Format))
		}
	}
	return nil
}

// run serves until the command is interrupted.
func (c *serveCommand) run(cmd *cobra.Command, _ []string) (err error) {
	ctx := cmd.Context()
	c.Log, c.Keeper.Out = cmd.ErrOrStderr(), cmd.ErrOrStderr()
	switch {
	case c.Wanted() && c.Check == "":
		return cli.Usage(errors.New("found --record or --report without --check, which alone needs them"),
			"isr-sim serve --check --record run.json")
	case c.RowsName != "" && c.Check == "":
		return cli.Usage(errors.New("found --rows without --check, which alone needs it"), "--check --rows "+c.RowsName)
	case c.RowsName != "":
		if c.Rows, err = catalog.Rows(c.RowsName); err != nil {
			return cli.Coded(err)
		}
	}
	if err := c.Ready(false); err != nil {
		return err
	}
	server, err := serve.New(ctx, c.Settings)
	if err != nil {
		return cli.Coded(err)
	}
	line, err := server.Line()
	if err == nil {
		_, err = fmt.Fprintf(c.Out, "%s\n", line)
	}
	if err != nil {
		server.Close()
		return cli.Unknown(err, "")
	}
	c.Lose(server.Run(ctx))
	verdict := invariant.OK
	if server.Checks() {
		verdict = c.judged(server)
	}
	idle := server.Idle()
	for _, fault := range idle {
		fmt.Fprintf(c.Log, "isr-sim: this fault has struck no request: %s\n", fault)
	}
	switch held := server.Held(); {
	case verdict != invariant.OK:
		return &cli.Error{Code: cli.CodeOf(false, verdict)}
	case held > 0:
		return cli.Unknown(fmt.Errorf("%d held requests were never released", held),
			"docs/SERVE.md says how to release and drop them")
	case len(idle) > 0:
		return cli.Unknown(fmt.Errorf("%d faults have struck no request, so what they were set for was not tested",
			len(idle)),
			"DELETE /_isr-sim/faults drops faults, and says which of them have struck nothing")
	}
	return nil
}

// judged keeps the run that the server has seen, and adds the results of its checks.
func (c *serveCommand) judged(server *serve.Server) invariant.Verdict {
	if seen, any := server.Seen(); any {
		c.Lose(c.KeepWatched(seen))
	} else if c.Wanted() {
		fmt.Fprintln(c.Log, "not recorded: no row was changed")
	}
	results, verdict := server.Judged()
	for _, r := range results {
		c.AddKept("", serve.Watched, r)
	}
	return verdict
}
