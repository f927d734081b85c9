package serve

import (
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// WallLag is the lag of TTL on the wall clock, unless another one is asked for: it is as long as DynamoDB Local's, where
// the service promises a few days.
const WallLag = "uniform 1s 30s"

// defaultLag is the lag of a clock's mode. A clock that stands has no rows deleted that a test has not asked for.
func defaultLag(mode string) string {
	if mode == "wall" {
		return WallLag
	}
	return ddbfake.LagManual.String()
}

// sayLag tells people what happens to the expired rows of a table whose TTL a call has switched on.
func sayLag(log io.Writer, db *ddbfake.DB, input any) {
	in, ok := input.(*dynamodb.UpdateTimeToLiveInput)
	if !ok || in.TimeToLiveSpecification == nil || !aws.ToBool(in.TimeToLiveSpecification.Enabled) {
		return
	}
	text := "are deleted after a lag: " + db.Lag().String()
	switch lag := db.Lag(); lag {
	case ddbfake.LagManual:
		text = "stay until the control API sweeps them"
	case ddbfake.LagNever:
		text = "stay for ever"
	case ddbfake.LagAtOnce:
		text = "are deleted at once"
	}
	fmt.Fprintf(log, "isr-sim: TTL of %s is on; rows whose %s is past %s (--ttl-lag)\n",
		aws.ToString(in.TableName), aws.ToString(in.TimeToLiveSpecification.AttributeName), text)
}
