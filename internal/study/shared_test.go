package study_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/study/shared"
	"github.com/isr-sim/isr-sim/s3fake"
)

// writer is the variable that makes this test a writer. Its lines are ADDRESS NAME FILE...
const writer = "ISRSIM_TEST_WRITER"

func TestMain(m *testing.M) {
	if lines := os.Getenv(writer); lines != "" {
		parts := strings.Split(lines, "\n")
		if err := write(context.Background(), parts[0], parts[1], parts[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write adds files, as explore does, and prints the name of each that has arrived.
func write(ctx context.Context, address, by string, names []string) error {
	m, _, err := shared.Open(ctx, address, true)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := filepath.Join(m.Folder, name)
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			if err := os.WriteFile(file, []byte(name+" by "+by+"\n"), 0o644); err != nil {
				return err
			}
			if err := m.Push(ctx, []string{name}, nil); err != nil {
				return err
			}
		}
		fmt.Fprintln(os.Stdout, name)
	}
	return m.Close(ctx)
}

// bucket is an S3 fake with a bucket that this process and its children use.
func bucket(t *testing.T) *s3fake.Store {
	t.Helper()
	store := s3fake.New(s3fake.Options{Buckets: []string{"kept"}, LogRequests: 1 << 20})
	server := httptest.NewServer(store.Handler())
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
		"AWS_SESSION_TOKEN": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_REGION": "",
	} {
		t.Setenv(name, value)
	}
	return store
}

// repository is a bare git repository.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("found no git in PATH")
	}
	folder := filepath.Join(t.TempDir(), "corpus.git")
	run(t, "", "git", "init", "-q", "--bare", folder)
	return folder
}

func run(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// pulled returns the files of a place.
func pulled(t *testing.T, address string) map[string]string {
	t.Helper()
	m, _, err := shared.Open(t.Context(), address, false)
	must.OK(t, err)
	defer m.Close(t.Context())
	all := map[string]string{}
	files, err := os.ReadDir(m.Folder)
	must.OK(t, err)
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		data := must.Of(os.ReadFile(filepath.Join(m.Folder, f.Name())))(t)
		all[f.Name()] = string(data)
	}
	return all
}

// killed makes processes write to an address at once, all of them the same files and some of their own, and kills them
// at random. It returns the names that must exist.
func killed(t *testing.T, address string) []string {
	t.Helper()
	const each = 3 // files of one process
	writers := effort.Fewer(10, 2)
	kills := effort.Fewer(100, 4) / writers
	t.Setenv("TMPDIR", t.TempDir()) // for the mirrors of killed processes
	var lock sync.Mutex
	arrived := map[string]bool{}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for life, died := 0, 0; ; life++ {
				var names []string
				for i := range each {
					names = append(names, fmt.Sprintf("all-%d-%d", life, i), fmt.Sprintf("own-%d-%d-%d", w, life, i))
				}
				for {
					ctx, cancel := context.Background(), func() {}
					if died < kills {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(1+random.IntN(600))*time.Millisecond)
					}
					cmd := exec.CommandContext(ctx, os.Args[0])
					cmd.Env = append(os.Environ(),
						writer+"="+strings.Join(append([]string{address, fmt.Sprint(w)}, names...), "\n"))
					var said, wrong strings.Builder
					cmd.Stdout, cmd.Stderr = &said, &wrong
					cmd.WaitDelay = 20 * time.Second // its git may still be running
					err := cmd.Run()
					ended := ctx.Err() == nil
					cancel()
					lock.Lock()
					for lines := bufio.NewScanner(strings.NewReader(said.String())); lines.Scan(); {
						arrived[lines.Text()] = true
					}
					lock.Unlock()
					if err == nil {
						break
					}
					if ended {
						t.Errorf("writer %d: %v: %s", w, err, wrong.String())
						return
					}
					died++
				}
				if died >= kills {
					return
				}
			}
		})
	}
	group.Wait()
	var names []string
	for name := range arrived {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// whole fails the test for each file that is lost or damaged.
func whole(t *testing.T, address string, names []string) {
	t.Helper()
	there := pulled(t, address)
	for _, name := range names {
		if there[name] == "" {
			t.Errorf("%s arrived, and is lost", name)
		}
	}
	for name, text := range there {
		if !strings.HasPrefix(text, name+" by ") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s has %q", name, text)
		}
	}
	if len(names) < 6 {
		t.Errorf("only %d files have arrived", len(names))
	}
	t.Logf("%d files have arrived, %d are there", len(names), len(there))
}

func TestWritersOfABucketThatAreKilledLoseNothing(t *testing.T) {
	effort.Long(t)
	store := bucket(t)
	whole(t, "s3://kept/some/nights", killed(t, "s3://kept/some/nights/"))
	written := map[string]int{}
	for _, r := range store.Requests() {
		if r.Operation == "PutObject" && r.Status == 200 {
			written[r.Keys[0]]++
		}
	}
	for key, n := range written {
		if n != 1 {
			t.Errorf("%s was written %d times, want once", key, n)
		}
	}
}

func TestWritersOfABranchThatAreKilledLoseNothing(t *testing.T) {
	effort.Long(t)
	folder := repository(t)
	whole(t, "git+"+folder, killed(t, "git+"+folder))
	for line := range strings.Lines(run(t, folder, "git", "log", "--format=", "--name-status", "isr-sim-corpus")) {
		if !strings.HasPrefix(line, "A\t") {
			t.Errorf("a commit does more than to add: %s", line)
		}
	}
	run(t, folder, "git", "fsck", "--strict")
}

