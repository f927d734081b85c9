package conformance

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"
)

// Answers are compared as text, so that a reader sees exactly what a case expects.
//
//	ok                               an answer with nothing in it
//	{n: 1, pk: "a", sk: "b"}         an item; names sorted, numbers as they came
//	nothing                          no item where one was asked for
//	2 of 3: {...} {...}; last {...}  a page: count, scanned count, items, key
//	[{...} nothing]                  what a transaction read
//	rows: {...} {...}; left of ...   what a batch read, by table
//	[{...} {...}]; more              the items of a statement, and a NextToken
//	Code: message {...}              an error, with the item that it carries
//	- Code: message {...}            one line for each cancellation reason
//	INSERT {...} new {...}           one line for each record of a stream: keys, images
//
// Sets have no order and are sorted, and so are the items of a batch and the partitions of a Scan; the rows of a
// partition keep their order. Transitional states (CREATING, ENABLING and so on) read as the state that follows: AWS
// does not promise how long they last.
const ok = "ok"

// answer prints the outcome of a request. It returns an error if err is not an answer of DynamoDB.
func answer(out any, err error) (string, error) {
	if err != nil {
		return errorText(err)
	}
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		return itemText(out.Item, "nothing") + capacityText(out.ConsumedCapacity), nil
	case *dynamodb.PutItemOutput:
		return itemText(out.Attributes, ok) + capacityText(out.ConsumedCapacity) +
			collectionText(out.ItemCollectionMetrics), nil
	case *dynamodb.UpdateItemOutput:
		return itemText(out.Attributes, ok) + capacityText(out.ConsumedCapacity) +
			collectionText(out.ItemCollectionMetrics), nil
	case *dynamodb.DeleteItemOutput:
		return itemText(out.Attributes, ok) + capacityText(out.ConsumedCapacity) +
			collectionText(out.ItemCollectionMetrics), nil
	case *dynamodb.QueryOutput:
		return pageText(out.Count, out.ScannedCount, out.Items, out.LastEvaluatedKey) +
			capacityText(out.ConsumedCapacity), nil
	case *dynamodb.ScanOutput:
		slices.SortStableFunc(out.Items, byPartition)
		return pageText(out.Count, out.ScannedCount, out.Items, out.LastEvaluatedKey) +
			capacityText(out.ConsumedCapacity), nil
	case *dynamodb.BatchGetItemOutput:
		return batchText(out) + capacitiesText(out.ConsumedCapacity), nil
	case *dynamodb.BatchWriteItemOutput:
		text := ok
		if out.UnprocessedItems == nil {
			text += "; no UnprocessedItems"
		}
		for _, table := range slices.Sorted(maps.Keys(out.UnprocessedItems)) {
			text += fmt.Sprintf("; left of %s: %d", table, len(out.UnprocessedItems[table]))
		}
		return text + capacitiesText(out.ConsumedCapacity) + collectionsText(out.ItemCollectionMetrics), nil
	case *dynamodb.TransactWriteItemsOutput:
		return ok + capacitiesText(out.ConsumedCapacity) + collectionsText(out.ItemCollectionMetrics), nil
	case *dynamodb.TransactGetItemsOutput:
		return responsesText(out.Responses) + capacitiesText(out.ConsumedCapacity), nil
	case *dynamodb.ExecuteStatementOutput:
		return statementText(out), nil
	case *dynamodb.BatchExecuteStatementOutput:
		return batchStatementText(out), nil
	case *dynamodb.ExecuteTransactionOutput:
		return responsesText(out.Responses) + capacitiesText(out.ConsumedCapacity), nil
	case *dynamodb.CreateTableOutput:
		return tableText(out.TableDescription), nil
	case *dynamodb.DescribeTableOutput:
		return tableText(out.Table), nil
	case *dynamodb.UpdateTableOutput:
		return "updating " + aws.ToString(out.TableDescription.TableName) + replicasText(out.TableDescription), nil
	case *dynamodb.DeleteTableOutput:
		return "deleted " + aws.ToString(out.TableDescription.TableName), nil
	case *dynamodb.ListTablesOutput:
		text := "[" + strings.Join(out.TableNames, " ") + "]"
		if out.LastEvaluatedTableName != nil {
			text += "; last " + *out.LastEvaluatedTableName
		}
		return text, nil
	case *dynamodb.TagResourceOutput, *dynamodb.UntagResourceOutput:
		return ok, nil
	case *dynamodb.ListTagsOfResourceOutput:
		return tagsText(out), nil
	case *dynamodb.DescribeLimitsOutput:
		return fmt.Sprintf("limits of the account: %t, of a table: %t",
			aws.ToInt64(out.AccountMaxReadCapacityUnits) > 0 && aws.ToInt64(out.AccountMaxWriteCapacityUnits) > 0,
			aws.ToInt64(out.TableMaxReadCapacityUnits) > 0 && aws.ToInt64(out.TableMaxWriteCapacityUnits) > 0), nil
	case *dynamodb.DescribeEndpointsOutput:
		e := out.Endpoints[0]
		return fmt.Sprintf("an address: %t, good for %d minutes", aws.ToString(e.Address) != "",
			e.CachePeriodInMinutes), nil
	case *dynamodb.DescribeContinuousBackupsOutput:
		d := out.ContinuousBackupsDescription
		return fmt.Sprintf("backups %s, point in time %s", d.ContinuousBackupsStatus,
			d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus), nil
	case *dynamodb.UpdateContinuousBackupsOutput:
		d := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
		return fmt.Sprintf("point in time %s for %d days", d.PointInTimeRecoveryStatus,
			aws.ToInt32(d.RecoveryPeriodInDays)), nil
	case *dynamodb.DescribeContributorInsightsOutput:
		return fmt.Sprintf("insights %s", out.ContributorInsightsStatus), nil
	case *dynamodb.DescribeKinesisStreamingDestinationOutput:
		return fmt.Sprintf("destinations: %d", len(out.KinesisDataStreamDestinations)), nil
	case *dynamodb.ListBackupsOutput:
		return backupsText(out), nil
	case *dynamodb.CreateBackupOutput:
		return backupText(out.BackupDetails), nil
	case *dynamodb.DescribeBackupOutput:
		return backupDescriptionText(out.BackupDescription), nil
	case *dynamodb.DeleteBackupOutput:
		return backupText(out.BackupDescription.BackupDetails), nil
	case *dynamodb.RestoreTableFromBackupOutput:
		return restoringText(out.TableDescription), nil
	case *dynamodb.RestoreTableToPointInTimeOutput:
		return restoringText(out.TableDescription), nil
	case *types.PointInTimeRecoveryDescription:
		return fmt.Sprintf("from %s to %s", instantText(out.EarliestRestorableDateTime),
			instantText(out.LatestRestorableDateTime)), nil
	case *dynamodb.ListExportsOutput:
		return fmt.Sprintf("exports: %d", len(out.ExportSummaries)), nil
	case *dynamodb.ListGlobalTablesOutput:
		return fmt.Sprintf("global tables: %d", len(out.GlobalTables)), nil
	case *dynamodb.ListImportsOutput:
		return fmt.Sprintf("imports: %d", len(out.ImportSummaryList)), nil
	case *dynamodb.UpdateTimeToLiveOutput:
		s := out.TimeToLiveSpecification
		return fmt.Sprintf("ttl %s %t", aws.ToString(s.AttributeName), aws.ToBool(s.Enabled)), nil
	case *dynamodb.DescribeTimeToLiveOutput:
		d := out.TimeToLiveDescription
		status := strings.Replace(string(d.TimeToLiveStatus), "ABLING", "ABLED", 1)
		return strings.TrimSpace("ttl " + status + " " + aws.ToString(d.AttributeName)), nil
	case *dynamodbstreams.ListStreamsOutput:
		return streamsText(out), nil
	case *dynamodbstreams.DescribeStreamOutput:
		return streamDescriptionText(out.StreamDescription), nil
	case *dynamodbstreams.GetShardIteratorOutput:
		return fmt.Sprintf("an iterator: %t", out.ShardIterator != nil), nil
	case *dynamodbstreams.GetRecordsOutput:
		return recordsText(out), nil
	case recordBytes:
		return sizesText(out), nil
	}
	return "", fmt.Errorf("conformance: no text for a %T", out)
}

