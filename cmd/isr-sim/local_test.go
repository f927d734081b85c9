package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// TestDynamoDBLocal runs the scripts of testdata/dynamodb-local, which need a Docker engine.
func TestDynamoDBLocal(t *testing.T) {
	ddblocal.ForTest(t) // without an engine: skips with a reason, or fails if one is required
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/dynamodb-local",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		// A script begins with an empty environment: let it find the engine that this test found.
		Setup: func(env *testscript.Env) error {
			for _, variable := range os.Environ() {
				if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "DOCKER_") ||
					strings.HasPrefix(name, "TESTCONTAINERS_") || name == "HOME" || name == "XDG_RUNTIME_DIR" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("REPLAYS", effort.Fewer("20", "2"))
			env.Setenv("A_WHILE", effort.Fewer("10s", "6s"))
			return nil
		},
	})
}
