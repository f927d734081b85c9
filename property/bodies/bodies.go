// Package bodies gives a store under a check of package property a client of S3. It is for caches that keep their pages
// in S3 instead of in their rows.
//
//	property.CheckStore(t, func(n property.Node) (isr.Handler, error) {
//		client, err := bodies.Client(n.Config)
//		if err != nil {
//			return nil, err
//		}
//		return mycache.New(n.Client, n.Table, client, bodies.Bucket), nil
//	})
//
// It is a separate package because it needs the SDK of S3, and package property does not.
//
// The limits are those of package s3fake. If a fault of a world's body store strikes a request, the answer has status
// 500, and the client tries again.
package bodies

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/nodes/objects"
	"github.com/isr-sim/isr-sim/s3fake/sdk"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Bucket is the only bucket. An object's key in it is the name of a body, as rows give it.
const Bucket = objects.Bucket

// Client returns a real client of the SDK for the node of this configuration. Each attempt of a request is a step of
// the run, as with property.Node.Client: the schedule decides when it takes effect, and LastModified is the true time.
// All nodes of a run share the objects, and each run begins without any. Bodies that are put through the
// configuration's own Bodies are not among these objects.
//
// It returns an error if the configuration does not belong to a simulated node.
func Client(c isr.Config, optFns ...func(*s3.Options)) (*s3.Client, error) {
	do, err := objects.Do(c.Bodies)
	if err != nil {
		return nil, fmt.Errorf("bodies: %w", err)
	}
	return sdk.NewClient(do, optFns...), nil
}

// Of returns a real client of the SDK for a lock or an idempotency layer under check. The parameter store is the Bodies
// of its property.Machine:
//
//	property.CheckLock(t, func(m property.Machine) (property.Lock, error) {
//		client, err := bodies.Of(m.Bodies)
//		return mylock.New(client, bodies.Bucket, m.Clock), err
//	})
//
// Requests are steps, like those of Client, and the world's faults of the store strike them, too: errors before and
// after the effect, lost requests and answers, SlowDown, ConditionalRequestConflict, and duplicates. The client sends a
// request as often as the world says.
func Of(store isr.BodyStore, optFns ...func(*s3.Options)) (*s3.Client, error) {
	about := hooks.BodyClient{}
	if steps, ok := store.(hooks.BodySteps); ok {
		about = steps.Client()
	}
	ofWorld := func(o *s3.Options) {
		o.Retryer = ddbfake.Retryer(about.Attempts)
		o.APIOptions = append(o.APIOptions, about.Through...)
	}
	return Client(isr.Config{Bodies: store}, append([]func(*s3.Options){ofWorld}, optFns...)...)
}
