// Package evidence reads what DynamoDB keeps of a table's history: records of streams, of Kinesis and Firehose, exports
// to S3, and data events of CloudTrail. It knows nothing of pages and locks.
package evidence
