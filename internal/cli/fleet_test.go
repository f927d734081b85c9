package cli_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/fleet"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/s3fake"
)

// do runs a command, and returns what it prints.
func do(cmd *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.Execute()
	return out.String(), err
}

// Shards in a bucket are merged like those in a folder.
func TestMergeReadsBuckets(t *testing.T) {
	server := httptest.NewServer(s3fake.New(s3fake.Options{Buckets: []string{"kept"}}).Handler())
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
		"AWS_SESSION_TOKEN": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_REGION": "",
	} {
		t.Setenv(name, value)
	}
	folder := t.TempDir() + "/"
	for _, shard := range []string{"1/2", "2/2"} {
		must.Done(t)(do(fleet.NewExplore(), "--schedules", "40", "--shard", shard, "--out", folder, "two-contenders"))
	}
	put := func(name string, text []byte) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
			server.URL+"/kept/night/"+name, bytes.NewReader(text))
		must.OK(t, err)
		answer, err := http.DefaultClient.Do(request)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer, err)
		}
		_ = answer.Body.Close()
	}
	files, err := filepath.Glob(folder + "shard-*")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		must.OK(t, err)
		put(filepath.Base(file), text)
		_, err = do(fleet.NewMerge(), "s3://kept/night")
		if missing := err != nil && strings.Contains(err.Error(), "found no shard 2 of 2"); missing != (i == 0) {
			t.Fatalf("with %d shards: %v", i+1, err)
		}
	}
	put("other.txt", []byte("no shard"))
	ofFolder, err := do(fleet.NewMerge(), folder)
	must.OK(t, err)
	if ofBucket, err := do(fleet.NewMerge(), "s3://kept/night"); err != nil || ofBucket != ofFolder {
		t.Errorf("got %s (%v), want what the folder gives:\n%s", ofBucket, err, ofFolder)
	}
	put("shard-3-of-2.json", []byte("{"))
	if _, err := do(fleet.NewMerge(), "s3://kept/night"); err == nil || !strings.HasPrefix(err.Error(),
		"merge: s3://kept/night/shard-3-of-2.json: found 1 bytes that are no whole JSON") {
		t.Errorf("a damaged object: %v", err)
	}
	for address, code := range map[string]int{"s3://kept/nothing": cli.ExitUsage, "s3://other/night": cli.ExitUnknown} {
		_, err := do(fleet.NewMerge(), address)
		if e, is := errors.AsType[*cli.Error](err); !is || e.Code != code || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: got %v, want exit code %d", address, err, code)
		}
	}
}

func TestShard(t *testing.T) {
	for name, test := range map[string]struct {
		flag, env string
		want      string // a shard and its source, or a part of an error
	}{
		"whole":    {"", "", "1/1"},
		"flag":     {"2/4", "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=8", "2/4 --shard"},
		"bad flag": {"0/4", "", `--shard: found "0/4"`},
		"engine":   {"", "CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4", "4/4 CircleCI"},
		"bad engine": {"", "CIRCLE_NODE_INDEX=4 CIRCLE_NODE_TOTAL=4",
			"found CIRCLE_NODE_INDEX=4 and CIRCLE_NODE_TOTAL=4 of CircleCI"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(test.env) {
			key, value, _ := strings.Cut(pair, "=")
			env[key] = value
		}
		s, by, err := fleet.FindShard(test.flag, func(key string) string { return env[key] })
		got := strings.TrimSpace(s.String() + " " + by)
		if err != nil {
			got = err.Error()
			if e, ok := errors.AsType[*cli.Error](err); !ok || e.Code != cli.ExitUsage {
				t.Errorf("%s: %v is no usage error", name, err)
			}
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
