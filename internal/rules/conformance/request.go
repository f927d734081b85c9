package conformance

import (
	"fmt"
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// world is a case's knowledge of the store on which it runs.
type world struct {
	store  Store
	prefix string // the prefix of the names of this case's tables
	arn    string // the ARN of its tables, without their names; known once one is created

	seen    streamsSeen
	next    *string // the NextToken of a statement
	began   time.Time
	backups []backupSeen
	// replicas are the regions in which the usual table got replicas, with the regions from which it got them.
	replicas []replicaSeen
	strong   bool   // that table is strongly consistent
	witness  string // and has a witness in this region, "" for none
}

// name returns the real name of one of the case's tables.
func (w *world) name(table string) string { return w.prefix + table }

// arnOf is the ARN of one of the case's tables.
func (w *world) arnOf(table string) *string { return aws.String(w.arn + w.name(table)) }

// now is the store's time in epoch seconds.
func (w *world) now() int64 { return w.store.Clock.Now().Unix() }

// request makes one of the SDK's inputs, or does something to the store that is no request and returns nil.
type request func(w *world) any

// option changes an input, or one of the actions of a transaction.
type option func(w *world, in any)

// usualTable is the table that requests are about unless they say otherwise.
const usualTable = "rows"

func build(w *world, in any, options []option) any {
	if f := reflect.ValueOf(in).Elem().FieldByName("TableName"); f.IsValid() {
		f.Set(reflect.ValueOf(aws.String(w.name(usualTable))))
	}
	for _, o := range options {
		o(w, in)
	}
	return in
}

// set sets the named member of any input. It panics if the input has no such member: a mistake in this package, which
// any run of it shows.
func set(member string, value any) option {
	return func(_ *world, in any) {
		f := reflect.ValueOf(in).Elem().FieldByName(member)
		if !f.IsValid() {
			panic(fmt.Sprintf("conformance: %T has no member %s", in, member))
		}
		if value == nil {
			f.SetZero()
			return
		}
		v := reflect.ValueOf(value)
		if f.Kind() == reflect.Pointer && v.Kind() != reflect.Pointer {
			p := reflect.New(f.Type().Elem())
			p.Elem().Set(v.Convert(p.Elem().Type()))
			v = p
		}
		f.Set(v.Convert(f.Type()))
	}
}

// The operations on items.

func put(item attrs, options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.PutItemInput{Item: item.sdk()}, options) }
}

func get(key attrs, options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodb.GetItemInput{Key: key.sdk(), ConsistentRead: aws.Bool(true)}, options)
	}
}

func remove(key attrs, options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.DeleteItemInput{Key: key.sdk()}, options) }
}

func update(key attrs, expression string, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.UpdateItemInput{Key: key.sdk(), UpdateExpression: aws.String(expression)}
		return build(w, in, options)
	}
}

func query(keyCondition string, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.QueryInput{KeyConditionExpression: aws.String(keyCondition), ConsistentRead: aws.Bool(true)}
		return build(w, in, options)
	}
}

func scan(options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.ScanInput{ConsistentRead: aws.Bool(true)}, options) }
}

// actions are the actions of a transaction, each written like the request that does the same alone.
type actions []request

// check is the action that only a transaction has.
func check(key attrs, condition string, options ...option) request {
	return func(w *world) any {
		return build(w, &types.ConditionCheck{Key: key.sdk(), ConditionExpression: aws.String(condition)}, options)
	}
}

// nothing is an action without any member.
func nothing() request { return func(*world) any { return nil } }

// transact writes. A nil list of actions stays nil.
func transact(list actions, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.TransactWriteItemsInput{}
		if list != nil {
			in.TransactItems = []types.TransactWriteItem{}
		}
		for _, r := range list {
			var a types.TransactWriteItem
			switch one := r(w).(type) {
			case *dynamodb.PutItemInput:
				a.Put = shared[types.Put](one)
			case *dynamodb.UpdateItemInput:
				a.Update = shared[types.Update](one)
			case *dynamodb.DeleteItemInput:
				a.Delete = shared[types.Delete](one)
			case *types.ConditionCheck:
				a.ConditionCheck = one
			}
			in.TransactItems = append(in.TransactItems, a)
		}
		return build(w, in, options)
	}
}

// transactGet reads.
func transactGet(list actions, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.TransactGetItemsInput{}
		if list != nil {
			in.TransactItems = []types.TransactGetItem{}
		}
		for _, r := range list {
			var a types.TransactGetItem
			if one, ok := r(w).(*dynamodb.GetItemInput); ok {
				a.Get = shared[types.Get](one)
			}
			in.TransactItems = append(in.TransactItems, a)
		}
		return build(w, in, options)
	}
}

// batchGet reads. A table has the parameters of its first get.
func batchGet(list actions, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.BatchGetItemInput{}
		if list != nil {
			in.RequestItems = map[string]types.KeysAndAttributes{}
		}
		for _, r := range list {
			one, _ := r(w).(*dynamodb.GetItemInput)
			t, more := in.RequestItems[*one.TableName]
			if !more {
				t = *shared[types.KeysAndAttributes](one)
			}
			t.Keys = append(t.Keys, one.Key)
			in.RequestItems[*one.TableName] = t
		}
		return build(w, in, options)
	}
}

