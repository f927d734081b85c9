package ddbfake

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// The steps of a call, and the file of each:
//
//	door      Door, the SDK's transport or the HTTP door takes the call    door_*.go
//	decode    wireCall.decode reads it, if it came over a wire             wire.go
//	admit     calls that no state could serve are refused                  here
//	begin     TTL deletes the rows that are due; the call gets a number    here
//	fault     DB.faultOf finds the fault that hits the call, if one does   fault_serve.go
//	execute   the operation runs, as far as the fault lets it              here, dispatch.go
//	encode    wireCall.encode writes the answer                            wire.go

// Call is one request to the service, whichever door it came through.
type Call struct {
	// Actor names the caller: changes carry it, and faults can select calls by it. On the wire it is the access key id.
	Actor string
	// Region is the region of the call, which sees only the tables of that region. "" is DefaultRegion. On the wire it
	// is the region of the credential scope.
	Region string
	// Sent is the true time at which the caller made the call, which may be long before it takes effect. Zero means
	// now.
	Sent time.Time
	// Input is a pointer to one of the SDK's input structs, for example *dynamodb.PutItemInput. It is not kept and not
	// changed.
	Input any
	// Fault, if not nil, hits this call regardless of its predicates, and injected faults do not. A fault whose kind
	// cannot hit such a call does nothing. With an unknown kind the call fails.
	Fault *Fault
	// Undone, if set, decides which requests of a batch a fault leaves undone. It is called once per request, in order.
	Undone func(table string) bool
}

// request is a Call while it is being served.
type request struct {
	id        int
	op        *operation
	actor     string
	region    string
	call      uint64 // its number in overlaps, 0 if it overlaps with nothing
	now, sent time.Time
	// transaction is true for a TransactWriteItems that is about to write.
	transaction bool
	stale       bool // a FaultStaleRead has struck
	// withheld is the fault that has struck a part of a batch, or nil: a FaultUnprocessed, or a FaultConflict in a
	// batch of statements.
	withheld *Fault
	undone   func(table string) bool // Call.Undone
	// most, if positive, is the number of rows after which a page ends early: see FaultShortPage. A trial takes no
	// units, and keeps the rows that its page has read in rows.
	most, evaluated int
	trial           bool
	rows            []*row
	// wire is true if the output is encoded next. GetItem may then leave the item out of its output, and put the row
	// into read.
	wire bool
	read *row
	// touched are the counters of the request's tables.
	touched []*counters
}

// Do serves one call, in the same way as every door does.
//
// The output is a pointer to the SDK's output struct of the operation. Errors are the SDK's typed errors
// (*types.ConditionalCheckFailedException and so on), *smithy.GenericAPIError for errors for which the SDK has no type
// (ValidationException), *UnsupportedError, *NetworkError for a lost request or response, or ctx.Err() if the context
// was done before the call arrived.
func (db *DB) Do(ctx context.Context, c Call) (output any, err error) {
	return db.serve(ctx, c, false)
}

// doForWire is Do for a door that encodes the output. The output of a GetItem may be an *awsjson.RecordOutput.
func (db *DB) doForWire(ctx context.Context, c Call) (output any, err error) {
	return db.serve(ctx, c, true)
}

// serve takes a call from its door to its output. It is the engine's only entry: every door ends here.
func (db *DB) serve(ctx context.Context, c Call, wire bool) (output any, err error) {
	op, err := admit(ctx, &c)
	if err != nil {
		if ctx.Err() == nil {
			db.countRefusal(&c)
		}
		return nil, err
	}
	var call uint64
	if db.overlaps != nil {
		call = db.overlaps.enter()
		defer db.overlaps.leave(call)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	r := db.begin(op, &c, call)
	r.wire = wire
	fault, err := db.faultOf(r, &c)
	if err != nil {
		return nil, err
	}
	return db.execute(r, c.Input, fault)
}

// direct serves a call that the test itself makes: no fault hits it.
func (db *DB) direct(region string, in any) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	_, err := db.execute(db.begin(operationOf(in), &Call{Region: region, Input: in}, 0), in, nil)
	return err
}

// admit finds the operation of a call, and refuses a call that no state could serve. An input that is a nil pointer
// becomes an empty input.
func admit(ctx context.Context, c *Call) (*operation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	op := operationOf(c.Input)
	if op == nil {
		return nil, &UnsupportedError{Operation: inputName(c.Input)}
	}
	if err := checkRegion(c.Region); err != nil {
		return nil, err
	}
	if op.isNil(c.Input) {
		c.Input = op.newInput()
	}
	return op, nil
}

// begin makes a call the request that is being served. call is its number in overlaps; 0 means that it overlaps with
// nothing.
func (db *DB) begin(op *operation, c *Call, call uint64) *request {
	r := &db.request
	*r = request{op: op, actor: c.Actor, region: cmp.Or(c.Region, DefaultRegion), call: call, now: db.clock.Now(),
		sent: c.Sent, undone: c.Undone, touched: r.touched[:0]}
	if r.sent.IsZero() {
		r.sent = r.now
	}
	db.bindings.reset()
	db.settle(r.now)
	db.state.requests++
	r.id = db.state.requests
	return r
}

// execute runs a request's operation, with or without a fault. It records the request if the DB remembers requests.
func (db *DB) execute(r *request, in any, fault *Fault) (output any, err error) {
	var entry *Request
	if db.served.Keep > 0 {
		entry = db.entryOf(r, in, fault) // made before the request changes the state
	}
	if fault == nil {
		output, err = db.attempt(r, in)
	} else {
		output, err = db.executeFaulty(r, in, fault)
	}
	if entry != nil {
		entry.Err = err
		db.served.Add(*entry)
	}
	if r.read != nil && err == nil {
		get, _ := output.(*dynamodb.GetItemOutput)
		output = &awsjson.RecordOutput{GetItemOutput: get, Record: &r.read.record, Text: &r.read.json}
	}
	return output, err
}
