package ddbfake

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// SetReplicaLag changes Options.ReplicaLag. A negative one counts as zero.
func (db *DB) SetReplicaLag(d time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.replicaLag = max(d, 0)
}

// ReplicaLag returns by how much eventually consistent reads lag:
// Options.ReplicaLag, or what SetReplicaLag has made of it.
func (db *DB) ReplicaLag() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.replicaLag
}

// eventually reports whether a call is an eventually consistent read. The
// reads of TransactGetItems never are.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
func eventually(in any) bool {
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.QueryInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.ScanInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.BatchGetItemInput:
		//isrsim:unordered one of them is enough
		for _, t := range in.RequestItems {
			if !aws.ToBool(t.ConsistentRead) {
				return true
			}
		}
	}
	return false
}

// behind reports whether a replica that may be behind serves a read.
func (db *DB) behind(r *request, consistentRead *bool) bool {
	return (db.replicaLag > 0 || r.stale) && !aws.ToBool(consistentRead)
}

// replica returns a table as the replica that serves a read of some keys has
// heard of it. The result is for reading only.
func (db *DB) replica(r *request, t *table, reads func(primaryKey) bool) *table {
	log := db.state.log.since(t.born)
	heard := len(log)
	for heard > 0 && log[heard-1].Time.After(r.now.Add(-db.replicaLag)) {
		heard--
	}
	if r.stale {
		for i := heard; i > 0; i-- {
			if t.changed(&log[i-1]) && reads(t.keyOf(&log[i-1])) {
				heard = i - 1
				break
			}
		}
	}
	return t.before(log[heard:])
}

// before returns the table as it was before the last changes of the log.
func (t *table) before(changes []Change) *table {
	was := t
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		if !t.changed(c) {
			continue
		}
		if was == t {
			was = t.copy()
		}
		key := was.keyOf(c)
		now := was.get(key)
		switch {
		case c.Before != nil:
			was.put(now, &row{key: key, id: c.Key, item: c.Before, sizeBytes: c.Before.Size()}, c.Time)
		case now != nil:
			was.remove(now)
		}
	}
	return was
}

// changed reports whether a change was one of this table.
func (t *table) changed(c *Change) bool { return c.Table == t.name && c.Region == t.region }

// keyOf returns the key of a row of this table that changed.
func (t *table) keyOf(c *Change) primaryKey {
	key, _ := t.schema.ofItem(c.Key) // it was this table's when it was logged
	return key
}
