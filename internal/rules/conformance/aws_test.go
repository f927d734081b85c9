package conformance_test

import (
	"errors"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/rules/conformance"
	"github.com/isr-sim/isr-sim/internal/rules/conformance/differential"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// TestAWS runs the cases on DynamoDB itself, which costs money.
func TestAWS(t *testing.T) {
	if os.Getenv(differential.AWSEnv) != "1" {
		t.Skip("DynamoDB itself: set " + differential.AWSEnv + "=1 and credentials")
	}
	region, c, err := differential.Account()
	must.OK(t, err)
	conformance.Run(t, conformance.Store{Name: conformance.AWS, Client: dynamodb.New(dynamodb.Options{
		Region:      region,
		Credentials: credentials.StaticCredentialsProvider{Value: c},
	})})
}

// TestAWSNeedsCredentials: no account is used by accident.
func TestAWSNeedsCredentials(t *testing.T) {
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := differential.AWS(t.Context()); !errors.Is(err, differential.ErrNoCredentials) {
		t.Errorf("got %v, want %v", err, differential.ErrNoCredentials)
	}
}
