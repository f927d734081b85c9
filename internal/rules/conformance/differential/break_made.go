package differential

import "strings"

// alters is a fault of a whole request: f breaks its body, and reports whether it could.
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

// madeFaults are the faults of requests about tables, TTL and streams.
var madeFaults = []weighted[fault]{
	{4, fault{"missing table to change",
		puts("UpdateTable DescribeTable DeleteTable "+onTTL, "TableName", "differential-none")}},
	{4, fault{"table that is there", alters("CreateTable", func(_ draws, body object) bool {
		body["TableName"] = tables[0].name
		return true
	})}},
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
	{3, fault{"kind of iterator",
		puts("GetShardIterator", "ShardIteratorType", nil, "NEXT", "AT_SEQUENCE_NUMBER", "LATEST")}},
	{3, fault{"number",
		puts("GetShardIterator", "SequenceNumber", "1", "x", strings.Repeat("x", 30), strings.Repeat("9", 30))}},
	{3, fault{"iterator", puts("GetRecords", "ShardIterator", nil, "", "none", theStream+"|1|none")}},
}
