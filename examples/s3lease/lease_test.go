package s3lease

import (
	"context"
	"os"
	"testing"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/property/bodies"
)

// lock is a Client as the check asks for it.
type lock struct{ *Client }

func (l lock) Acquire(ctx context.Context, name string) (property.Held, error) {
	h, err := l.Client.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return held{h}, nil
}

type held struct{ *Held }

func (h held) StillHeld(context.Context) (bool, error) { return h.Held.StillHeld(), nil }
func (h held) Token() int64                            { return h.Held.Token }

func newLock(m property.Machine) (property.Lock, error) {
	store, err := bodies.Of(m.Bodies)
	return lock{&Client{
		Store: store, Bucket: bodies.Bucket, Now: m.Clock.Now, Unique: m.Tokens, Length: m.Lease, Skew: m.MaxClockSkew,
	}}, err
}

// storeVariable names the store of a check in a process of its own, at the default settings.
const storeVariable = "S3LEASE_STORE"

// TestOvertaken: a lease that took its token before its object was there has failed so.
func TestOvertaken(t *testing.T) { property.LockCheck{}.Replay(t, "testdata/overtaken.yaml", newLock) }

// TestLease: the lease keeps its promises in drawn worlds.
func TestLease(t *testing.T) {
	check := property.LockCheck{S3Store: os.Getenv(storeVariable)}
	if check.S3Store == "" {
		check.Schedules = 5
	}
	check.Run(t, newLock)
}

// TestProof: it keeps them in every schedule of a small world. That of every night has a 409, too.
func TestProof(t *testing.T) {
	file := "testdata/lost-answer.yaml"
	if os.Getenv("ISRSIM_LONG") != "" {
		file = "testdata/lost-answer-conflict.yaml"
	}
	property.LockCheck{}.Prove(t, file, newLock)
}