// The service echoes lists and maps of a request in an error, in Java's notation and in full. These echoes are not
// compared.
var (
	echoedList = regexp.MustCompile(`(?s)Value '?\[.+\]'? at`)
	echoedMap  = regexp.MustCompile(`(?s)Value '\{.+\}' at 'requestItems'`)
)

func errorText(err error) (string, error) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return "", err
	}
	text := api.ErrorCode() + ": " + echoedList.ReplaceAllString(api.ErrorMessage(), "Value '[...]' at")
	text = echoedMap.ReplaceAllString(text, "Value '{...}' at 'requestItems'")
	var condition *types.ConditionalCheckFailedException
	var cancelled *types.TransactionCanceledException
	switch {
	case errors.As(err, &condition) && condition.Item != nil:
		text += " " + itemText(condition.Item, "")
	case errors.As(err, &cancelled):
		for _, r := range cancelled.CancellationReasons {
			text += "\n- " + aws.ToString(r.Code)
			if r.Message != nil {
				text += ": " + *r.Message
			}
			if r.Item != nil {
				text += " " + itemText(r.Item, "")
			}
		}
	}
	return text, nil
}

func pageText(
	count, scanned int32, items []map[string]types.AttributeValue, last map[string]types.AttributeValue,
) string {
	text := fmt.Sprintf("%d of %d", count, scanned)
	for i, item := range items {
		if i == 0 {
			text += ":"
		}
		text += " " + itemText(item, "")
	}
	if last != nil {
		text += "; last " + itemText(last, "")
	}
	return text
}

