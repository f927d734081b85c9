// Package s3fake is an in-process S3 for tests: the object store in which an ISR cache keeps its bodies.
//
//	store := s3fake.New(s3fake.Options{Clock: clock, Buckets: []string{"bodies"}})
//	client := sdk.NewClient(store.Do) // a real *s3.Client: package s3fake/sdk
//	_, err := client.PutObject(ctx, &s3.PutObjectInput{
//		Bucket: aws.String("bodies"), Key: aws.String("home"), Body: strings.NewReader("<html>"),
//		IfNoneMatch: aws.String("*"),
//	})
//
// Package sdk goes through the SDK without a socket, Handler serves the same over HTTP, and the command isr-sim serve
// --s3 serves it to programs in other languages.
//
// # Seam
//
// Every request of either door becomes a Call, and Store.Do answers it. sdk.NewClient and Transport take a function
// with the same signature as Store.Do. The function can call Store.Do itself: it sees the caller and the call, may
// delay the call for any time, may set a Fault, and sees the answer. Requests take effect one at a time, in the order
// in which they reach Do.
//
// # Determinism
//
// Time comes only from Options.Clock. The store starts no goroutine, uses no random number, and does not depend on map
// order. The same calls in the same order give the same bytes.
//
// # Fidelity
//
// Conditions, errors and their texts follow AWS's documentation, which the source cites rule by rule. There is no
// account, no policy and no signature to check. S3 has been strongly consistent since December 2020, and so is the
// fake.
//
// Deviation: the body of a request ends at 16 MB, where S3 takes 5 GB. An object of several parts may be larger.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
//
// # Limits
//
// The operations are those that Operations lists. There are no versions, no tags, no access lists, and no encryption
// but the default. Such a request is refused with NotImplemented, and the message names the missing feature: nothing is
// ignored silently.
//
// # Why not a library
//
// github.com/johannesboyne/gofakes3 (MIT, v1.2.0 of July 2026) also implements the protocol. Its Backend does not learn
// the caller or the conditions of a read, so requests could be neither attributed nor delayed. The conformance table of
// this package has 119 cases on operations that both have. In 77 of them gofakes3 answers as AWS documents. It ignores
// If-Match on reads and deletes, and checksums, and it answers 412 where S3 answers 404.
package s3fake
