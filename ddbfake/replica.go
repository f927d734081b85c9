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

// ReplicaLag returns the lag of eventually consistent reads: Options.ReplicaLag, or the argument of the latest
// SetReplicaLag.
func (db *DB) ReplicaLag() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.replicaLag
}

// eventually reports whether a call is an eventually consistent read. The reads of TransactGetItems never are.
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
	case *dynamodb.ExecuteStatementInput:
		reads, _ := readsBy(in.Statement)
		return reads && !aws.ToBool(in.ConsistentRead)
	case *dynamodb.BatchExecuteStatementInput:
		for i := range in.Statements {
			s := &in.Statements[i]
			if reads, _ := readsBy(s.Statement); reads && !aws.ToBool(s.ConsistentRead) {
				return true
			}
		}
	}
	return false
}

// behind reports whether the replica that serves a read may be behind.
func (db *DB) behind(r *request, consistentRead *bool) bool {
	return (db.replicaLag > 0 || r.stale) && !aws.ToBool(consistentRead)
}

// replica returns a table in the state of the replica that serves a read of some keys. The result is for reading only.
func (db *DB) replica(r *request, t *table, reads func(primaryKey) bool) *table {
	known := db.state.log.asOf(r.now.Add(-db.replicaLag), t.born)
	if r.stale {
		for seq, e := range db.state.log.backward {
			if seq <= known && e.of(t) && reads(e.row().key) {
				known = seq - 1
				break
			}
		}
	}
	return db.state.log.before(t, known)
}

// before returns the table as it was after the change with this Seq and before the next change.
func (l *changeLog) before(t *table, seq int) *table {
	was := t
	for at, e := range l.backward {
		if at <= seq {
			break
		}
		if !e.of(t) {
			continue
		}
		if was == t {
			was = t.copy()
		}
		now := was.get(e.row().key)
		switch {
		case e.before != nil:
			// A copy, because the second of its ttl may have been another one in the past.
			was.put(now, e.before.image(e.before.record, e.before.sizeBytes), nil, e.time)
		case now != nil:
			was.remove(now, nil)
		}
	}
	return was
}