// responsesText prints what a transaction read.
func responsesText(responses []types.ItemResponse) string {
	var items []string
	for _, r := range responses {
		items = append(items, itemText(r.Item, "nothing"))
	}
	return "[" + strings.Join(items, " ") + "]"
}

// statementText prints the items of a statement, and whether there are more.
func statementText(out *dynamodb.ExecuteStatementOutput) string {
	var items []string
	for _, item := range out.Items {
		items = append(items, itemText(item, ""))
	}
	text := "[" + strings.Join(items, " ") + "]"
	if out.Items == nil {
		text = "no Items"
	}
	if out.NextToken != nil {
		text += "; more"
	}
	return text + capacityText(out.ConsumedCapacity)
}

// batchStatementText prints the answers of a batch, each with its table if it has one.
func batchStatementText(out *dynamodb.BatchExecuteStatementOutput) string {
	var texts []string
	for _, r := range out.Responses {
		text := itemText(r.Item, "nothing")
		if r.TableName != nil {
			text = *r.TableName + ": " + text
		}
		if r.Error != nil {
			text += " " + string(r.Error.Code) + ": " + aws.ToString(r.Error.Message)
			if r.Error.Item != nil {
				text += " " + itemText(r.Error.Item, "")
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n") + capacitiesText(out.ConsumedCapacity)
}

// byPartition orders items by the usual partition key. Items without it keep their positions.
func byPartition(a, b map[string]types.AttributeValue) int {
	return cmp.Compare(valueText(a["pk"]), valueText(b["pk"]))
}

// batchText prints the items that a batch read, by table.
func batchText(out *dynamodb.BatchGetItemOutput) string {
	var parts []string
	for _, table := range slices.Sorted(maps.Keys(out.Responses)) {
		var items []string
		for _, item := range out.Responses[table] {
			items = append(items, itemText(item, ""))
		}
		slices.Sort(items)
		if len(items) == 0 {
			items = []string{"nothing"}
		}
		parts = append(parts, table+": "+strings.Join(items, " "))
	}
	if out.UnprocessedKeys == nil {
		parts = append(parts, "no UnprocessedKeys")
	}
	for _, table := range slices.Sorted(maps.Keys(out.UnprocessedKeys)) {
		left := out.UnprocessedKeys[table]
		parts = append(parts, fmt.Sprintf("left of %s: %d, consistent %t, only %q", table, len(left.Keys),
			aws.ToBool(left.ConsistentRead), aws.ToString(left.ProjectionExpression)))
	}
	return strings.Join(parts, "; ")
}

func tableText(t *types.TableDescription) string {
	kinds := map[string]types.ScalarAttributeType{}
	for _, d := range t.AttributeDefinitions {
		kinds[aws.ToString(d.AttributeName)] = d.AttributeType
	}
	keys := keysText(t.KeySchema, kinds)
	billing := "PROVISIONED"
	if t.BillingModeSummary != nil {
		billing = string(t.BillingModeSummary.BillingMode)
		if billing == "PROVISIONED" && t.BillingModeSummary.LastUpdateToPayPerRequestDateTime != nil {
			billing += " once on demand"
		}
	}
	units := ""
	if p := t.ProvisionedThroughput; p != nil {
		units = fmt.Sprintf(" %d/%d", aws.ToInt64(p.ReadCapacityUnits), aws.ToInt64(p.WriteCapacityUnits))
	}
	return fmt.Sprintf("table %s (%s) %s%s", aws.ToString(t.TableName), keys, billing, units) + indexesText(t) +
		streamText(t) + settingsText(t) + replicasText(t)
}

// settingsText prints encryption and throughput, except the usual values.
func settingsText(t *types.TableDescription) string {
	var text strings.Builder
	if s := t.SSEDescription; s != nil {
		key := aws.ToString(s.KMSMasterKeyArn)
		if strings.HasPrefix(key, "arn:aws:kms:") {
			key = "some key"
		}
		fmt.Fprintf(&text, "; encrypted %s %s %s", s.Status, s.SSEType, key)
	}
	if c := t.OnDemandThroughput; c != nil {
		fmt.Fprintf(&text, "; at most %d/%d", aws.ToInt64(c.MaxReadRequestUnits), aws.ToInt64(c.MaxWriteRequestUnits))
	}
	if w := t.WarmThroughput; w != nil {
		read, write := aws.ToInt64(w.ReadUnitsPerSecond), aws.ToInt64(w.WriteUnitsPerSecond)
		p := t.ProvisionedThroughput
		if units := p != nil && read == aws.ToInt64(p.ReadCapacityUnits) &&
			write == aws.ToInt64(p.WriteCapacityUnits); !units && (read != 12000 || write != 4000) {
			fmt.Fprintf(&text, "; warm %d/%d %s", read, write, w.Status)
		}
	}
	return text.String()
}

func keysText(keys []types.KeySchemaElement, kinds map[string]types.ScalarAttributeType) string {
	var parts []string
	for _, k := range keys {
		name := aws.ToString(k.AttributeName)
		parts = append(parts, fmt.Sprintf("%s %s %s", name, kinds[name], k.KeyType))
	}
	return strings.Join(parts, ", ")
}

// indexesText prints a table's indexes by name: AWS promises no order. Units are shown if there are any.
func indexesText(t *types.TableDescription) string {
	kinds := map[string]types.ScalarAttributeType{}
	for _, d := range t.AttributeDefinitions {
		kinds[aws.ToString(d.AttributeName)] = d.AttributeType
	}
	var texts []string
	add := func(
		name *string, keys []types.KeySchemaElement, p *types.Projection, units *types.ProvisionedThroughputDescription,
	) {
		text := fmt.Sprintf("; %s (%s) %s", aws.ToString(name), keysText(keys, kinds), p.ProjectionType)
		if p.NonKeyAttributes != nil {
			text += " " + strings.Join(slices.Sorted(slices.Values(p.NonKeyAttributes)), " ")
		}
		if units != nil && aws.ToInt64(units.ReadCapacityUnits) > 0 {
			text += fmt.Sprintf(" %d/%d", *units.ReadCapacityUnits, aws.ToInt64(units.WriteCapacityUnits))
		}
		texts = append(texts, text)
	}
	for _, x := range t.GlobalSecondaryIndexes {
		add(x.IndexName, x.KeySchema, x.Projection, x.ProvisionedThroughput)
	}
	for _, x := range t.LocalSecondaryIndexes {
		add(x.IndexName, x.KeySchema, x.Projection, nil)
	}
	slices.Sort(texts)
	return strings.Join(texts, "")
}

// tagsText prints tags, sorted: AWS promises no order.
func tagsText(out *dynamodb.ListTagsOfResourceOutput) string {
	var tags []string
	for _, tag := range out.Tags {
		tags = append(tags, quote(aws.ToString(tag.Key))+": "+quote(aws.ToString(tag.Value)))
	}
	slices.Sort(tags)
	text := "[" + strings.Join(tags, ", ") + "]"
	if out.NextToken != nil {
		text += "; more"
	}
	return text
}

// capacityText prints the consumed capacity: all units, then the read and write units, then those of the table.
func capacityText(c *types.ConsumedCapacity) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("; %v units", aws.ToFloat64(c.CapacityUnits))
	if c.ReadCapacityUnits != nil {
		text += fmt.Sprintf(", %v read", *c.ReadCapacityUnits)
	}
	if c.WriteCapacityUnits != nil {
		text += fmt.Sprintf(", %v written", *c.WriteCapacityUnits)
	}
	if c.Table != nil {
		text += fmt.Sprintf(", %v of the table", aws.ToFloat64(c.Table.CapacityUnits))
	}
	for _, indexes := range []map[string]types.Capacity{c.GlobalSecondaryIndexes, c.LocalSecondaryIndexes} {
		for _, name := range slices.Sorted(maps.Keys(indexes)) {
			text += fmt.Sprintf(", %v of %s", aws.ToFloat64(indexes[name].CapacityUnits), name)
		}
	}
	return text
}

// capacitiesText prints the consumed capacity of several tables, sorted: AWS promises no order.
func capacitiesText(list []types.ConsumedCapacity) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = capacityText(&list[i])
	}
	slices.Sort(texts)
	return strings.Join(texts, "")
}

