package s3lease

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mutants are bugs that leases in S3 have had, or may have, with the invariants that may say so: texts of lease.go,
// each followed by what stands in its place. The first two are public:
// https://github.com/aws/aws-sdk-java-v2/issues/6580 and https://github.com/apache/arrow-rs-object-store/issues/852.
var mutants = []struct {
	name, violated string
	texts          []string
}{
	{"own object is taken for another's", "free-lock kept-lease",
		[]string{"h.Owner == owner && h.Until != 0", "false", "seen == r ", "seen == r && false "}},
	{"409 is taken for held", "free-lock", []string{`"NoSuchKey", "ConditionalRequestConflict"}`, `"NoSuchKey"}`}},
	{"own renewal is taken for another's", "kept-lease", []string{"seen == r ", "seen == r && false "}},
	{"409 of a renewal is taken for a loss", "kept-lease", []string{again, "if true {"}},
	{"delete without ETag", "mutual-exclusion kept-lease", []string{", IfMatch: &h.etag})", "})"}},
	{"take-over by delete and create", "mutual-exclusion guarded-write kept-lease", []string{take, `
		_, _ = c.Store.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.Bucket, Key: &h.key})
		h.etag = ""` + take}},
	{"take-over without If-Match", "mutual-exclusion guarded-write kept-lease", []string{put, `
		if h.Owner != r.Owner { in.IfMatch = nil }` + put}},
	{"renewal without If-Match", "mutual-exclusion", []string{put, `
		if h.Owner == r.Owner { in.IfMatch = nil }` + put}},
	{"renewal creates a deleted object", "mutual-exclusion guarded-write", []string{again, `
		if code(err) == "NoSuchKey" { h.etag = ""; continue }
		` + again}},
	{"time of Last-Modified", "mutual-exclusion", []string{"now := c.Now()", `
		out, no := c.Store.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.Bucket, Key: &h.key})
		if no == nil && h.Until != 0 { h.Until = out.LastModified.Add(c.Length).UnixMilli() }
		now := c.Now()`}},
	{"take-over a second early", "mutual-exclusion", []string{"2 * c.Skew)", "2 * c.Skew - time.Second)"}},
	{"token does not grow", "guarded-write", []string{grown, "max(1, h.Token)"}},
	{"token is lost with the object", "guarded-write", []string{grown, "h.Token+1"}},
	{"token is older than the object", "guarded-write", []string{"if h.etag == \"\" {\n\t\t\terr", "if false { err"}},
	{"no object is left for a clock that is behind", "guarded-write", []string{"<= h.Token", "< 0"}},
	{"release of another's lease", "mutual-exclusion kept-lease", []string{"seen.Owner != h.Owner ||", ""}},
	{"lease counts from the answer", "mutual-exclusion", []string{"if err == nil {\n\t\th.record", `
		if err == nil {
			if r.Until != 0 { r.Until = h.of.Now().Add(h.of.Length).UnixMilli() }
			h.record`}},
}

// Texts of lease.go in which several mutants differ.
const (
	again = `if code(err) != "ConditionalRequestConflict" {`
	grown = "max(now.UnixMilli(), h.Token+1)"
	put   = "\n\tout, err := h.of.Store.PutObject"
	take  = "\n\t\t\terr = h.write(ctx, record{owner,"
)

// TestMutants: the check finds each mutant at its default settings, under each seed; by day, the public ones.
func TestMutants(t *testing.T) {
	source, err := os.ReadFile("lease.go")
	if err != nil {
		t.Fatal(err)
	}
	seeds, tried := 1, mutants[:2]
	if os.Getenv("ISRSIM_LONG") != "" {
		seeds, tried = 10, mutants
	}
	for _, m := range tried {
		t.Run(m.name, func(t *testing.T) {
			text := string(source)
			for i := 0; i < len(m.texts); i += 2 {
				if n := strings.Count(text, m.texts[i]); n != 1 {
					t.Fatalf("lease.go has %q %d times, expected once", m.texts[i], n)
				}
				text = strings.Replace(text, m.texts[i], m.texts[i+1], 1)
			}
			binary := instead(t, text)
			for seed := range seeds {
				if by := violated(t, binary, "aws", 1+seed); by == "" || !strings.Contains(m.violated, by) {
					t.Errorf("seed %d: found %q, expected one of %s", 1+seed, by, m.violated)
				}
			}
		})
	}
}

// TestStores: the lease is for stores that keep each condition. The check finds what each other one ignores.
func TestStores(t *testing.T) {
	for store, want := range map[string]string{
		"digitalocean": "mutual-exclusion", "hetzner": "mutual-exclusion", "incus": "mutual-exclusion",
		"minio": "mutual-exclusion",
	} {
		t.Run(store, func(t *testing.T) {
			if by := violated(t, os.Args[0], store, 1); by != want {
				t.Errorf("found %q, expected %q", by, want)
			}
		})
	}
}

// instead is the binary of this package's tests with another lease.go.
func instead(t *testing.T, text string) (binary string) {
	t.Helper()
	here, err := os.Getwd()
	temp := t.TempDir()
	mutant, overlay := filepath.Join(temp, "lease.go"), filepath.Join(temp, "overlay")
	binary = filepath.Join(temp, "test")
	list := fmt.Sprintf(`{"Replace": {%q: %q}}`, filepath.Join(here, "lease.go"), mutant)
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "-overlay", overlay, ".")
	err = errors.Join(err, os.WriteFile(mutant, []byte(text), 0o600), os.WriteFile(overlay, []byte(list), 0o600))
	if out, failed := build.CombinedOutput(); err != nil || failed != nil {
		t.Fatalf("%v, %v\n%s", err, failed, out)
	}
	return binary
}

// violated is the invariant that a check of a store finds violated in a process of its own; "" is none.
func violated(t *testing.T, binary, store string, seed int) (invariant string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^Test(Overtaken|Lease)$", "-test.failfast",
		"-rapid.shrinktime=0s", "-rapid.seed="+strconv.Itoa(seed))
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), storeVariable+"="+store)
	if err := os.CopyFS(cmd.Dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	found := regexp.MustCompile(`violated: .*\n\s*([a-z-]+): `).FindSubmatch(out)
	if (found == nil) != (err == nil) {
		t.Fatalf("%v\n%s", err, out)
	}
	if found != nil {
		invariant = string(found[1])
	}
	return invariant
}
