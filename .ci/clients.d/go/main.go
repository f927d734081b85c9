// Command main is aws-sdk-go-v2 against isr-sim serve: see .ci/clients.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
)

const table = "aws-sdk-go"

func main() {
	c := &client{Client: dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(cmp.Or(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), os.Getenv("ENDPOINT"))),
		Credentials:  credentials.NewStaticCredentialsProvider("gopher", "secret", ""),
	})}
	for _, step := range []struct {
		name  string
		needs string // an operation
		run   func(context.Context) error
	}{
		{"create table", "CreateTable", c.create},
		{"TTL", "UpdateTimeToLive", c.ttl},
		{"conditional put", "PutItem", c.conditionalPut},
		{"lost response", "PutItem", c.lostResponse},
		{"failed transaction", "TransactWriteItems", c.transaction},
		{"paginated query", "Query", c.query},
		{"paginated scan", "Scan", c.scan},
		{"batches", "BatchGetItem", c.batches},
		{"stream", "GetRecords", c.stream},
	} {
		if !strings.Contains(" "+os.Getenv("OPERATIONS")+" ", " "+step.needs+" ") {
			fmt.Println("go: not supported yet:", step.name)
			continue
		}
		if err := step.run(context.Background()); err != nil {
			fmt.Fprintf(os.Stderr, "go: %s: %v\n", step.name, err)
			os.Exit(1)
		}
		fmt.Println("go:", step.name)
	}
}

type client struct{ *dynamodb.Client }

type item = map[string]types.AttributeValue

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
func n(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
func key(pk, sk string) item             { return item{"pk": s(pk), "sk": s(sk)} }

func (c *client) put(ctx context.Context, it item, condition string) error {
	in := &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: it,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if condition != "" {
		in.ConditionExpression = aws.String(condition)
	}
	_, err := c.PutItem(ctx, in)
	return err
}

// control sends a request to the control API.
func control(ctx context.Context, path, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("CONTROL")+path, bytes.NewBufferString(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, text)
	}
	return string(text), err
}

func (c *client) create(ctx context.Context) error {
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String(table),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"},
			{AttributeName: aws.String("sk"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"},
		},
	})
	if err != nil {
		return err
	}
	return dynamodb.NewTableExistsWaiter(c).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, 10e9)
}

func (c *client) ttl(ctx context.Context) error {
	in := &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
		},
	}
	if _, err := c.UpdateTimeToLive(ctx, in); err != nil {
		return err
	}
	out, err := c.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		return err
	}
	if got := out.TimeToLiveDescription.TimeToLiveStatus; got != types.TimeToLiveStatusEnabled {
		return fmt.Errorf("got status %s, want ENABLED", got)
	}
	var api smithy.APIError
	if _, err := c.UpdateTimeToLive(ctx, in); !errors.As(err, &api) || api.ErrorCode() != "ValidationException" {
		return fmt.Errorf("enabled twice: got %v, want a ValidationException", err)
	}
	// A minute old: there until TTL comes.
	if err := c.put(ctx, item{"pk": s("expired"), "sk": s("x"), "ttl": n(os.Getenv("A_MINUTE_AGO"))}, ""); err != nil {
		return err
	}
	for _, want := range []int{1, 0} {
		got, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("expired", "x")})
		if err != nil {
			return err
		}
		if there := len(got.Item) > 0; there != (want == 1) {
			return fmt.Errorf("an expired row is there: %t, want %d", there, want)
		}
		if _, err := control(ctx, "/sweep", ""); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) conditionalPut(ctx context.Context) error {
	const absent = "attribute_not_exists(pk)"
	if err := c.put(ctx, item{"pk": s("lock"), "sk": s("LOCK"), "owner": s("first")}, absent); err != nil {
		return err
	}
	var failed *types.ConditionalCheckFailedException
	if err := c.put(ctx, item{"pk": s("lock"), "sk": s("LOCK"), "owner": s("second")}, absent); !errors.As(err,
		&failed) {
		return fmt.Errorf("got %v, want a ConditionalCheckFailedException", err)
	}
	if got := failed.ErrorMessage(); got != "The conditional request failed" {
		return fmt.Errorf("got message %q", got)
	}
	if old, ok := failed.Item["owner"].(*types.AttributeValueMemberS); !ok || old.Value != "first" {
		return fmt.Errorf("got the item %v in the exception, want the first", failed.Item)
	}
	return nil
}

// lostResponse: the put takes effect, its response is lost, and the SDK's own
// retry fails on the condition.
func (c *client) lostResponse(ctx context.Context) error {
	if _, err := control(ctx, "/faults", `{"faults":["response-lost op=PutItem actor=gopher"]}`); err != nil {
		return err
	}
	var failed *types.ConditionalCheckFailedException
	if err := c.put(ctx, key("lost", "LOCK"), "attribute_not_exists(pk)"); !errors.As(err, &failed) {
		return fmt.Errorf("got %v, want the retry to fail on the condition", err)
	}
	return nil
}

