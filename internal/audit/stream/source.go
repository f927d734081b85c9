package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

const (
	firstWait, longestWait = 400 * time.Millisecond, 10 * time.Second
	// patience is how long a request is repeated before its error counts.
	patience = 5 * time.Minute
)

// call makes a request, and repeats it after an error that may pass: the service is busy or, once it has answered a
// request, a connection broke.
func (f *Follower) call(request func() error) error {
	waited := time.Duration(0)
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := request()
		if err == nil {
			f.answered = true
			return nil
		}
		_, fromService := errors.AsType[smithy.APIError](err)
		passes := retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
		if !passes || !fromService && !f.answered || waited >= patience || f.ctx.Err() != nil {
			return err
		}
		waited += wait
		f.sleep(f.Clock.Now().Add(wait))
	}
}

// explained adds a hint to the error of a request.
func (f *Follower) explained(err error) error {
	api, is := errors.AsType[smithy.APIError](err)
	if !is {
		return err
	}
	if _, gone := errors.AsType[*types.ResourceNotFoundException](err); gone {
		return mistake.New(fmt.Errorf("found no stream %s", f.arn), "check its region and its account; a stream that "+
			"was switched off, or whose table was deleted, can be read for 24 hours")
	}
	return explained(f.arn, api)
}

func explained(what string, api smithy.APIError) error {
	err := fmt.Errorf("%s: %s: %s", what, api.ErrorCode(), api.ErrorMessage())
	switch api.ErrorCode() {
	case "AccessDeniedException":
		return mistake.New(err, "isr-sim audit --policy prints what has to be allowed")
	case "ValidationException":
		return mistake.New(err, "an ARN of a stream is like "+
			"arn:aws:dynamodb:eu-west-1:123456789012:table/cache/stream/2026-01-31T12:00:00.000")
	}
	return err
}

// Describer is the part of *dynamodb.Client that Latest needs.
type Describer interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput,
		...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Latest returns the ARN of a table's latest stream.
func Latest(ctx context.Context, client Describer, table string) (arn string, err error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if _, missing := errors.AsType[*dynamodbtypes.ResourceNotFoundException](err); missing {
		return "", mistake.New(fmt.Errorf("found no table %s", table), "check the region and the endpoint; "+
			"DynamoDB Local has tables of its own for each access key")
	}
	if api, is := errors.AsType[smithy.APIError](err); is {
		return "", explained(table, api)
	}
	if err != nil {
		return "", err
	}
	if out.Table.LatestStreamArn == nil {
		return "", mistake.New(fmt.Errorf("the table %s has no stream", table), "switch one on: aws dynamodb "+
			"update-table --table-name "+table+" --stream-specification "+
			"StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES")
	}
	return *out.Table.LatestStreamArn, nil
}

// Policy returns the IAM policy that Latest and Follow need: four actions. The table is a name, or the ARN of a table
// or of its stream; with a name, the account and the region are left to fill in.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/iam-policy-read-stream-only.html
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
func Policy(table string) string {
	table, _, _ = strings.Cut(cmp.Or(table, "TABLE"), "/stream/")
	if !strings.HasPrefix(table, "arn:") {
		table = "arn:aws:dynamodb:REGION:ACCOUNT:table/" + table
	}
	return fmt.Sprintf(`{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Effect": "Allow",
      "Action": ["dynamodb:DescribeTable"],
      "Resource": %q
    },
    {
      "Effect": "Allow",
      "Action": ["dynamodb:DescribeStream", "dynamodb:GetShardIterator", "dynamodb:GetRecords"],
      "Resource": %q
    }
  ]
}
`, table, table+"/stream/*")
}
