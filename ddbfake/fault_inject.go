package ddbfake

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Inject adds faults to the waiting ones. Each counts the calls that match it from now on. They are tried in the order
// of injection. If a fault hits a call, the faults after it do not count that call. A fault that has hit Times calls is
// dropped.
//
// A fault whose kind is not one of FaultKinds is a mistake, and is not ignored: every call that its predicates match
// fails, with an error that names FaultKinds.
func (db *DB) Inject(faults ...Fault) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.injected.Add(faults...)
}

// ClearFaults drops every waiting fault.
func (db *DB) ClearFaults() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.injected = nil
}

// Injected returns the waiting faults, in the order of injection. A fault that has already hit some calls is returned
// as it was injected.
func (db *DB) Injected() []Fault {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.injected.All()
}

// Idle returns those faults of Injected that have hit no call.
func (db *DB) Idle() []Fault {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.injected.Idle()
}

// nextFault returns the injected fault that hits this call, nil if none does.
func (db *DB) nextFault(r *request, in any) *Fault {
	return db.injected.Next(
		func(f *Fault) bool { return db.matches(*f, r.op, r.actor, r.region, in) },
		func(f *Fault) (nth, times int, known bool) { return f.Nth, f.Times, f.Kind.known() },
	)
}

// Matches reports whether a fault's kind can hit a call that is about to be made, and whether its predicates match the
// call. Nth and Times, which count calls, are ignored.
func (db *DB) Matches(f Fault, c Call) bool {
	op := operationOf(c.Input)
	if op == nil {
		return false
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.matches(f, op, c.Actor, cmp.Or(c.Region, DefaultRegion), c.Input)
}

// Rows calls visit for each row that a call names by its key, as Fault.Key does. Statements of PartiQL and conditions
// of a Query name rows, too. The values are the key's attributes, perhaps among others.
func (db *DB) Rows(c Call, visit func(table string, values map[string]types.AttributeValue)) {
	db.mu.Lock()
	targets := db.targets(cmp.Or(c.Region, DefaultRegion), c.Input)
	db.mu.Unlock()
	for _, t := range targets {
		visit(t.table, t.values)
	}
}

func (db *DB) matches(f Fault, op *operation, actor, region string, in any) bool {
	if f.Op != "" && f.Op != op.name || !db.befalls(f.Kind, region, in) {
		return false
	}
	if f.Actor != "" && f.Actor != actor && !strings.HasPrefix(actor, f.Actor+".") {
		return false
	}
	if f.Table == "" && f.Key == "" {
		return true
	}
	for _, t := range db.targets(region, in) {
		if db.hits(f, region, t) {
			return true
		}
	}
	return false
}

// byKey reports whether Fault.Key means a row, and whether it knows such a Key.
type byKey func(key, table string, values map[string]types.AttributeValue) (is, known bool)

// target is a row, or the part of a table, that a call touches.
type target struct {
	table  string
	values map[string]types.AttributeValue
}

// hits reports whether a fault's table and key predicates hold for a target.
func (db *DB) hits(f Fault, region string, t target) bool {
	if f.Table != "" && f.Table != t.table && f.Table != tableARN(region, t.table) {
		return false
	}
	if f.Key == "" {
		return true
	}
	if db.byKey != nil {
		if is, known := db.byKey(f.Key, t.table, t.values); known {
			return is
		}
	}
	table := db.state.tables[address(region, t.table)]
	if table == nil {
		return false
	}
	return keyMatches(f.Key, t.values[table.schema.hash.Name]) ||
		table.schema.hasSort() && keyMatches(f.Key, t.values[table.schema.sort.Name])
}

func keyMatches(pattern string, v types.AttributeValue) bool {
	var text string
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		text = v.Value
	case *types.AttributeValueMemberB:
		text = base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberN:
		n, err := attr.ParseNumber(v.Value)
		if err != nil {
			return false
		}
		text = n.String()
	default:
		return false
	}
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(text, prefix)
	}
	return text == pattern
}

