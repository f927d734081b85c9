package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/study/compare"
	"github.com/isr-sim/isr-sim/internal/study/local"
)

// The backends.
const (
	backendFake  = "fake"
	backendLocal = "dynamodb-local"

	// withoutDocker is the hint of commands whose default is the fake.
	withoutDocker = "--backend " + backendFake + ", the default, needs no Docker"
)

func knownBackend(name string) error {
	if name == backendFake || name == backendLocal {
		return nil
	}
	return cli.Usage(fmt.Errorf("--backend: found %q, expected %s or %s", name, backendFake, backendLocal), "")
}

// startLocal starts DynamoDB Local. stop ends it, even if the command was interrupted, and sets the command's error if
// there is none yet. The hint is for users without Docker.
func startLocal(
	ctx context.Context, progress io.Writer, hint string,
) (server *local.Server, stop func(*error), err error) {
	fmt.Fprintf(progress, "starting %s in a container\n", local.Image)
	server, err = local.Start(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, nil, cli.Unknown(fmt.Errorf("interrupted before %s answered", backendLocal), "")
	case errors.Is(err, local.ErrNoDocker):
		return nil, nil, cli.Unknown(err, hint)
	default:
		return nil, nil, cli.Unknown(err, "")
	}
	return server, func(err *error) {
		if closeErr := server.Close(context.WithoutCancel(ctx)); closeErr != nil && *err == nil {
			*err = cli.Unknown(closeErr, "")
		}
	}, nil
}

// compareWith repeats runs on DynamoDB Local, prints the comparison, and reports whether all answers were the same. The
// parameter of is the number of schedules of the campaign.
func compareWith(
	ctx context.Context, out io.Writer, client *dynamodb.Client, name string, runs []kernel.Run, of int,
) (same bool, err error) {
	c, err := compare.Run(ctx, client, runs, nil)
	for _, d := range c.Differences {
		fmt.Fprintln(out, d)
	}
	fmt.Fprintf(out, "%s: %d of %d schedules replayed, %d requests, %d differences\n", backendLocal, c.Runs, of,
		c.Requests, len(c.Differences))
	switch {
	case err == nil:
		return len(c.Differences) == 0, nil
	case ctx.Err() != nil:
		return false, cli.Unknown(fmt.Errorf("interrupted while %s was compared", name), "")
	default:
		return false, cli.Unknown(err, "")
	}
}
