package describe

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Words puts rows, requests and answers into words, for traces and reports. Instants are shown relative to the start of
// the run.
type Words struct {
	Start time.Time
	// Pages knows the pages by name; nil knows none.
	Pages Pages
	// Rows describes rows with other names; if it is nil, META, LOCK, VER# and REQ# are known.
	Rows *rowmap.Mapping
	// Untold returns, by the Seq of a change, why the change's sender did not get the answer; "" if the sender got it.
	// Nil knows no reasons.
	Untold func(change int) string
	// Regions means that the table is in several regions, so that even the default one is named.
	Regions bool
}

// Pages finds the name of a page by the partition key of its rows.
type Pages interface {
	NameOf(pk string) (name string, ok bool)
}

// nameOf is Pages.NameOf, but also works without Pages.
func (w Words) nameOf(pk string) (string, bool) {
	if w.Pages == nil {
		return "", false
	}
	return w.Pages.NameOf(pk)
}

// Instant prints a true time: +12s.
func (w Words) Instant(t time.Time) string { return "+" + t.Sub(w.Start).String() }

// Second prints epoch seconds as an instant if they are within some years of the start. Otherwise it prints the number,
// so that milliseconds, used by mistake, are recognisable.
func (w Words) Second(n int64) string {
	const near = 20 * 365 * 24 * 3600
	if d := n - w.Start.Unix(); d > -near && d < near {
		if d < 0 {
			return (time.Duration(d) * time.Second).String()
		}
		return "+" + (time.Duration(d) * time.Second).String()
	}
	return strconv.FormatInt(n, 10)
}

// near is Instant for a time within the years around the start; it prints others like Second.
func (w Words) near(t time.Time) string {
	if text := w.Second(t.Unix()); !strings.HasPrefix(text, "+") {
		return text
	}
	return w.Instant(t)
}

// row prints a row of a cache by its meaning, and any other row as it is.
func (w Words) row(item attr.Item) string {
	if item == nil {
		return "absent"
	}
	if w.Rows != nil {
		return w.Rows.Row(item, w.near)
	}
	sk, _ := item.Str("sk")
	switch kind, _, _ := strings.Cut(sk, "#"); kind {
	case isr.SortLock:
		token, ok := item.Str("lease_token")
		expires, okExpires := item.Int("lease_expires_at")
		if ok && okExpires {
			return fmt.Sprintf("token %s until %s", token, w.Second(expires))
		}
	case isr.SortMeta, "VER":
		what := "body "
		where, ok := item.Str("s3_key")
		if !ok {
			what = "at "
			where, ok = item.Str("current_sk")
		}
		generated, okGenerated := item.Int("generated_at")
		revalidate, okRevalidate := item.Int("revalidate_seconds")
		if ok && okGenerated && okRevalidate {
			version := ""
			if n, ok := item.Int("version"); ok {
				version = fmt.Sprintf(" version %d", n)
			}
			return fmt.Sprintf("%s%s generated %s fresh until %s%s", what, where, w.Second(generated),
				w.Second(generated+revalidate), version)
		}
	case "REQ":
		hash, ok := item.Str("request_hash")
		status, okStatus := item.Str("status")
		if ok && okStatus {
			s := fmt.Sprintf("%s with %s", status, hash)
			if body, ok := item.Str("result_s3_key"); ok {
				s += ", body " + body
			}
			return s
		}
	}
	return item.String()
}

// sdkRows is sdkRow for several rows.
func (w Words) sdkRows(items []map[string]types.AttributeValue) string {
	rows := make([]string, len(items))
	for i, item := range items {
		if w.Rows != nil && item != nil {
			rows[i] = w.place(nil, item) + " " + w.sdkRow(item)
			continue
		}
		sk, _ := item["sk"].(*types.AttributeValueMemberS)
		rows[i] = w.sdkRow(item)
		if sk != nil {
			rows[i] = sk.Value + " " + rows[i]
		}
	}
	return "[" + strings.Join(rows, "; ") + "]"
}

// sdkRow is row for the SDK's form of an item.
func (w Words) sdkRow(item map[string]types.AttributeValue) string {
	if item == nil {
		return "absent"
	}
	row, err := attr.ItemFromSDK(item)
	if err != nil {
		return err.Error()
	}
	return w.row(row)
}

// place returns the name of a row: META of /home.
func (w Words) place(table *string, key map[string]types.AttributeValue) string {
	if w.Rows != nil {
		item, err := attr.ItemFromSDK(key)
		if err != nil {
			return err.Error()
		}
		return w.Rows.Key(aws.ToString(table), item)
	}
	pk, _ := key["pk"].(*types.AttributeValueMemberS)
	sk, _ := key["sk"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return w.sdkRow(key)
	}
	return w.placeOf(pk.Value, sk.Value)
}

func (w Words) placeOf(pk, sk string) string {
	if key, ok := w.nameOf(pk); ok {
		pk = key
	}
	return sk + " of " + pk
}

