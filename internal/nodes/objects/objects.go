// Package objects makes the requests of S3 clients steps of a run: the bodies of a scenario are the objects of a
// bucket.
package objects

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Bucket is the bucket in which the bodies are: the key of an object is the name of a body. Clients may create other
// buckets, whose objects are not bodies.
const Bucket = "bodies"

var (
	// writes are the operations that faults of writes strike.
	writes = []string{
		"AbortMultipartUpload", "CompleteMultipartUpload", "CopyObject", "CreateMultipartUpload", "DeleteObject",
		"DeleteObjects", "PutObject", "UploadPart", "UploadPartCopy",
	}
	// ofUploads are the operations on an object that does not exist yet. Their order matters, whatever the key.
	ofUploads = []string{"AbortMultipartUpload", "CreateMultipartUpload", "ListMultipartUploads", "ListParts",
		"UploadPart", "UploadPartCopy"}
)

// Do returns the function that answers the requests of a node's S3 clients: each is a step of the run in which the node
// lives. store is the node's isr.Config.Bodies. The functions of one run share their objects.
func Do(store isr.BodyStore) (func(context.Context, s3fake.Call) (*s3fake.Answer, error), error) {
	steps, ok := store.(hooks.BodySteps)
	if !ok {
		return nil, errors.New("found bodies that are none of a run, expected Config.Bodies of a simulated node")
	}
	objects := steps.State(func() hooks.Kept {
		now := &clock{} // the bucket's date is the beginning of the run, whichever node uses it first
		store := kept{s3fake.New(s3fake.Options{Clock: now, Buckets: []string{Bucket}, Like: steps.Client().Store})}
		now.steps = steps
		return store
	}).(kept).Store
	return func(ctx context.Context, c s3fake.Call) (answer *s3fake.Answer, err error) {
		step := hooks.BodyStep{
			Write: slices.Contains(writes, c.Operation), Text: c.String(),
			Body:  func(name string) []byte { body, _ := objects.Object(Bucket, name); return body },
			State: func() uint64 { return objects.Fingerprint() },
			Do: func(struck ddbfake.FaultKind) string {
				if c.Fault = nil; struck != 0 {
					c.Fault = &s3fake.Fault{Kind: struck}
				}
				answer, err = objects.Do(context.WithoutCancel(ctx), c) // it has arrived
				return words(objects, c, answer)
			},
			Strikes: func(f ddbfake.Fault) bool { return c.Strikes(s3fake.Fault{Kind: f.Kind, Op: f.Op, Key: f.Key}) },
			Err: func() error {
				if err == nil && answer.Status >= http.StatusMultipleChoices {
					return &smithy.GenericAPIError{Code: answer.Code}
				}
				return err
			},
			Invocation: c.Invocation(),
			Asks:       c.Detail,
			Print: func() uint64 {
				if err != nil {
					return uint64(fingerprint.Hash(0).Text(err.Error()))
				}
				return answer.Fingerprint()
			},
			Answer: func() any { return told{answer, err} },
			Tell: func(by any) {
				if t, is := by.(told); is {
					answer, err = t.answer, t.err
				}
			},
		}
		if c.Bucket == Bucket && !slices.Contains(ofUploads, c.Operation) {
			step.Names = c.Keys
		}
		if left := steps.Step(ctx, step); left != nil {
			return nil, left
		}
		return answer, err
	}, nil
}

// told is the answer to a request.
type told struct {
	answer *s3fake.Answer
	err    error
}

// kept are the objects of a run. They implement hooks.Kept.
type kept struct{ *s3fake.Store }

// words is an answer as traces print it.
func words(objects *s3fake.Store, c s3fake.Call, answer *s3fake.Answer) string {
	switch {
	case answer == nil:
		return "no answer"
	case answer.Code != "":
		return answer.Code
	case c.Operation == "GetObject" && answer.Status < 300:
		body, _ := objects.Object(c.Bucket, c.Keys[0])
		return "body " + string(body)
	case answer.Status < 300:
		return "ok"
	default:
		return strconv.Itoa(answer.Status)
	}
}

// clock shows true time; without steps, the time of the beginning.
type clock struct{ steps hooks.BodySteps }

// Now implements ddbfake.Clock.
func (c *clock) Now() time.Time {
	if c.steps == nil {
		return fakeclock.Epoch
	}
	return c.steps.Now()
}
