package schedules

import (
	"strings"
	"testing"
)

// The difference of two traces is the first request in which they differ. It is named by its node and its number. A
// request that differs only in its answer does not count.
func TestDifference(t *testing.T) {
	const head = "two under exec node, seed 1, choices 0\n\n   1  +0s         alice     start       starts\n"
	step := func(node, kind, text string) string {
		return "   2  +0s         " + node + "     " + kind + "      " + text + "\n"
	}
	before := head + step("alice/b", "effect", "GetItem META of /a -> absent") + step("bob", "effect",
		"GetItem META of /a -> absent") +
		step("alice/c", "effect", "PutItem META of /a {n: 1} -> ok") + step("alice", "timer", "wakes")
	tests := []struct{ old, now, want string }{
		{"PutItem META of /a {n: 1}", "PutItem META of /b {n: 1}",
			`request 2 of alice was "PutItem META of /a {n: 1}" in one run, and "PutItem META of /b {n: 1}" in another`},
		{step("alice/c", "effect", "PutItem META of /a {n: 1} -> ok"), "",
			`request 2 of alice was "PutItem META of /a {n: 1}" in one run, and was not made in another`},
		{"{n: 1} -> ok", "{n: 1} -> refused", `line 6 of the trace is`},
		{"wakes", "sleeps", `line 7 of the trace is`},
	}
	for _, tt := range tests {
		if got := difference(before, strings.Replace(before, tt.old, tt.now, 1)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q for %q: got %s, want %s", tt.now, tt.old, got, tt.want)
		}
	}
}