// targets returns the rows and tables that a call touches. The inputs have not been validated yet.
func (db *DB) targets(region string, in any) []target {
	one := func(table *string, values map[string]types.AttributeValue) []target {
		return []target{{nameInARN(aws.ToString(table)), values}}
	}
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return one(in.TableName, in.Key)
	case *dynamodb.PutItemInput:
		return one(in.TableName, in.Item)
	case *dynamodb.UpdateItemInput:
		return one(in.TableName, in.Key)
	case *dynamodb.DeleteItemInput:
		return one(in.TableName, in.Key)
	case *dynamodb.QueryInput:
		return one(in.TableName, db.queriedKey(region, in))
	case *dynamodb.ScanInput:
		return one(in.TableName, nil)
	case *dynamodb.BatchGetItemInput:
		var targets []target
		for _, name := range sortedKeys(in.RequestItems) {
			for _, key := range in.RequestItems[name].Keys {
				targets = append(targets, target{nameInARN(name), key})
			}
		}
		return targets
	case *dynamodb.BatchWriteItemInput:
		var targets []target
		for _, name := range sortedKeys(in.RequestItems) {
			for _, w := range in.RequestItems[name] {
				targets = append(targets, writeTarget(name, w))
			}
		}
		return targets
	case *dynamodb.TransactWriteItemsInput:
		targets := make([]target, len(in.TransactItems))
		for i := range in.TransactItems {
			targets[i] = actionTarget(&in.TransactItems[i])
		}
		return targets
	case *dynamodb.TransactGetItemsInput:
		targets := make([]target, len(in.TransactItems))
		for i, item := range in.TransactItems {
			if item.Get != nil {
				targets[i] = one(item.Get.TableName, item.Get.Key)[0]
			}
		}
		return targets
	case *dynamodb.ExecuteStatementInput:
		return []target{statementTarget(in.Statement, in.Parameters)}
	case *dynamodb.BatchExecuteStatementInput:
		targets := make([]target, len(in.Statements))
		for i := range in.Statements {
			targets[i] = statementTarget(in.Statements[i].Statement, in.Statements[i].Parameters)
		}
		return targets
	case *dynamodb.ExecuteTransactionInput:
		targets := make([]target, len(in.TransactStatements))
		for i := range in.TransactStatements {
			targets[i] = statementTarget(in.TransactStatements[i].Statement, in.TransactStatements[i].Parameters)
		}
		return targets
	case *dynamodb.CreateTableInput:
		return one(in.TableName, nil)
	case *dynamodb.DeleteTableInput:
		return one(in.TableName, nil)
	case *dynamodb.DescribeTableInput:
		return one(in.TableName, nil)
	case *dynamodb.CreateBackupInput:
		return one(in.TableName, nil)
	case *dynamodb.ListBackupsInput:
		if in.TableName != nil {
			return one(in.TableName, nil)
		}
	case *dynamodb.DescribeBackupInput:
		return []target{{table: tableOfBackup(in.BackupArn)}}
	case *dynamodb.DeleteBackupInput:
		return []target{{table: tableOfBackup(in.BackupArn)}}
	case *dynamodb.RestoreTableFromBackupInput:
		return []target{{table: aws.ToString(in.TargetTableName)}, {table: tableOfBackup(in.BackupArn)}}
	case *dynamodb.RestoreTableToPointInTimeInput:
		source := cmp.Or(aws.ToString(in.SourceTableName), aws.ToString(in.SourceTableArn))
		return []target{{table: aws.ToString(in.TargetTableName)}, {table: nameInARN(source)}}
	case *dynamodb.DescribeContinuousBackupsInput:
		return one(in.TableName, nil)
	case *dynamodb.UpdateContinuousBackupsInput:
		return one(in.TableName, nil)
	case *dynamodb.DescribeContributorInsightsInput:
		return one(in.TableName, nil)
	case *dynamodb.DescribeKinesisStreamingDestinationInput:
		return one(in.TableName, nil)
	case *dynamodb.GetResourcePolicyInput:
		return one(in.ResourceArn, nil)
	case *dynamodb.TagResourceInput:
		return one(in.ResourceArn, nil)
	case *dynamodb.UntagResourceInput:
		return one(in.ResourceArn, nil)
	case *dynamodb.ListTagsOfResourceInput:
		return one(in.ResourceArn, nil)
	case *dynamodb.UpdateTimeToLiveInput:
		return one(in.TableName, nil)
	case *dynamodb.DescribeTimeToLiveInput:
		return one(in.TableName, nil)
	case *dynamodb.UpdateTableInput:
		return one(in.TableName, nil)
	case *dynamodbstreams.ListStreamsInput:
		return one(in.TableName, nil)
	case *dynamodbstreams.DescribeStreamInput:
		return ofStream(in.StreamArn)
	case *dynamodbstreams.GetShardIteratorInput:
		return ofStream(in.StreamArn)
	case *dynamodbstreams.GetRecordsInput:
		it, _ := parseShardIterator(aws.ToString(in.ShardIterator))
		return ofStream(&it.arn)
	}
	return nil
}

// ofStream returns the table of a stream.
func ofStream(arn *string) []target {
	name, _ := tableOfStream(aws.ToString(arn))
	return []target{{table: name}}
}

func writeTarget(name string, w types.WriteRequest) target {
	t := target{table: nameInARN(name)}
	switch {
	case w.PutRequest != nil:
		t.values = w.PutRequest.Item
	case w.DeleteRequest != nil:
		t.values = w.DeleteRequest.Key
	}
	return t
}

func actionTarget(item *types.TransactWriteItem) target {
	switch {
	case item.ConditionCheck != nil:
		return target{nameInARN(aws.ToString(item.ConditionCheck.TableName)), item.ConditionCheck.Key}
	case item.Put != nil:
		return target{nameInARN(aws.ToString(item.Put.TableName)), item.Put.Item}
	case item.Update != nil:
		return target{nameInARN(aws.ToString(item.Update.TableName)), item.Update.Key}
	case item.Delete != nil:
		return target{nameInARN(aws.ToString(item.Delete.TableName)), item.Delete.Key}
	}
	return target{}
}

// queriedKey returns the key values that a Query asks for by equality; nil if the query is not valid.
func (db *DB) queriedKey(region string, in *dynamodb.QueryInput) map[string]types.AttributeValue {
	t := db.state.tables[address(region, nameInARN(aws.ToString(in.TableName)))]
	if t == nil || in.KeyConditionExpression == nil {
		return nil
	}
	keys, err := db.parsed.keyConditions.get(in.KeyConditionExpression, parseKeyCondition)
	if err != nil {
		return nil
	}
	args, err := expressionArgs(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil || keys.Check(args) != nil {
		return nil
	}
	bounds, err := keys.Bind(args, t.schema.hash, t.schema.sort)
	if err != nil {
		return nil
	}
	values := map[string]types.AttributeValue{t.schema.hash.Name: attr.ToSDK(bounds.Hash)}
	if bounds.Low != nil && bounds.High != nil && attr.Equal(bounds.Low, bounds.High) {
		values[t.schema.sort.Name] = attr.ToSDK(bounds.Low)
	}
	return values
}
