package ddbfake

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// bothClients has the methods of the SDK's two clients: including those for streams, which one of them lacks.
type bothClients struct {
	*dynamodb.Client
	streamsClient
}

type streamsClient struct{ *dynamodbstreams.Client }

// invoke calls a client's method by the operation's name.
func invoke(client any, op string, in any) (out any, err error) {
	results := reflect.ValueOf(client).MethodByName(op).Call([]reflect.Value{
		reflect.ValueOf(context.Background()), reflect.ValueOf(in),
	})
	err, _ = results[1].Interface().(error)
	return results[0].Interface(), err
}
