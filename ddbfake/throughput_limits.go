package ddbfake

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ceiling is the maximum units per second of a table or global index that is paid per request; 0 is no ceiling. It has
// an effect only under Options.Throughput.
type ceiling struct{ read, write int64 }

// removed is the value in a request that removes a ceiling.
const removed = -1

// limitsThroughput reports whether a parameter has a member. An empty parameter counts as absent.
//
// Deviation: at the service, an UpdateTable fails with an InternalFailure if its OnDemandThroughput has no member.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-throughput-billing.md
func limitsThroughput(p *types.OnDemandThroughput) bool {
	return p != nil && (p.MaxReadRequestUnits != nil || p.MaxWriteRequestUnits != nil)
}

// checkCeiling checks a ceiling. The parameter of names its owner: "table", or "index: " and a name. There is no source
// for the texts about an index, so the texts about a table are used.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_OnDemandThroughput.html
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-throughput-billing.md
// (DDB-TABLE-038, DDB-TABLE-039, DDB-TABLE-059: the texts)
// Source: https://github.com/nubo-db/dynoxide/issues/159
func checkCeiling(p *types.OnDemandThroughput, of string, onDemand, update bool) error {
	if !limitsThroughput(p) {
		return nil
	}
	members := []struct {
		name  string
		value *int64
	}{{"MaxReadRequestUnits", p.MaxReadRequestUnits}, {"MaxWriteRequestUnits", p.MaxWriteRequestUnits}}
	for _, m := range members {
		switch {
		case m.value == nil || onDemand:
		case update:
			return badParameter(
				"%s for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED", m.name,
			)
		default:
			return badParameter("%s for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.",
				m.name)
		}
	}
	for _, m := range members {
		if m.value != nil && *m.value < 1 && (*m.value != removed || !update) {
			return badParameter("Requested %s for OnDemandThroughput for %s is outside of valid range", m.name, of)
		}
	}
	return nil
}

// set changes the members that are given.
func (c *ceiling) set(p *types.OnDemandThroughput) {
	if p == nil {
		return
	}
	for _, m := range []struct {
		to    *int64
		value *int64
	}{{&c.read, p.MaxReadRequestUnits}, {&c.write, p.MaxWriteRequestUnits}} {
		if m.value != nil {
			*m.to = max(*m.value, 0)
		}
	}
}

// describe returns nil if there is no ceiling.
func (c ceiling) describe() *types.OnDemandThroughput {
	if c == (ceiling{}) {
		return nil
	}
	return &types.OnDemandThroughput{MaxReadRequestUnits: positive(c.read), MaxWriteRequestUnits: positive(c.write)}
}

func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return aws.Int64(n)
}

// changed describes a ceiling as the UpdateTable that has changed it answers: a removed member is shown.
func (c ceiling) changed(p *types.OnDemandThroughput) *types.OnDemandThroughput {
	d := c.describe()
	if d == nil {
		d = new(types.OnDemandThroughput)
	}
	if aws.ToInt64(p.MaxReadRequestUnits) == removed {
		d.MaxReadRequestUnits = aws.Int64(removed)
	}
	if aws.ToInt64(p.MaxWriteRequestUnits) == removed {
		d.MaxWriteRequestUnits = aws.Int64(removed)
	}
	return d
}

// warmth is the warm throughput: the units per second that a table or a global index can serve immediately. It never
// falls, and traffic does not raise it. It has an effect only under Options.Throughput.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html
type warmth struct{ read, write int64 }

// The warmth of a table that is paid per request.
const (
	initialReads  = 12_000
	initialWrites = 4_000
)

// warms reports whether a parameter has a member.
func warms(p *types.WarmThroughput) bool {
	return p != nil && (p.ReadUnitsPerSecond != nil || p.WriteUnitsPerSecond != nil)
}

// newWarmth returns the warmth of a table or index whose request asks for none.
func newWarmth(onDemand bool, t throughput) warmth {
	if onDemand {
		return warmth{initialReads, initialWrites}
	}
	return warmth{t.readUnits, t.writeUnits}
}