// Change prints one entry of the change log.
func (w Words) Change(c ddbfake.Change) string {
	s := fmt.Sprintf("%s%s: %s => %s", w.Key(c), w.In(c.Region), w.row(c.Before), w.row(c.After))
	switch c.Cause {
	case ddbfake.CauseClient:
	case ddbfake.CauseTTL:
		s += " (by TTL)"
	case ddbfake.CauseReplica:
		s += " (from another region)"
	}
	return s
}

// Key returns the name of the row that has changed.
func (w Words) Key(c ddbfake.Change) string {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	switch {
	case w.Rows != nil:
		return w.Rows.Key(c.Table, c.Key)
	case pk == "" && sk == "": // a table with other keys
		return c.Key.String()
	}
	return w.placeOf(pk, sk)
}

// In prints a region: " in eu-west-1", or nothing if the table is only in the default region.
func (w Words) In(region string) string {
	switch {
	case w.Regions:
		return " in " + cmp.Or(region, ddbfake.DefaultRegion)
	case region == "" || region == ddbfake.DefaultRegion:
		return ""
	}
	return " in " + region
}

// Input prints a request.
func (w Words) Input(in any) string {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return "GetItem " + w.place(in.TableName, in.Key) + consistency(in.ConsistentRead)
	case *dynamodb.QueryInput:
		return "Query" + w.condition(in.KeyConditionExpression, in.ExpressionAttributeNames,
			in.ExpressionAttributeValues) + consistency(in.ConsistentRead) +
			w.after(in.TableName, in.ExclusiveStartKey)
	case *dynamodb.ScanInput:
		return "Scan" + w.after(in.TableName, in.ExclusiveStartKey)
	case *dynamodb.PutItemInput:
		return "PutItem " + w.place(in.TableName, in.Item) + " " + w.sdkRow(in.Item) +
			w.condition(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	case *dynamodb.UpdateItemInput:
		return "UpdateItem " + w.place(in.TableName, in.Key) + " " + aws.ToString(in.UpdateExpression) +
			w.condition(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	case *dynamodb.DeleteItemInput:
		return "DeleteItem " + w.place(in.TableName, in.Key) +
			w.condition(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	case *dynamodb.TransactWriteItemsInput:
		actions := make([]string, len(in.TransactItems))
		for i, action := range in.TransactItems {
			actions[i] = w.action(action)
		}
		return "TransactWriteItems [" + strings.Join(actions, "; ") + "]"
	case *dynamodb.TransactGetItemsInput:
		reads := make([]string, len(in.TransactItems))
		for i, read := range in.TransactItems {
			if read.Get != nil {
				reads[i] = w.place(read.Get.TableName, read.Get.Key)
			}
		}
		return "TransactGetItems [" + strings.Join(reads, "; ") + "]"
	case *dynamodb.BatchGetItemInput:
		return "BatchGetItem " + w.reads(in.RequestItems)
	case *dynamodb.BatchWriteItemInput:
		return "BatchWriteItem " + w.writes(in.RequestItems, w.sdkRow)
	case *dynamodb.ExecuteStatementInput:
		return "ExecuteStatement " + w.statement(in.Statement, in.Parameters)
	case *dynamodb.BatchExecuteStatementInput:
		statements := make([]string, len(in.Statements))
		for i := range in.Statements {
			statements[i] = w.statement(in.Statements[i].Statement, in.Statements[i].Parameters)
		}
		return "BatchExecuteStatement [" + strings.Join(statements, "; ") + "]"
	case *dynamodb.ExecuteTransactionInput:
		statements := make([]string, len(in.TransactStatements))
		for i := range in.TransactStatements {
			statements[i] = w.statement(in.TransactStatements[i].Statement, in.TransactStatements[i].Parameters)
		}
		return "ExecuteTransaction [" + strings.Join(statements, "; ") + "]"
	default:
		return strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", in), "*dynamodb."), "Input")
	}
}

// reads prints what a batch reads.
func (w Words) reads(tables map[string]types.KeysAndAttributes) string {
	var all []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		for _, key := range tables[table].Keys {
			all = append(all, w.place(&table, key)+consistency(tables[table].ConsistentRead))
		}
	}
	return "[" + strings.Join(all, "; ") + "]"
}

// writes prints what a batch writes; if row is nil, only the names of the rows.
func (w Words) writes(tables map[string][]types.WriteRequest, row func(map[string]types.AttributeValue) string) string {
	var all []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		for _, r := range tables[table] {
			switch {
			case r.PutRequest != nil:
				put := "Put " + w.place(&table, r.PutRequest.Item)
				if row != nil {
					put += " " + row(r.PutRequest.Item)
				}
				all = append(all, put)
			case r.DeleteRequest != nil:
				all = append(all, "Delete "+w.place(&table, r.DeleteRequest.Key))
			}
		}
	}
	return "[" + strings.Join(all, "; ") + "]"
}

// after prints where a page begins, unless it is the first one.
func (w Words) after(table *string, start map[string]types.AttributeValue) string {
	if start == nil {
		return ""
	}
	return " after " + w.place(table, start)
}

