// Package request reads requests to DynamoDB and their answers, as values of the SDK: which rows a request names, which
// part of it was done, whether it may be retried, and the fingerprint of its answer.
package request
