package shared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// branchScheme begins the addresses of branches.
const branchScheme = "git+"

// defaultBranch is used if the address does not name a branch. It is a separate branch, so that a thousand commits by
// machines stay away from people's.
const defaultBranch = "isr-sim-corpus"

// branch keeps files on a branch of a git repository, using the program git. If another writer pushed first, the commit
// is made again on top of that writer's commit.
type branch struct{ url, name string }

// transports are the transports of git that a URL may name. Others read a descriptor or run a command, and must not be
// used, because the URL of a corpus comes from files and variables of CI.
const transports = "file:git:http:https:ssh"

// helper matches a URL that names a helper of git, as fd::17 does.
var helper = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)

// newBranch reads git+URL#BRANCH. The URL may also be a path.
func newBranch(address string) (Place, error) {
	url, name, _ := strings.Cut(strings.TrimPrefix(address, branchScheme), "#")
	if name == "" {
		name = defaultBranch
	}
	if url == "" || strings.HasPrefix(url, "-") || strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%s: found no repository, expected git+URL or git+URL#BRANCH", address)
	}
	if scheme, _, _ := strings.Cut(url, "://"); helper.MatchString(url) ||
		scheme != url && !slices.Contains(strings.Split(transports, ":"), scheme) {
		return nil, fmt.Errorf("%s: found a transport that is none of %s, expected one of them, or a path", address,
			strings.ReplaceAll(transports, ":", ", "))
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("%s: found no program git, expected it in PATH: %w", address, err)
	}
	if _, err := os.Stat(url); err == nil { // git runs in another folder
		if url, err = filepath.Abs(url); err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
	}
	return &branch{url, name}, nil
}

type gitError struct {
	command, said string
	code          int
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit code %d: %s", e.command, e.code, e.said)
}

// git runs the program in a folder. It asks nobody for a password, and ignores settings of the user that would change
// files, sign commits or run hooks.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	settings := []string{
		"-c", "user.name=isr-sim", "-c", "user.email=isr-sim@localhost", "-c", "commit.gpgsign=false", "-c",
		"core.autocrlf=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "advice.detachedHead=false", "-c", "init.defaultBranch=main",
	}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Dir = folder
	cmd.Env = []string{"GIT_ALLOW_PROTOCOL=" + transports} // unless the user sets this variable
	for _, set := range os.Environ() {
		// If a hook of git starts this program, these variables are set, for the hook's repository.
		if name, _, _ := strings.Cut(set, "="); name != "GIT_DIR" && name != "GIT_WORK_TREE" &&
			name != "GIT_INDEX_FILE" && name != "GIT_PREFIX" {
			cmd.Env = append(cmd.Env, set)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &gitError{args[0], strings.Join(strings.Fields(said.String()), " "), failed.ExitCode()}
	}
	return strings.TrimSpace(out.String()), err
}

// head fetches the branch, and makes the folder equal to it; "" means that the branch does not exist yet.
func (b *branch) head(ctx context.Context, folder string) (string, error) {
	if _, err := os.Stat(filepath.Join(folder, ".git")); err != nil {
		if _, err := git(ctx, folder, "init", "-q"); err != nil {
			return "", err
		}
	}
	fetch := func() error {
		_, err := git(ctx, folder, "fetch", "-q", "--depth=1", "--no-tags", b.url, "refs/heads/"+b.name)
		return err
	}
	if err := fetch(); err != nil {
		// Only a repository that answers can tell that it has no such branch: exit code 2.
		_, absent := git(ctx, folder, "ls-remote", "--exit-code", "--heads", b.url, "refs/heads/"+b.name)
		if e, ok := errors.AsType[*gitError](absent); ok && e.code == 2 {
			return "", nil
		}
		if absent != nil {
			return "", err
		}
		// The branch exists: another writer may have begun it in between.
		if err := fetch(); err != nil {
			return "", err
		}
	}
	if _, err := git(ctx, folder, "reset", "-q", "--hard", "FETCH_HEAD"); err != nil {
		return "", err
	}
	return git(ctx, folder, "rev-parse", "HEAD")
}

// Pull implements Place.
func (b *branch) Pull(ctx context.Context, folder string) error {
	head, err := b.head(ctx, folder)
	if err == nil && head == "" {
		return ErrMissing
	}
	return err
}

// refusals is how often a push must fail, while nobody else's succeeded, before git's error is believed.
const refusals = 6

// Push implements Place, in one commit, so that all files arrive or none.
func (b *branch) Push(ctx context.Context, folder string, add, remove []string) error {
	data, err := files(folder, add)
	if err != nil {
		return err
	}
	var refused error
	before, same := "", 0
	for n := 1; ; n++ {
		head, err := b.head(ctx, folder)
		if err != nil {
			return errors.Join(err, refused)
		}
		if same++; head != before {
			before, same = head, 1
		}
		if refused != nil && same > refusals {
			return refused
		}
		changed, err := b.commit(ctx, folder, head, data, add, remove)
		if err != nil || !changed {
			return err
		}
		if _, refused = git(ctx, folder, "push", "-q", b.url, "HEAD:refs/heads/"+b.name); refused == nil {
			return nil
		}
		if err := wait(ctx, n); err != nil {
			return errors.Join(err, refused)
		}
	}
}

// commit makes the commit of a Push on top of a head, and reports whether it has any changes.
func (b *branch) commit(
	ctx context.Context, folder, head string, data map[string][]byte, add, remove []string,
) (changed bool, err error) {
	there := map[string]bool{}
	if head == "" {
		// HEAD may be a commit that was refused because another writer had begun the branch, which is gone by now. That
		// commit must not become the parent.
		if _, err := git(ctx, folder, "update-ref", "-d", "HEAD"); err != nil {
			return false, err
		}
	} else {
		list, err := git(ctx, folder, "ls-tree", "--name-only", "-z", "HEAD")
		if err != nil {
			return false, err
		}
		for name := range strings.SplitSeq(list, "\x00") {
			there[name] = true
		}
	}
	var staged []string
	for _, name := range add {
		if there[name] {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), data[name], 0o644); err != nil {
			return false, err
		}
		staged = append(staged, name)
	}
	if len(staged) > 0 {
		if _, err := git(ctx, folder, append([]string{"add", "-f", "--"}, staged...)...); err != nil {
			return false, err
		}
	}
	if len(remove) > 0 {
		if _, err := git(ctx, folder,
			append([]string{"rm", "-q", "-f", "--ignore-unmatch", "--"}, remove...)...); err != nil {
			return false, err
		}
	}
	if status, err := git(ctx, folder, "diff", "--cached", "--name-only"); err != nil || status == "" {
		return false, err
	}
	_, err = git(ctx, folder, "commit", "-q", "-m", "corpus: "+count(len(add)+len(remove)))
	return err == nil, err
}