// A fetch that found no branch and the question whether there is one are two commands. The branch may begin between
// them.
func TestABranchBegunDuringAFetchIsThere(t *testing.T) {
	folder := repository(t)
	address := "git+" + folder
	other, _, err := shared.Open(t.Context(), address, true)
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(other.Folder, "a"), []byte("a"), 0o644))
	must.OK(t, other.Push(t.Context(), []string{"a"}, nil))
	program, err := exec.LookPath("git")
	must.OK(t, err)
	// The other writer's commit is hidden from the first fetch, and appears when the fetch has ended.
	head := filepath.Join(folder, "refs", "heads", "isr-sim-corpus")
	late := filepath.Join(t.TempDir(), "late")
	must.OK(t, os.Rename(head, late))
	path := t.TempDir()
	script := fmt.Sprintf(
		"#!/bin/sh\n%q \"$@\"\ncode=$?\ncase \" $* \" in *' fetch '*) mv %q %q 2>/dev/null;; esac\nexit $code\n",
		program, late, head,
	)
	must.OK(t, os.WriteFile(filepath.Join(path, "git"), []byte(script), 0o755))
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	if got := pulled(t, address); len(got) != 1 || got["a"] != "a" {
		t.Errorf("found %v, want the other writer's file", got)
	}
}

func TestTheFirstFileOfANameStays(t *testing.T) {
	effort.NotShort(t)
	store := bucket(t)
	// Requests that S3 does not serve, or whose answer is lost, are sent again.
	for _, text := range []string{
		"throttled op=ListObjectsV2", "response-lost op=PutObject", "error-before op=GetObject",
	} {
		store.Inject(must.Of(s3fake.ParseFault(text))(t))
	}
	for name, address := range map[string]string{"bucket": "s3://kept", "branch": "git+" + repository(t) + "#nights"} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := shared.Open(t.Context(), address, false); !errors.Is(err, shared.ErrMissing) {
				t.Errorf("nothing is there: error %v", err)
			}
			put := func(m *shared.Mirror, text string, remove ...string) {
				t.Helper()
				must.OK(t, os.WriteFile(filepath.Join(m.Folder, "a"), []byte(text), 0o644))
				must.OK(t, m.Push(t.Context(), []string{"a"}, remove))
			}
			one, fresh, err := shared.Open(t.Context(), address, true)
			if err != nil || !fresh {
				t.Fatalf("fresh %v, error %v", fresh, err)
			}
			two, _, err := shared.Open(t.Context(), address, true)
			must.OK(t, err)
			put(one, "first")
			put(two, "second")
			if got := pulled(t, address); len(got) != 1 || got["a"] != "first" {
				t.Errorf("found %v, want the first", got)
			}
			must.OK(t, os.WriteFile(filepath.Join(two.Folder, "b"), nil, 0o644))
			must.OK(t, two.Push(t.Context(), []string{"b"}, []string{"a", "never"}))
			if got := pulled(t, address); len(got) != 1 || got["a"] != "" {
				t.Errorf("found %v, want b alone", got)
			}
			if err := errors.Join(one.Close(t.Context()), two.Close(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	if left := store.Injected(); len(left) > 0 {
		t.Errorf("%v struck nothing", left)
	}
}

func TestAPlaceThatRefusesIsNamedAndNothingIsLost(t *testing.T) {
	effort.NotShort(t)
	bucket(t)
	refusing := repository(t)
	address := "git+" + refusing
	m, _, err := shared.Open(t.Context(), address, true)
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(refusing, "hooks", "pre-receive"),
		[]byte("#!/bin/sh\necho no machines here\nexit 1\n"), 0o755))
	must.OK(t, os.WriteFile(filepath.Join(m.Folder, "a"), []byte("x"), 0o644))
	if err := m.Push(t.Context(), []string{"a"}, nil); err == nil ||
		!strings.Contains(err.Error(), "no machines here") {
		t.Errorf("error %v, want what the repository says", err)
	}
	if err := m.Close(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "1 change not sent; all is still in "+m.Folder) {
		t.Errorf("error %v, want one that names the folder", err)
	}
	if _, err := os.Stat(filepath.Join(m.Folder, "a")); err != nil {
		t.Error(err)
	}
	must.OK(t, os.Remove(filepath.Join(refusing, "hooks", "pre-receive")))
	if err := m.Close(t.Context()); err != nil || pulled(t, address)["a"] != "x" {
		t.Errorf("it arrives later: %v", err)
	}
	for address, want := range map[string]string{
		"s3://":                  "found no bucket",
		"s3://none":              "NoSuchBucket",
		"git+":                   "found no repository",
		"git+--upload-pack=x":    "found no repository",
		"git+fd::17":             "found a transport that is none of file, git, http, https, ssh",
		"git+ext::sh%20x":        "found a transport that is none of",
		"git+ftp://localhost/r":  "found a transport that is none of",
		"git+" + t.TempDir():     "does not appear to be a git repository",
		"git+" + refusing + "#-": "found no repository",
	} {
		if _, _, err := shared.Open(t.Context(), address, true); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), address) {
			t.Errorf("%s: error %v, want one with %q", address, err, want)
		}
	}
}
