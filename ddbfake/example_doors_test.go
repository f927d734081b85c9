package ddbfake_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// A failing condition through a real client of the SDK, with the row that was there.
func ExampleDB_Client() {
	ctx := context.Background()
	db := ddbfake.New(ddbfake.Options{})
	client := db.Client(ddbfake.WithActor("alice"))

	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String("locks"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	acquire := func(owner string) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("locks"),
			Item: map[string]types.AttributeValue{
				"pk":         &types.AttributeValueMemberS{Value: "job"},
				"lock_owner": &types.AttributeValueMemberS{Value: owner},
			},
			ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	}
	fmt.Println(acquire("alice"))
	var held *types.ConditionalCheckFailedException
	if errors.As(acquire("bob"), &held) {
		fmt.Println(held.ErrorMessage(), "held by", held.Item["lock_owner"].(*types.AttributeValueMemberS).Value)
	}
	// Output:
	// <nil>
	// The conditional request failed held by alice
}

// Any client of any language can use the fake over HTTP.
func ExampleDB_Handler() {
	db := ddbfake.New(ddbfake.Options{})
	server := httptest.NewServer(db.Handler())
	defer server.Close()

	request := func(target, body string) {
		r, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+target)
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=any")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(response.StatusCode, string(answer))
	}
	request("ListTables", `{}`)
	request("GetItem", `{"TableName":"cache","Key":{"pk":{"S":"a"},"sk":{"S":"META"}}}`)
	request("GetItem", `{"TableName":1}`)
	// Output:
	// 200 {"TableNames":[]}
	// 400 {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}
	// 400 {"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}
}
