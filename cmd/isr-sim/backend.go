package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
)

// The backends.
const (
	backendFake  = "fake"
	backendLocal = "dynamodb-local"
)

func knownBackend(name string) error {
	if name == backendFake || name == backendLocal {
		return nil
	}
	return usage(fmt.Errorf("--backend: found %q, expected %s or %s", name, backendFake, backendLocal), "")
}

// startLocal starts DynamoDB Local; stop ends it, even when the command was
// interrupted, and sets the command's error if there is none yet. The hint is for
// whoever has no Docker.
func startLocal(ctx context.Context, progress io.Writer, hint string) (local *ddblocal.Instance, stop func(*error), err error) {
	fmt.Fprintf(progress, "starting %s in a container\n", ddblocal.Image)
	local, err = ddblocal.Start(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, nil, unknown(fmt.Errorf("interrupted before %s answered", backendLocal), "")
	case errors.Is(err, ddblocal.ErrNoEngine), errors.Is(err, ddblocal.ErrNoImage):
		return nil, nil, unknown(err, hint)
	default:
		return nil, nil, unknown(err, "")
	}
	return local, func(err *error) {
		if closeErr := local.Close(context.WithoutCancel(ctx)); closeErr != nil && *err == nil {
			*err = unknown(closeErr, "")
		}
	}, nil
}
