// Package request reads requests to DynamoDB and their answers, as values of the SDK: which rows a request names, what
// of it was done, whether it may be sent again, and the fingerprint of its answer.
package request
