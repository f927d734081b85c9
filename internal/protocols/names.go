package protocols

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Mutants returns the protocols of package mutant. Linking that package sets the variable: a program without it has no
// mutants.
var Mutants = none

// Policies returns the protocols of package policyprotocol in the same way.
var Policies = none

func none() []isr.Protocol { return nil }

// The names are separate from the code that they name, so that every program can read every scenario file without
// linking a broken cache.
var names = strings.Fields(`
recipe-a recipe-a-guarded recipe-b recipe-b-guarded recipe-a-home acquire-a-second-early acquire-by-get-then-put
acquire-waits-for-ttl back-off-in-step blind-publish blind-release body-after-pointer build-time-page check-then-act-publish
dead-holder-costs-two-leases etag-of-another-body eventual-read expiry-restarts-on-look fence-in-lock-row
first-look-eventual fresh-a-second-longer fresh-as-of-read freshness-by-ttl generated-at-late
guard-expiry-alone guard-monotonic-alone guard-token-alone guard-version-alone heartbeat-after-release
heartbeat-beats-once heartbeat-without-token invalidation-deletes-meta invalidation-overtaken
last-page-for-ever last-page-published-again lease-floored lease-in-milliseconds lock-ttl-in-milliseconds
lock-ttl-too-short memory-before-meta meta-ttl-too-short no-release-after-failure no-release-after-publish
no-second-look old-stock-published own-commit-as-conflict pointer-before-version presence-as-knowledge
publish-at-expiry reentrant-by-owner refill-restarts-window refused-publish-believed release-before-publish
render-before-acquire request-completed-late request-hash-ignored retry-without-token rollback-of-one-page
rollback-without-lease shared-body-name stale-inner-cache tenant-and-key-concatenated tenant-missing two-transactions
unlocked-first-fill version-ttl-too-short window-opens-before-render zero-lease-is-for-ever policy-absolute
policy-jitter policy-sliding policy-hybrid policy-refresh-ahead policy-xfetch policy-swr policy-unprotected
`)

// StoreUnderTest is the default name of a cache in a Go test, in the files that package property leaves. The code of
// other subjects has a name with the same ending.
const StoreUnderTest = "store-under-test"

// UnderTest reports whether a name is one of code in a Go test.
func UnderTest(name string) bool { return strings.HasSuffix(name, "-under-test") }

// Names returns the names that scenario files and commands know: the references first, then the mutants, then the
// policies of expiry.
func Names() []string { return slices.Clone(names) }

// BuiltIn reports whether a name is among Names.
func BuiltIn(name string) bool { return slices.Contains(names, name) }

// Known returns an error for a name that is not among Names.
func Known(name string) error {
	if BuiltIn(name) {
		return nil
	}
	err := fmt.Errorf("protocol: found %q, expected one of the %d that isr-sim list prints", name, len(names))
	if option, ok := suggest.Nearest(name, names); ok {
		err = fmt.Errorf("%w\nhint: did you mean %q?", err, option)
	}
	return err
}