// check refuses a value below the present one.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-throughput-billing.md
// (DDB-TABLE-039, DDB-TABLE-059: the texts)
func (w warmth) check(p *types.WarmThroughput, of string, onDemand, update bool) error {
	if p == nil {
		return nil
	}
	for _, m := range []struct {
		name, units string
		value       *int64
		is          int64
	}{
		{"ReadUnitsPerSecond", "ReadCapacityUnits", p.ReadUnitsPerSecond, w.read},
		{"WriteUnitsPerSecond", "WriteCapacityUnits", p.WriteUnitsPerSecond, w.write},
	} {
		switch requested := "Requested " + m.name + " for WarmThroughput for " + of + " is lower than "; {
		case m.value == nil || *m.value >= m.is:
		case update:
			return badParameter("%scurrent WarmThroughput, decreasing WarmThroughput is not supported", requested)
		case onDemand:
			return badParameter("%sinitial throughput for OnDemand. See: "+
				"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial", requested)
		default:
			return badParameter("%s%s of ProvisionedThroughput", requested, m.units)
		}
	}
	return nil
}

// set changes the members that are given.
func (w *warmth) set(p *types.WarmThroughput) {
	if p != nil {
		w.atLeast(warmth{aws.ToInt64(p.ReadUnitsPerSecond), aws.ToInt64(p.WriteUnitsPerSecond)})
	}
}

// atLeast raises the warmth to at least these units.
func (w *warmth) atLeast(o warmth) { *w = warmth{max(w.read, o.read), max(w.write, o.write)} }

func (w warmth) describe() *types.TableWarmThroughputDescription {
	return &types.TableWarmThroughputDescription{
		ReadUnitsPerSecond: aws.Int64(w.read), WriteUnitsPerSecond: aws.Int64(w.write), Status: types.TableStatusActive,
	}
}

func (w warmth) describeOfIndex() *types.GlobalSecondaryIndexWarmThroughputDescription {
	return &types.GlobalSecondaryIndexWarmThroughputDescription{
		ReadUnitsPerSecond: aws.Int64(w.read), WriteUnitsPerSecond: aws.Int64(w.write), Status: types.IndexStatusActive,
	}
}

// maxUnits bounds throughput. AWS has quotas per account instead.
//
// Source: https://github.com/architect/dynalite/blob/main/test/updateTable.js
const maxUnits = 1_000_000_000_000

// throughput is the provisioned units of a table or a global index; zero if it is paid per request. It has an effect
// only under Options.Throughput.
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

// throttlingReasons returns a reason for each resource of a data operation that a fault throttles: its tables, without
// repetitions, or the index that it reads. It also returns the first table, or nil.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
func (db *DB) throttlingReasons(r *request, in any, f Fault) (reasons []types.ThrottlingReason, first *table) {
	operation, index := consumes(in)
	for _, t := range db.targets(r.region, in) {
		table := db.state.tables[address(r.region, t.table)]
		if table == nil || !db.hits(f, r.region, t) {
			continue
		}
		if first == nil {
			first = table
		}
		reason := throttlingReason(table, index, operation, table.limitType())
		if !slices.ContainsFunc(reasons,
			func(o types.ThrottlingReason) bool { return *o.Resource == *reason.Resource }) {
			reasons = append(reasons, reason)
		}
	}
	return reasons, first
}

// throttlingReason names the exceeded limit, and the table or, if index is not nil, the index.
func throttlingReason(t *table, index *string, operation, limit string) types.ThrottlingReason {
	kind, arn := "Table", tableARN(t.region, t.name)
	if index != nil {
		kind, arn = "Index", arn+"/index/"+*index
	}
	return types.ThrottlingReason{Reason: aws.String(kind + operation + limit), Resource: aws.String(arn)}
}

// consumes returns "Read" for a data operation that takes read units, "Write" for one that takes write units, and ""
// for any other operation. It also returns the index that the operation reads.
func consumes(in any) (operation string, index *string) {
	switch in := in.(type) {
	case *dynamodb.QueryInput:
		return "Read", in.IndexName
	case *dynamodb.ScanInput:
		return "Read", in.IndexName
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput:
		return "Read", nil
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput, *dynamodb.BatchWriteItemInput:
		return "Write", nil
	case *dynamodb.ExecuteStatementInput:
		reads, index := readsBy(in.Statement)
		if reads {
			return "Read", index
		}
		return "Write", nil
	case *dynamodb.BatchExecuteStatementInput:
		for i := range in.Statements {
			if reads, _ := readsBy(in.Statements[i].Statement); reads {
				return "Read", nil
			}
		}
		return "Write", nil
	}
	return "", nil
}

// limitType names the limit that throttles a table: its provisioned units, or the limits of a single partition if it is
// paid per request.
func (t *table) limitType() string {
	if t.billing == types.BillingModePayPerRequest {
		return limitKey
	}
	return limitProvisioned
}