// more prints that a page is not the last one.
func more(is bool) string {
	if is {
		return " and a next page"
	}
	return ""
}

// statement prints a PartiQL statement with its parameters.
func (w Words) statement(text *string, parameters []types.AttributeValue) string {
	values := make([]string, len(parameters))
	for i, v := range parameters {
		values[i] = w.value(v)
	}
	if len(values) == 0 {
		return aws.ToString(text)
	}
	return aws.ToString(text) + " {" + strings.Join(values, " ") + "}"
}

func consistency(consistent *bool) string {
	if aws.ToBool(consistent) {
		return ""
	}
	return " (eventually consistent)"
}

func (w Words) action(a types.TransactWriteItem) string {
	switch {
	case a.Put != nil:
		return "Put " + w.place(a.Put.TableName, a.Put.Item) + " " + w.sdkRow(a.Put.Item) +
			w.condition(a.Put.ConditionExpression, a.Put.ExpressionAttributeNames, a.Put.ExpressionAttributeValues)
	case a.Delete != nil:
		return "Delete " + w.place(a.Delete.TableName, a.Delete.Key) +
			w.condition(a.Delete.ConditionExpression, a.Delete.ExpressionAttributeNames,
				a.Delete.ExpressionAttributeValues)
	case a.Update != nil:
		return "Update " + w.place(a.Update.TableName, a.Update.Key) + " " + aws.ToString(a.Update.UpdateExpression) +
			w.condition(a.Update.ConditionExpression, a.Update.ExpressionAttributeNames,
				a.Update.ExpressionAttributeValues)
	case a.ConditionCheck != nil:
		return "ConditionCheck " + w.place(a.ConditionCheck.TableName, a.ConditionCheck.Key) +
			w.condition(a.ConditionCheck.ConditionExpression, a.ConditionCheck.ExpressionAttributeNames,
				a.ConditionCheck.ExpressionAttributeValues)
	default:
		return "nothing"
	}
}

func (w Words) condition(condition *string, names map[string]string, values map[string]types.AttributeValue) string {
	if condition == nil {
		return ""
	}
	var where []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		where = append(where, name+"="+names[name])
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		where = append(where, name+"="+w.value(values[name]))
	}
	s := " if " + *condition
	if len(where) > 0 {
		s += " {" + strings.Join(where, " ") + "}"
	}
	return s
}

func (w Words) value(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if name, ok := w.nameOf(v.Value); ok {
			return name
		}
		return v.Value
	case *types.AttributeValueMemberN:
		if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
			if t, is := w.Rows.Time(n, w.Start); is {
				return w.Instant(t)
			}
			return w.Second(n)
		}
		return v.Value
	}
	own, err := attr.FromSDK(v)
	if err != nil {
		return err.Error()
	}
	return own.String()
}

// Outcome prints an answer or an error.
func (w Words) Outcome(out any, err error) string {
	if err == nil {
		switch out := out.(type) {
		case *dynamodb.GetItemOutput:
			return w.sdkRow(out.Item)
		case *dynamodb.QueryOutput:
			return w.sdkRows(out.Items) + more(out.LastEvaluatedKey != nil)
		case *dynamodb.ScanOutput:
			return "ok" + more(out.LastEvaluatedKey != nil)
		case *dynamodb.TransactGetItemsOutput:
			rows := make([]map[string]types.AttributeValue, len(out.Responses))
			for i := range out.Responses {
				rows[i] = out.Responses[i].Item
			}
			return w.sdkRows(rows)
		case *dynamodb.BatchGetItemOutput:
			var rows []map[string]types.AttributeValue
			for _, table := range slices.Sorted(maps.Keys(out.Responses)) {
				rows = append(rows, out.Responses[table]...)
			}
			if len(out.UnprocessedKeys) > 0 {
				return w.sdkRows(rows) + ", undone: " + w.reads(out.UnprocessedKeys)
			}
			return w.sdkRows(rows)
		case *dynamodb.BatchWriteItemOutput:
			if len(out.UnprocessedItems) > 0 {
				return "ok, undone: " + w.writes(out.UnprocessedItems, nil)
			}
			return "ok"
		case *dynamodb.ExecuteStatementOutput:
			if len(out.Items) > 0 {
				return w.sdkRows(out.Items) + more(out.NextToken != nil)
			}
			return "ok" + more(out.NextToken != nil)
		default:
			return "ok"
		}
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		codes := make([]string, len(cancelled.CancellationReasons))
		for i, reason := range cancelled.CancellationReasons {
			codes[i] = aws.ToString(reason.Code)
		}
		return "TransactionCanceledException [" + strings.Join(codes, ", ") + "]"
	}
	if condition, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && condition.Item != nil {
		return "ConditionalCheckFailedException, row: " + w.sdkRow(condition.Item)
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	if _, ok := errors.AsType[*ddbfake.NetworkError](err); ok {
		return "connection lost"
	}
	return err.Error()
}
