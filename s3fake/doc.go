// Package s3fake is an S3 in the process of a test: the object store in which an ISR cache keeps its bodies.
//
//	store := s3fake.New(s3fake.Options{Clock: clock, Buckets: []string{"bodies"}})
//	client := store.Client() // a real *s3.Client
//	_, err := client.PutObject(ctx, &s3.PutObjectInput{
//		Bucket: aws.String("bodies"), Key: aws.String("home"), Body: strings.NewReader("<html>"), IfNoneMatch: aws.String("*"),
//	})
//
// Client goes through the SDK without a socket, Handler serves the same over HTTP, and isr-sim serve --s3 is the command
// for programs in other languages.
//
// # Seam
//
// Every request of either door becomes a Call, and Store.Do answers it. NewClient and NewHandler take a function of the
// same signature, which is put before Store.Do: that function sees the caller and the call, holds the call back as long
// as it likes, sets a Fault, and sees the answer. Requests take effect one at a time, in the order in which they reach
// Do.
//
// # Determinism
//
// Time comes from Options.Clock alone. There is no goroutine, no random number and no order of maps; the same calls in
// the same order give the same bytes.
//
// # Fidelity
//
// Conditions, errors and their texts follow AWS's documentation, which the source cites rule by rule. There is no
// account, no policy and no signature to check. S3 has been strongly consistent since December 2020, and so is the fake.
//
// Deviation: a delete with If-Match, of an object that is not there, is refused with 404 for an ETag, and with 412 for *.
// AWS's pages do not say it; reports of people who ran both do.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-deletes.html (leaves it open)
//
// Deviation: the body of a request ends at 16 MB, where S3 takes 5 GB. An object of several parts may be larger.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
//
// # Limits
//
// The operations are those that Operations lists. There are no versions, no tags, no access lists, and no encryption but
// the default. Such a request is refused with NotImplemented, and the message names the part that is missing: nothing is
// passed over in silence.
//
// # Why not a library
//
// github.com/johannesboyne/gofakes3 (MIT, v1.2.0 of July 2026) carries the protocol, too. Its Backend learns neither
// the caller nor the conditions of a read, so requests could not be named and not be held back. This package's
// conformance table has 119 cases about operations of both. It answers 77 of these as AWS documents: it passes over
// If-Match of reads and deletes and over checksums, and answers 412 where S3 answers 404.
package s3fake