// collectionText prints the size of an item collection.
func collectionText(m *types.ItemCollectionMetrics) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf("; collection %s of %v GB", itemText(m.ItemCollectionKey, "nothing"), m.SizeEstimateRangeGB)
}

// collectionsText prints the collections of several tables, each table's sorted: AWS promises no order.
func collectionsText(m map[string][]types.ItemCollectionMetrics) string {
	text := ""
	for _, table := range slices.Sorted(maps.Keys(m)) {
		parts := make([]string, len(m[table]))
		for i := range m[table] {
			parts[i] = collectionText(&m[table][i])
		}
		slices.Sort(parts)
		text += "; " + table + strings.Join(parts, "")
	}
	return text
}

// itemText prints an item, or none for a missing one.
func itemText(item map[string]types.AttributeValue, none string) string {
	if item == nil {
		return none
	}
	var parts []string
	//isrsim:unordered sorted below
	for name, v := range item {
		parts = append(parts, name+": "+valueText(v))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

func valueText(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return quote(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return "0x" + hex.EncodeToString(v.Value)
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberM:
		return itemText(v.Value, "{}")
	case *types.AttributeValueMemberL:
		var parts []string
		for _, e := range v.Value {
			parts = append(parts, valueText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *types.AttributeValueMemberSS:
		return setText(v.Value, quote)
	case *types.AttributeValueMemberNS:
		return setText(v.Value, func(s string) string { return s })
	case *types.AttributeValueMemberBS:
		return setText(v.Value, func(b []byte) string { return "0x" + hex.EncodeToString(b) })
	}
	return fmt.Sprintf("%T", v)
}

// quote quotes a text. Of a long text it prints the length: the cases about limits have texts too long to read.
func quote(s string) string {
	const long = 64
	if len(s) > long {
		return fmt.Sprintf("%q...%d", s[:8], len(s))
	}
	return strconv.Quote(s)
}

func setText[E any](set []E, element func(E) string) string {
	var parts []string
	for _, e := range set {
		parts = append(parts, element(e))
	}
	slices.SortFunc(parts, cmp.Compare[string])
	return "<" + strings.Join(parts, ", ") + ">"
}