// batchWrite writes.
func batchWrite(list actions, options ...option) request {
	return func(w *world) any {
		in := &dynamodb.BatchWriteItemInput{}
		if list != nil {
			in.RequestItems = map[string][]types.WriteRequest{}
		}
		for _, r := range list {
			var name *string
			var q types.WriteRequest
			switch one := r(w).(type) {
			case *dynamodb.PutItemInput:
				name, q.PutRequest = one.TableName, &types.PutRequest{Item: one.Item}
			case *dynamodb.DeleteItemInput:
				name, q.DeleteRequest = one.TableName, &types.DeleteRequest{Key: one.Key}
			default:
				name = aws.String(w.name(usualTable))
			}
			in.RequestItems[*name] = append(in.RequestItems[*name], q)
		}
		return build(w, in, options)
	}
}

// shared copies the members that an action has in common with an input.
func shared[A any](in any) *A {
	action := new(A)
	from, to := reflect.ValueOf(in).Elem(), reflect.ValueOf(action).Elem()
	for i := range to.NumField() {
		if f := from.FieldByName(to.Type().Field(i).Name); f.IsValid() && to.Field(i).CanSet() {
			to.Field(i).Set(f)
		}
	}
	return action
}

// The operations on tables.

func createTable(name string, of schema, options ...option) request {
	return func(w *world) any {
		in := of.input()
		build(w, in, nil)
		in.TableName = aws.String(w.name(name))
		for _, o := range options {
			o(w, in)
		}
		return in
	}
}

func describeTable(options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.DescribeTableInput{}, options) }
}

// updateTable changes a table. The next step waits until that is done.
func updateTable(options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.UpdateTableInput{}, options) }
}

func deleteTable(options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.DeleteTableInput{}, options) }
}

func listTables(options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.ListTablesInput{}, options) }
}

func describeTTL(options ...option) request {
	return func(w *world) any { return build(w, &dynamodb.DescribeTimeToLiveInput{}, options) }
}

func updateTTL(attribute string, enabled bool, options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodb.UpdateTimeToLiveInput{TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(attribute), Enabled: aws.Bool(enabled),
		}}, options)
	}
}

// tags are written as keys and values in turn.
func tags(texts ...string) []types.Tag {
	list := []types.Tag{}
	for i := 0; i < len(texts); i += 2 {
		list = append(list, types.Tag{Key: aws.String(texts[i]), Value: aws.String(texts[i+1])})
	}
	return list
}

func tagTable(list []types.Tag, options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodb.TagResourceInput{ResourceArn: w.arnOf(usualTable), Tags: list}, options)
	}
}

func untagTable(keys []string, options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodb.UntagResourceInput{ResourceArn: w.arnOf(usualTable), TagKeys: keys}, options)
	}
}

func listTags(options ...option) request {
	return func(w *world) any {
		return build(w, &dynamodb.ListTagsOfResourceInput{ResourceArn: w.arnOf(usualTable)}, options)
	}
}

// onARN gives an ARN: of one of the case's tables, or of a resource below it.
func onARN(of string) option {
	return func(w *world, in any) { set("ResourceArn", *w.arnOf(of))(w, in) }
}

// The actions of a test on a store that are not requests.

// wait lets time pass.
func wait(d time.Duration) request {
	return func(w *world) any {
		w.store.Clock.Advance(d)
		return nil
	}
}

// sweep makes TTL delete the rows that are due.
func sweep() request {
	return func(w *world) any {
		w.store.Sweep()
		return nil
	}
}

// after makes a request whose values depend on the store's time.
func after(r func(now int64) request) request {
	return func(w *world) any { return r(w.now())(w) }
}

// Options. Their names are short, so that a case can be read at a glance.

// on names another one of the case's tables, or one that does not exist.
func on(table string) option {
	return func(w *world, in any) { set("TableName", w.name(table))(w, in) }
}

// onName gives the name of a table as it stands.
func onName(name string) option { return set("TableName", name) }

// noName leaves the name of the table out.
func noName() option { return set("TableName", nil) }

func where(condition string) option  { return set("ConditionExpression", condition) }
func filter(condition string) option { return set("FilterExpression", condition) }
func only(projection string) option  { return set("ProjectionExpression", projection) }
func returns(which string) option    { return set("ReturnValues", which) }
func onFailure(which string) option  { return set("ReturnValuesOnConditionCheckFailure", which) }
func limit(n int32) option           { return set("Limit", n) }
func backwards() option              { return set("ScanIndexForward", false) }
func startingAfter(key attrs) option { return set("ExclusiveStartKey", key.sdk()) }
func selecting(what string) option   { return set("Select", what) }
func segment(number, of int32) option {
	return func(w *world, in any) {
		set("Segment", number)(w, in)
		set("TotalSegments", of)(w, in)
	}
}
func token(text string) option      { return set("ClientRequestToken", text) }
func capacity(detail string) option { return set("ReturnConsumedCapacity", detail) }
func eventually() option            { return set("ConsistentRead", false) }
func with(values attrs) option      { return set("ExpressionAttributeValues", values.sdk()) }
func noUpdate() option              { return set("UpdateExpression", nil) }
func metrics(detail string) option  { return set("ReturnItemCollectionMetrics", detail) }
func named(names ...string) option {
	m := map[string]string{}
	for i := 0; i < len(names); i += 2 {
		m[names[i]] = names[i+1]
	}
	return set("ExpressionAttributeNames", m)
}
