package isr

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The sort keys of a page's rows, except for those of its versions and of requests.
const (
	SortMeta = "META" // the page and the time of its generation
	SortLock = "LOCK" // the node that is regenerating, and the end of its lease
)

// PartitionKey returns the partition key of a cache key's rows: CACHE#<sha256 hex>, or TENANT#<tenant>#CACHE#<sha256
// hex> with a tenant. The hash keeps keys short and spreads common prefixes.
func PartitionKey(tenant, key string) string {
	sum := sha256.Sum256([]byte(key))
	var few [128]byte // nearly every key fits, and one is made for each request
	pk := few[:0]
	if tenant != "" {
		pk = append(append(append(pk, "TENANT#"...), tenant...), '#')
	}
	return string(hex.AppendEncode(append(pk, "CACHE#"...), sum[:]))
}

// TableInput describes the cache table: pk and sk, both strings, paid per request.
func TableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
}

// TTLInput enables TTL on the cache table, once it is there.
func TTLInput(name string) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
	}
}