func (c *client) transaction(ctx context.Context) error {
	_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String(table), Item: key("lock", "META")}},
		{Delete: &types.Delete{
			TableName: aws.String(table), Key: key("lock", "LOCK"),
			ConditionExpression:                 aws.String("#o = :o"),
			ExpressionAttributeNames:            map[string]string{"#o": "owner"},
			ExpressionAttributeValues:           item{":o": s("second")},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}},
	}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 {
		return fmt.Errorf("got %v, want a TransactionCanceledException of two reasons", err)
	}
	first, second := cancelled.CancellationReasons[0], cancelled.CancellationReasons[1]
	if aws.ToString(first.Code) != "None" || aws.ToString(second.Code) != "ConditionalCheckFailed" ||
		len(second.Item) != 3 {
		return fmt.Errorf("got reasons %+v", cancelled.CancellationReasons)
	}
	got, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("lock", "META")})
	if err == nil && len(got.Item) > 0 {
		err = errors.New("half of the transaction took effect")
	}
	return err
}

func (c *client) query(ctx context.Context) error {
	for i := range 25 {
		if err := c.put(ctx, item{"pk": s("many"), "sk": s(fmt.Sprintf("%02d", i))}, ""); err != nil {
			return err
		}
	}
	pages := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
		TableName: aws.String(table), Limit: aws.Int32(10),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": s("many")},
	})
	var counts []int
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for i, it := range page.Items {
			want := fmt.Sprintf("%02d", 10*len(counts)+i)
			if sk, ok := it["sk"].(*types.AttributeValueMemberS); !ok || sk.Value != want {
				return fmt.Errorf("got %v, want sk %s", it, want)
			}
		}
		counts = append(counts, len(page.Items))
	}
	if got := fmt.Sprint(counts); got != "[10 10 5]" {
		return fmt.Errorf("got pages of %s rows, want [10 10 5]", got)
	}
	return nil
}

func (c *client) scan(ctx context.Context) error {
	pages := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{
		TableName: aws.String(table), Limit: aws.Int32(10),
		FilterExpression:          aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": s("many")},
	})
	rows, n := 0, 0
	for ; pages.HasMorePages(); n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		rows += len(page.Items)
	}
	if rows != 25 || n < 3 {
		return fmt.Errorf("got %d rows on %d pages, want 25 on 3 or more", rows, n)
	}
	return nil
}

func (c *client) batches(ctx context.Context) error {
	var writes []types.WriteRequest
	var keys []item
	for i := range 20 {
		k := key("batch", fmt.Sprintf("%02d", i))
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: k}})
		keys = append(keys, k)
	}
	written, err := c.BatchWriteItem(ctx,
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}})
	if err != nil {
		return err
	}
	read, err := c.BatchGetItem(ctx,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}})
	if err != nil {
		return err
	}
	if got := len(read.Responses[table]); got != 20 || len(written.UnprocessedItems)+len(read.UnprocessedKeys) != 0 {
		return fmt.Errorf("got %d rows, want 20 and nothing unprocessed", got)
	}
	return nil
}

// stream reads of a row that comes and that TTL deletes.
func (c *client) stream(ctx context.Context) error {
	enabled, err := c.UpdateTable(ctx,
		&dynamodb.UpdateTableInput{TableName: aws.String(table), StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		}})
	if err != nil {
		return err
	}
	arn := enabled.TableDescription.LatestStreamArn
	row := key("expired", "stream")
	row["ttl"] = n(os.Getenv("A_MINUTE_AGO"))
	if err := c.put(ctx, row, ""); err != nil {
		return err
	}
	if _, err := control(ctx, "/sweep", ""); err != nil {
		return err
	}
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(os.Getenv("ENDPOINT")), Credentials: c.Options().Credentials,
	})
	described, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		return err
	}
	start, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: described.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		return err
	}
	var said []string
	for iterator := start.ShardIterator; len(said) < 2; {
		page, err := streams.GetRecords(ctx,
			&dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: aws.Int32(1)})
		if err != nil {
			return err
		}
		if len(page.Records) != 1 {
			return fmt.Errorf("got %d records after %q, want one a page", len(page.Records), said)
		}
		record := page.Records[0]
		text := string(record.EventName)
		if record.UserIdentity != nil {
			text += " by " + *record.UserIdentity.PrincipalId
		}
		said = append(said, text)
		iterator = page.NextShardIterator
	}
	if got, want := strings.Join(said, ", "), "INSERT, REMOVE by dynamodb.amazonaws.com"; got != want {
		return fmt.Errorf("got records %s, want %s", got, want)
	}
	_, err = streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String("x")})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "ValidationException" {
		return fmt.Errorf("no iterator: got %v, want a ValidationException", err)
	}
	return nil
}
