package httpdoor

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Row is a row that a request touches. Key is nil for a request that touches a table as a whole, and has the partition
// key only for one that touches a partition.
type Row struct {
	Table string
	Key   map[string]types.AttributeValue
}

// Parking is what a server does for a request that waits at a gate. The context of the request has it under
// ParkingKey.
type Parking interface {
	// Park is called before the wait. The server calls gone, once at most, if the client has closed its connection.
	Park(gone func())
	// Unpark is called after the wait. Gone is not called after it has returned.
	Unpark()
}

// ParkingKey is the key of a Parking in a context.
type ParkingKey struct{}

// ParkingOf returns the Parking of a context, nil if it has none.
func ParkingOf(ctx context.Context) Parking {
	p, _ := ctx.Value(ParkingKey{}).(Parking)
	return p
}
