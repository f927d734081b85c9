package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go/logging"
	"github.com/jonboulle/clockwork"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/stream"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/cli"
)

// live has the flags of an audit of a stream.
type live struct {
	name, stream, keep string
	limit              time.Duration
	follow, policy     bool
}

func (l *live) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.name, "table", "", "read the latest stream of this `table`, through the AWS SDK")
	f.StringVar(&l.stream, "stream", "", "read the stream with this `ARN`")
	f.BoolVar(&l.follow, "follow", false, "go on until interrupted; otherwise a stream is read as far as it goes")
	f.DurationVar(&l.limit, "for", 0, "go on for this time")
	f.StringVar(&l.keep, "keep", "", "a `file` to which records are appended before they are judged; the next audit "+
		"goes on from there")
	f.BoolVar(&l.policy, "policy", false, "print the IAM policy that reading a stream needs, and end")
}

// asked reports whether a stream is to be read.
func (l *live) asked() bool { return l.name != "" || l.stream != "" }

// check refuses flags that do not fit together.
func (l *live) check() error {
	switch {
	case l.name != "" && l.stream != "":
		return cli.Usage(errors.New("found --table and --stream, expected one of them"), "")
	case !l.asked() && (l.follow || l.limit != 0 || l.keep != ""):
		return cli.Usage(errors.New("found --follow, --for or --keep without a stream"), "--table NAME")
	case l.limit < 0:
		return cli.Usage(fmt.Errorf("--for: found %v, expected 0s or more", l.limit), "")
	}
	return nil
}

// entries reads the stream.
func (l *live) entries(cmd *cobra.Command) iter.Seq2[evidence.Entry, error] {
	return func(yield func(evidence.Entry, error) bool) {
		if err := l.read(cmd, yield); err != nil {
			if strings.Contains(err.Error(), "get credentials") {
				err = mistake.New(err, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; isr-sim "+
					"serve and DynamoDB Local take any (AWS_ENDPOINT_URL)")
			}
			yield(evidence.Entry{}, err)
		}
	}
}

func (l *live) read(cmd *cobra.Command, yield func(evidence.Entry, error) bool) error {
	ctx := cmd.Context()
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{})) // it warns of Local's checksums
	if err != nil {
		return err
	}
	arn := l.stream
	if arn == "" {
		if arn, err = stream.Latest(ctx, dynamodb.NewFromConfig(cfg), l.name); err != nil {
			return err
		}
	}
	if l.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, l.limit)
		defer stop()
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "reading %s\n", arn)
	o := stream.Options{Clock: clockwork.NewRealClock(), Once: !l.follow && l.limit == 0, Settle: time.Second,
		Keep: l.keep}
	for e, err := range stream.Follow(ctx, dynamodbstreams.NewFromConfig(cfg), arn, o) {
		if !yield(e, err) || err != nil {
			break
		}
	}
	return nil
}
