// Package mutant holds deliberately broken protocols, in files by subject. Each is recipe A with one bug, or recipe B
// if the bug is in a version or in the pointer to one. They test the tester: every mutant names the invariant that must
// catch it.
//
//	for _, m := range mutant.All() {
//		fmt.Println(m.Name, "breaks", m.Breaks, "-", m.Summary)
//	}
//
// # Limits
//
// A mutant is wrong on purpose. Nothing here belongs in a program.
package mutant

import (
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func init() { protocols.Mutants = All }

// All returns the mutants, sorted by name.
func All() []isr.Protocol {
	return []isr.Protocol{
		acquireASecondEarly,
		acquireByGetThenPut,
		acquireWaitsForTTL,
		backOffInStep,
		blindPublish,
		blindRelease,
		bodyAfterPointer,
		buildTimePage,
		checkThenActPublish,
		deadHolderCostsTwoLeases,
		etagOfAnotherBody,
		eventualRead,
		expiryRestartsOnLook,
		fenceInLockRow,
		firstLookEventual,
		freshASecondLonger,
		freshAsOfRead,
		freshnessByTTL,
		generatedAtLate,
		guardExpiryAlone(),
		guardMonotonicAlone(),
		guardTokenAlone(),
		guardVersionAlone(),
		heartbeatAfterRelease,
		heartbeatBeatsOnce,
		heartbeatWithoutToken,
		invalidationDeletesMeta,
		invalidationOvertaken,
		lastPageForEver,
		lastPagePublishedAgain,
		leaseFloored,
		leaseInMilliseconds,
		lockTTLInMilliseconds,
		lockTTLTooShort,
		memoryBeforeMeta,
		metaTTLTooShort,
		noReleaseAfterFailure,
		noReleaseAfterPublish,
		noSecondLook,
		oldStockPublished,
		ownCommitAsConflict,
		pointerBeforeVersion,
		presenceAsKnowledge,
		publishAtExpiry,
		reentrantByOwner,
		refillRestartsWindow,
		refusedPublishBelieved,
		releaseBeforePublish,
		renderBeforeAcquire,
		requestCompletedLate,
		requestHashIgnored,
		retryWithoutToken,
		rollbackOfOnePage,
		rollbackWithoutLease,
		sharedBodyName,
		staleInnerCache,
		tenantAndKeyConcatenated,
		tenantMissing,
		twoTransactions,
		unlockedFirstFill,
		versionTTLTooShort,
		windowOpensBeforeRender,
		zeroLeaseIsForEver,
	}
}

// onRecipeA makes the constructor of a mutant that replaces methods of recipe A.
func onRecipeA(mutate func(*pagecache.RecipeA) pagecache.Store) func(isr.Config) (isr.Handler, error) {
	return pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return built(mutate(r), r) })
}

// onRecipeB makes the constructor of a mutant that replaces methods of recipe B.
func onRecipeB(mutate func(*pagecache.RecipeB) pagecache.Store) func(isr.Config) (isr.Handler, error) {
	return pagecache.OnRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return built(mutate(r), r) })
}

// built makes the store of a mutant that was made from a reference. A test replaces it to restore the reference's
// methods.
var built = func(mutated, _ pagecache.Store) pagecache.Store { return mutated }
