package ddbfake

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxUnits bounds throughput. AWS has quotas of an account in its place.
//
// Source: https://github.com/architect/dynalite/blob/main/test/updateTable.js
const maxUnits = 1_000_000_000_000

// throughput is the provisioned units of a table or a global index; zero if it is paid per request. It limits only
// under Options.Throughput.
type throughput struct {
	readUnits, writeUnits int64
	increased, decreased  time.Time
	decreases             int64 // how many on the day of decreased
}

// set changes the units.
func (t *throughput) set(p *types.ProvisionedThroughput, now time.Time) {
	read, write := aws.ToInt64(p.ReadCapacityUnits), aws.ToInt64(p.WriteCapacityUnits)
	if read > t.readUnits || write > t.writeUnits {
		t.increased = now
	}
	if read < t.readUnits || write < t.writeUnits {
		const day = 24 * time.Hour
		if !t.decreased.Truncate(day).Equal(now.Truncate(day)) {
			t.decreases = 0
		}
		t.decreased = now
		t.decreases++
	}
	t.readUnits, t.writeUnits = read, write
}

// is reports whether the table or index already has these units.
func (t *throughput) is(p *types.ProvisionedThroughput) bool {
	return t.readUnits == aws.ToInt64(p.ReadCapacityUnits) && t.writeUnits == aws.ToInt64(p.WriteCapacityUnits)
}

func (t *throughput) units() *types.ProvisionedThroughput {
	return &types.ProvisionedThroughput{
		ReadCapacityUnits: aws.Int64(t.readUnits), WriteCapacityUnits: aws.Int64(t.writeUnits),
	}
}

func (t *throughput) describe() *types.ProvisionedThroughputDescription {
	d := &types.ProvisionedThroughputDescription{
		ReadCapacityUnits:      aws.Int64(t.readUnits),
		WriteCapacityUnits:     aws.Int64(t.writeUnits),
		NumberOfDecreasesToday: aws.Int64(t.decreases),
	}
	if !t.increased.IsZero() {
		d.LastIncreaseDateTime = aws.Time(t.increased)
	}
	if !t.decreased.IsZero() {
		d.LastDecreaseDateTime = aws.Time(t.decreased)
	}
	return d
}
