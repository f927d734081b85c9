package differential

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// AWSEnv is the environment variable that makes tests use DynamoDB itself when it is "1". It costs money: see the
// package's documentation.
const AWSEnv = "ISRSIM_AWS"

// ErrNoCredentials is the error of AWS if the environment names no region or no credentials.
var ErrNoCredentials = errors.New(
	"DynamoDB itself needs AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
)

// Account returns the region and the credentials that the environment names. No files are read, so that no usual
// account is used by accident.
func Account() (region string, c aws.Credentials, err error) {
	region = os.Getenv("AWS_REGION")
	c = aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	if region == "" || !c.HasKeys() {
		return "", c, ErrNoCredentials
	}
	return region, c, nil
}

// AWS is DynamoDB itself, in the account that the environment names.
func AWS(ctx context.Context) (Store, error) {
	region, credentials, err := Account()
	if err != nil {
		return Store{}, err
	}
	signer := v4.NewSigner()
	return Store{
		Name:     "aws",
		Endpoint: "https://dynamodb." + region + ".amazonaws.com",
		Send:     (&http.Client{}).Do,
		Delayed:  true,
		Sign: func(r *http.Request, body []byte) error {
			hash := sha256.Sum256(body)
			now := time.Now() //nolint:forbidigo // a signature says when it was made
			return signer.SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), "dynamodb", region, now)
		},
	}, nil
}
