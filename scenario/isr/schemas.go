package isr

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Schemas returns the ready-made schemas. You may add your own rows to their Rows:
//
//   - reference: META, LOCK, VER# and REQ# of this package; nothing is translated.
//   - tabletheory: the lease helper and the metadata store of TableTheory, with any partition keys.
//   - dynamolock: the locks of cirello.io/dynamolock/v2. Its rows do not say until when a lock is held: a lock may be
//     taken over when its version has not changed for leaseDuration. So a lease counts from the write of its version,
//     the earliest time from which a contender may count. The token is the owner's name. So two clients with the same
//     name look like one client, and so does a client that takes its own lock again.
//   - powertools: the idempotency records of Powertools for AWS Lambda. A record in progress is a lease without a
//     token: it belongs to the client that put it. A completed record is a page that is fresh until its expiration.
func Schemas() []Schema {
	return []Schema{
		{Name: "reference"},
		{Name: "tabletheory", Rows: []Row{
			{Partition: "pk = {key}", Sort: "sk = META", BodyKey: "s3_key", Generated: "generated_at",
				Window: "revalidate_seconds", ETag: "etag", TTL: "ttl"},
			{Partition: "pk = {key}", Sort: "sk = LOCK", Token: "lease_token", Expires: "lease_expires_at", TTL: "ttl"},
		}},
		{Name: "dynamolock", Rows: []Row{
			{Partition: "key = {key}", When: "ownerName isReleased!=1", Token: "ownerName",
				Lasts: "leaseDuration duration", Renews: "recordVersionNumber"},
		}},
		{Name: "powertools", Rows: []Row{
			{Partition: "id = {key}", When: "status=INPROGRESS in_progress_expiration",
				Expires: "in_progress_expiration ms", TTL: "expiration"},
			{Partition: "id = {key}", When: "status=INPROGRESS !in_progress_expiration",
				Expires: "expiration", TTL: "expiration"},
			{Partition: "id = {key}", When: "status=COMPLETED", Body: "data",
				FreshUntil: "expiration", TTL: "expiration"},
		}},
	}
}

// SchemaNamed returns the ready-made Schema with the given name.
func SchemaNamed(name string) (Schema, error) {
	all := Schemas()
	names := make([]string, len(all))
	for i, s := range all {
		if names[i] = s.Name; s.Name == name {
			return s, nil
		}
	}
	return Schema{}, fmt.Errorf("rows: found %q, expected one of %s", name, strings.Join(slices.Clip(names), ", "))
}

// The sort keys of a page's rows, except those of versions and of requests.
const (
	SortMeta = "META" // the page and the time of its generation
	SortLock = "LOCK" // the node that is regenerating, and the end of its lease
)

// PartitionKey returns the partition key of a cache key's rows: CACHE#<sha256 hex>, or TENANT#<tenant>#CACHE#<sha256
// hex> with a tenant. The hash keeps keys short and spreads common prefixes.
func PartitionKey(tenant, key string) string {
	sum := sha256.Sum256([]byte(key))
	var few [128]byte // long enough for nearly every key, so that a request allocates nothing here
	pk := few[:0]
	if tenant != "" {
		pk = append(append(append(pk, "TENANT#"...), tenant...), '#')
	}
	return string(hex.AppendEncode(append(pk, "CACHE#"...), sum[:]))
}

// TableInput describes the cache table: the string keys pk and sk, and on-demand billing.
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

// TTLInput enables TTL on the cache table, once the table exists.
func TTLInput(name string) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		},
	}
}
