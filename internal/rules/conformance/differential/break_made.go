package differential

import "strings"

// alters is a fault of a request about tables, TTL or streams: f breaks its body, and reports whether it could.
func alters(operations string, f func(d draws, body object) bool) func(draws, *broken) bool {
	return func(d draws, b *broken) bool {
		return contains(operations, b.request.Operation) && f(d, b.request.Body)
	}
}

// puts is alters for a member.
func puts(operations, member string, values ...any) func(draws, *broken) bool {
	return alters(operations, func(d draws, body object) bool {
		if body[member] = oneOf(d, member, values...); body[member] == nil {
			delete(body, member)
		}
		return true
	})
}

// inObject is alters for a member of an object in the body.
func inObject(operations, of, member string, values ...any) func(draws, *broken) bool {
	return alters(operations, func(d draws, body object) bool {
		o, ok := body[of].(object)
		if ok {
			if o[member] = oneOf(d, member, values...); o[member] == nil {
				delete(o, member)
			}
		}
		return ok
	})
}

// inIndex is alters for an index that a CreateTable or an UpdateTable creates.
func inIndex(member string, values ...any) func(draws, *broken) bool {
	return alters("CreateTable UpdateTable", func(d draws, body object) bool {
		made := list(body, "GlobalSecondaryIndexes")
		for _, u := range list(body, "GlobalSecondaryIndexUpdates") {
			if of, ok := u["Create"].(object); ok {
				made = append(made, of)
			}
		}
		if made == nil {
			return false
		}
		if made[0][member] = oneOf(d, member, values...); made[0][member] == nil {
			delete(made[0], member)
		}
		return true
	})
}

func definition(name, kind string) object {
	return object{"AttributeName": name, "AttributeType": kind}
}
func keyElement(name, kind string) object { return object{"AttributeName": name, "KeyType": kind} }

// madeFaults are the faults of requests about tables, TTL and streams.
var madeFaults = []weighted[fault]{
	{1, fault{"missing table to change",
		puts("UpdateTable DescribeTable DeleteTable "+onTTL, "TableName", "differential-none")}},
	{1, fault{"name of a table to change",
		puts(onTables+" "+onTTL, "TableName", "x!", "ab", strings.Repeat("n", 256), nil)}},
	{1, fault{"key schema", puts("CreateTable", "KeySchema", nil, []any{}, []any{keyElement("sk", "RANGE")},
		[]any{keyElement("pk", "HASH"), keyElement("pk", "RANGE")}, []any{keyElement("pk", "hash")},
		[]any{keyElement("zz", "HASH")},
		[]any{keyElement("pk", "HASH"), keyElement("sk", "RANGE"), keyElement("g", "RANGE")})}},
	{1, fault{"definitions", puts("CreateTable", "AttributeDefinitions", nil,
		[]any{definition("pk", "S"), definition("pk", "N")}, []any{definition("pk", "BOOL")},
		[]any{definition("pk", "S")})}},
	{1, fault{"definition too many", alters("CreateTable", func(_ draws, body object) bool {
		of, _ := body["AttributeDefinitions"].([]any)
		body["AttributeDefinitions"] = append(of[:len(of):len(of)], definition("spare", "S"))
		return true
	})}},
	{1, fault{"billing", puts("CreateTable UpdateTable", "BillingMode", "SOMETIMES")}},
	{1, fault{"units", puts("CreateTable UpdateTable", "ProvisionedThroughput",
		object{"ReadCapacityUnits": 0, "WriteCapacityUnits": 1}, object{"ReadCapacityUnits": 1},
		object{"ReadCapacityUnits": -1, "WriteCapacityUnits": -1})}},
	{1, fault{"no units", func(_ draws, b *broken) bool {
		if b.request.Operation != "CreateTable" || b.request.Body["BillingMode"] != "PROVISIONED" {
			return false
		}
		delete(b.request.Body, "ProvisionedThroughput")
		return true
	}}},
	{1, fault{"table that is there", alters("CreateTable", func(_ draws, body object) bool {
		body["TableName"] = tables[0].name
		return true
	})}},
	{1, fault{"name of an index", inIndex("IndexName", "x!", "ab", nil)}},
	{1, fault{"projection", inIndex("Projection", nil, object{}, object{"ProjectionType": "SOME"},
		object{"ProjectionType": "INCLUDE"}, object{"ProjectionType": "ALL", "NonKeyAttributes": []any{"x"}})}},
	{1, fault{"key of an index", inIndex("KeySchema", nil, []any{keyElement("zz", "HASH")},
		[]any{keyElement("g", "RANGE")}, []any{keyElement("g", "HASH"), keyElement("g", "RANGE")})}},
	{3, fault{"nothing to change", alters("UpdateTable", func(_ draws, body object) bool {
		for _, name := range sortedKeys(body) {
			if name != "TableName" {
				delete(body, name)
			}
		}
		return true
	})}},
	{3, fault{"index that is not there to delete",
		puts("UpdateTable", "GlobalSecondaryIndexUpdates", []any{object{"Delete": object{"IndexName": "byNothing"}}})}},
	{3, fault{"change of no index", puts("UpdateTable", "GlobalSecondaryIndexUpdates", []any{}, []any{object{}})}},
	{3, fault{"view",
		inObject("CreateTable UpdateTable", "StreamSpecification", "StreamViewType", nil, "EVERYTHING", "KEYS_ONLY")}},
	{3, fault{"stream on or off",
		inObject("CreateTable UpdateTable", "StreamSpecification", "StreamEnabled", nil, false, true)}},
	{3, fault{"setting of TTL", puts("UpdateTimeToLive", "TimeToLiveSpecification", nil, object{},
		object{"AttributeName": "n"}, object{"Enabled": true}, object{"AttributeName": "", "Enabled": true},
		object{"AttributeName": strings.Repeat("t", 256), "Enabled": true})}},
	{3, fault{"ARN of a stream", puts("DescribeStream GetShardIterator", "StreamArn", nil, "short",
		strings.Repeat("nothing", 9), unseen[theStream])}},
	{3, fault{"shard", puts("GetShardIterator", "ShardId", nil, "short", unseen[theShard])}},
	{3, fault{"kind of iterator",
		puts("GetShardIterator", "ShardIteratorType", nil, "NEXT", "AT_SEQUENCE_NUMBER", "LATEST")}},
	{3, fault{"number",
		puts("GetShardIterator", "SequenceNumber", "1", "x", strings.Repeat("x", 30), strings.Repeat("9", 30))}},
	{3, fault{"iterator", puts("GetRecords", "ShardIterator", nil, "", "none", theStream+"|1|none")}},
	{3, fault{"limit of streams", puts("DescribeStream GetRecords", "Limit", 0, -1, 1001)}},
	{3, fault{"start of a description",
		puts("DescribeStream", "ExclusiveStartShardId", "short", strings.Repeat("z", 30))}},
}
