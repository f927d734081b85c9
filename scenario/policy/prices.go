package policy

// Prices are what things cost, in one currency.
type Prices struct {
	// ReadUnits and WriteUnits are for a million request units of the store.
	ReadUnits, WriteUnits float64
	// Storage is for a gigabyte (10^9 bytes) and month (30 days).
	Storage float64
	// Render is for one render.
	Render float64
}

// OnDemand is what DynamoDB's on-demand tables cost in us-east-1, in US dollars, without renders. Your region and
// contract may differ: give your own list.
//
// Source: https://aws.amazon.com/dynamodb/pricing/on-demand/ (since 2024-11-01)
var OnDemand = Prices{ReadUnits: 0.125, WriteUnits: 0.625, Storage: 0.25}

// monthSeconds is a month as costs are quoted for it.
const monthSeconds = 30 * 24 * 3600

// month returns what a run costs that goes on for a month.
func (p Prices) month(r *Result) float64 {
	run := r.readUnits/1e6*p.ReadUnits + r.writeUnits/1e6*p.WriteUnits + float64(r.renders)*p.Render
	perSecond := ratio(run, r.lasts.Seconds())
	storedBytes := ratio(r.byteSeconds, r.lasts.Seconds())
	return perSecond*monthSeconds + storedBytes/1e9*p.Storage
}

// Sizes of DynamoDB's request units, in bytes.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
const (
	readUnitBytes  = 4096
	writeUnitBytes = 1024
)

// unitsOf returns the units for a row: at least one.
func unitsOf(bytes, unit int) float64 { return float64(max(1, (bytes+unit-1)/unit)) }
