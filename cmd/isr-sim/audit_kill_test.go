//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// A live audit that is killed again and again reads each record once, and judges what one that was never killed does.
func TestKilledAudits(t *testing.T) {
	effort.Long(t)
	db := ddbfake.New(ddbfake.Options{Clock: clockwork.NewRealClock()})
	server := httptest.NewServer(db.Handler())
	defer server.Close()
	in := isr.TableInput("cache")
	in.StreamSpecification = &types.StreamSpecification{
		StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
	}
	must.Done(t)(db.As("").CreateTable(t.Context(), in))
	dir := t.TempDir()
	audit := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), "isr-sim", append([]string{"audit", "--table", "cache"}, args...)...)
		var out bytes.Buffer
		cmd.Dir, cmd.Stdout = dir, &out
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+server.URL, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=a",
			"AWS_SECRET_ACCESS_KEY=a")
		return cmd, &out
	}
	written := 0
	write := func() {
		for _, token := range []string{"alice", "bob"} { // who takes the lock from alice
			must.OK(t, db.Put("cache", attr.Item{
				"pk": attr.S(fmt.Sprintf("CACHE#%d", written/2)), "sk": attr.S("LOCK"),
				"lease_token": attr.S(token), "lease_expires_at": attr.Int(1 << 40),
			}))
			written++
		}
	}
	kept := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "kept")) // it may not be there yet
		return len(text)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range effort.Fewer(20, 5) {
		before := kept()
		cmd, _ := audit("--follow", "--keep", "kept")
		must.OK(t, cmd.Start())
		for write(); kept() == before && t.Context().Err() == nil; {
			wait(t, 10*time.Millisecond)
		}
		for range random.IntN(60) {
			write()
			wait(t, time.Duration(random.IntN(30))*time.Millisecond)
		}
		must.OK(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	}
	for _, args := range [][]string{{"--keep", "kept"}, {}} {
		cmd, out := audit(args...)
		code := exitCode(cmd.Run())
		for _, want := range []string{
			fmt.Sprintf("%d records, ", written), fmt.Sprintf("%d changes of a lock that was there", written/2),
		} {
			if !strings.Contains(out.String(), want) || code != 1 || strings.Contains(out.String(), "left out") {
				text := out.String()
				t.Errorf("%v: exit code %d, want 1 and %q:\n%s", args, code, want, text[max(0, len(text)-3000):])
			}
		}
	}
}
