package scenario

import (
	"errors"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Mark names an event that a run can reach. A campaign that never reaches the marks of its scenario has tested nothing,
// and fails. [Marks] lists all marks, and docs/SCENARIOS.md explains them.
type Mark string

// Marks returns every mark in the order in which reports print them.
func Marks() []Mark { return slices.Clone(allMarks) }

var allMarks = func() []Mark {
	marks := []Mark{
		mark.Published, mark.ServedFresh, mark.LockTakenOver, mark.LockRefused, mark.PublishRefused, mark.OwnCommitMet,
		mark.ServedStale, mark.ExpiredRowRead, mark.TTLDeletion, mark.LeaseRefreshed,
		mark.RolledBack, mark.PageInvalidated, mark.RequestRepeated, mark.NodePaused, mark.NodeCrashed,
		mark.NodeRestarted, mark.ClockSet, mark.SkewBroken, mark.CutOff, mark.SlowAnswer, mark.OrphanTookPlace,
		mark.Replicated, mark.HoldTaken, mark.HoldContended, mark.HoldTakenOver, mark.HoldLost, mark.HoldExtended,
		mark.GuardedWritten, mark.GuardedRefused, mark.GuardedLate,
		mark.CallAnswered, mark.CallRepeated, mark.CallContended, mark.CallTakenOver,
		mark.CallOtherPayload, mark.EffectAgain,
	}
	for _, kind := range ddbfake.FaultKinds() {
		marks = append(marks, Mark(kind.String()))
	}
	for _, fault := range mark.DependencyFaults() {
		marks = append(marks, Mark(fault))
	}
	return marks
}()

// marks is a set of marks: the n-th bit is allMarks[n].
type marks uint64

var bitOfMark = func() map[Mark]marks {
	all := map[Mark]marks{}
	for n, m := range allMarks {
		all[m] = 1 << n
	}
	return all
}()

func (s marks) has(m Mark) bool { return s&bitOfMark[m] != 0 }

// all returns the marks in the order of allMarks.
func (s marks) all() []Mark {
	all := make([]Mark, 0, bits.OnesCount64(uint64(s)))
	for ; s != 0; s &= s - 1 {
		all = append(all, allMarks[bits.TrailingZeros64(uint64(s))])
	}
	return all
}

// mark notes that the run has reached m. After faults have stopped, a mark counts only if it says that there is
// something to judge.
func (w *world) mark(m Mark) {
	if !w.quiet || m == mark.Published || m == mark.ServedFresh {
		w.marks |= bitOfMark[m]
	}
}

// markCall notes the marks that a call and its answer show. changed is the number of rows that the call changed.
func (w *world) markCall(r *storeRequest, changed int) {
	if w.rows != nil {
		w.markOwn(r, changed)
		return
	}
	switch in := r.call.Input.(type) {
	case *dynamodb.GetItemInput:
		if out, ok := r.out.(*dynamodb.GetItemOutput); ok {
			if w.isExpired(out.Item) {
				w.mark(mark.ExpiredRowRead)
			}
			if out.Item != nil && isRequest(in.Key) && !r.node.asked {
				w.mark(mark.RequestRepeated)
			}
		}
	case *dynamodb.QueryInput:
		if out, ok := r.out.(*dynamodb.QueryOutput); ok && slices.ContainsFunc(out.Items, w.isExpired) {
			w.mark(mark.ExpiredRowRead)
		}
	case *dynamodb.PutItemInput:
		if row, ok := pagecache.Refused(r.err); isRequest(in.Item) {
			if ok && r.attempt == 1 && !r.twice && !r.node.asked {
				w.mark(mark.RequestRepeated)
			}
			r.node.asked = r.node.asked || changed > 0
		} else if ok {
			if w.metOwn(r, row,
				func(i map[string]types.AttributeValue) types.AttributeValue { return i["lease_token"] }) {
				w.mark(mark.OwnCommitMet)
				w.untold.met(r.call.Actor)
			} else {
				w.markRefusal(in.Item, true)
			}
		}
	case *dynamodb.UpdateItemInput:
		if _, ok := pagecache.Refused(r.err); ok && !invalidates(in) {
			w.markRefusal(in.Key, writesToken(in))
		}
	case *dynamodb.ExecuteStatementInput:
		w.markStatement(r, in)
	case *dynamodb.TransactWriteItemsInput, *dynamodb.ExecuteTransactionInput:
		if _, ok := pagecache.Refused(r.err); ok {
			w.mark(mark.PublishRefused)
		}
	}
}

// metOwn says whether a refused put was sent twice, and was refused for the row that it had written itself. The
// parameter row is the row for which it was refused. It is nil if the writer has not asked for this row, which SDKs
// before 2023 cannot do. Then metOwn searches the table's rows. The function token returns the token of a row.
func (w *world) metOwn(r *storeRequest, row map[string]types.AttributeValue,
	token func(map[string]types.AttributeValue) types.AttributeValue) bool {
	in, ok := r.call.Input.(*dynamodb.PutItemInput)
	if !ok || r.attempt == 1 && !r.twice {
		return false
	}
	own := token(in.Item)
	if row != nil {
		return equalText(token(row), own)
	}
	return slices.ContainsFunc(w.db.Items(aws.ToString(in.TableName)),
		func(item attr.Item) bool { return equalText(token(item.ToSDK()), own) })
}

// isRequest says whether a key, or an item, belongs to a REQ row.
func isRequest(item map[string]types.AttributeValue) bool {
	sk, _ := item["sk"].(*types.AttributeValueMemberS)
	return sk != nil && strings.HasPrefix(sk.Value, requestRows)
}

// requestRows and versionRows are the beginnings of the sort keys of REQ and VER rows.
const requestRows, versionRows = "REQ#", "VER#"

// markRefusal notes that a write of one row was refused. A write of LOCK that sets a token is an acquire. Any other
// write of LOCK is a refresh or a release.
func (w *world) markRefusal(key map[string]types.AttributeValue, acquires bool) {
	switch sk, _ := key["sk"].(*types.AttributeValueMemberS); {
	case sk == nil:
	case sk.Value == isr.SortMeta:
		w.mark(mark.PublishRefused)
	case sk.Value == isr.SortLock && acquires:
		w.mark(mark.LockRefused)
	}
}

// invalidates says whether an update of META sets nothing but numbers. A publish sets a name, too.
func invalidates(in *dynamodb.UpdateItemInput) bool {
	if sk, _ := in.Key["sk"].(*types.AttributeValueMemberS); sk == nil || sk.Value != isr.SortMeta {
		return false
	}
	//isrsim:unordered any of them will do
	for _, value := range in.ExpressionAttributeValues {
		if _, ok := value.(*types.AttributeValueMemberS); ok {
			return false
		}
	}
	return true
}

// writesToken says whether an update names lease_token in its expression.
func writesToken(in *dynamodb.UpdateItemInput) bool {
	expression := aws.ToString(in.UpdateExpression)
	if strings.Contains(expression, "lease_token") {
		return true
	}
	//isrsim:unordered any of them will do
	for alias, name := range in.ExpressionAttributeNames {
		if name == "lease_token" && strings.Contains(expression, alias) {
			return true
		}
	}
	return false
}

// markChange notes the marks that a change of a row shows.
func (w *world) markChange(c *ddbfake.Change) {
	switch c.Cause {
	case ddbfake.CauseTTL:
		w.mark(mark.TTLDeletion)
	case ddbfake.CauseReplica: // what its writer did was marked when the write was made
		w.mark(mark.Replicated)
		return
	}
	if !w.marks.has(mark.Published) && invariant.Publishes(c) {
		w.mark(mark.Published)
	}
	if sk, _ := c.Key.Str("sk"); sk != isr.SortLock || c.Before == nil || c.After == nil {
		return
	}
	before, _ := c.Before.Str("lease_token")
	after, _ := c.After.Str("lease_token")
	if before == after {
		w.mark(mark.LeaseRefreshed)
	} else {
		w.mark(mark.LockTakenOver)
	}
}

// markRollback marks that a rollback by an actor is over, if the actor has made a page show another generation since
// the rollback began.
func (w *world) markRollback(actor string) {
	events := w.history.Events()
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Kind != history.RollingBack || e.Actor != actor {
			continue
		}
		if slices.ContainsFunc(w.changes(), func(c ddbfake.Change) bool {
			return c.Seq > e.Change && c.Actor == actor && invariant.Publishes(&c)
		}) {
			w.mark(mark.RolledBack)
		}
		return
	}
}

// isExpired says whether a row that a client still reads could already be deleted by TTL.
func (w *world) isExpired(row map[string]types.AttributeValue) bool {
	ttl, ok := row["ttl"].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	expires, err := strconv.ParseInt(ttl.Value, 10, 64)
	return err == nil && expires < w.clock.Now().Unix()
}

func equalText(a, b types.AttributeValue) bool {
	as, aok := a.(*types.AttributeValueMemberS)
	bs, bok := b.(*types.AttributeValueMemberS)
	return aok && bok && as.Value == bs.Value
}

// markOwn does the same as markCall for rows with names of their own.
func (w *world) markOwn(r *storeRequest, changed int) {
	row, refused := pagecache.Refused(r.err)
	isRequest := func(table *string, key map[string]types.AttributeValue) bool {
		_, roles := w.rows.place(table, key)
		return roles.Has(rowmap.Request)
	}
	switch in := r.call.Input.(type) {
	case *dynamodb.GetItemInput:
		out, ok := r.out.(*dynamodb.GetItemOutput)
		if ok && w.ownExpired(out.Item) {
			w.mark(mark.ExpiredRowRead)
		}
		if ok && out.Item != nil && isRequest(in.TableName, in.Key) && !r.node.asked {
			w.mark(mark.RequestRepeated)
		}
	case *dynamodb.QueryInput:
		if out, ok := r.out.(*dynamodb.QueryOutput); ok && slices.ContainsFunc(out.Items, w.ownExpired) {
			w.mark(mark.ExpiredRowRead)
		}
	case *dynamodb.PutItemInput:
		if isRequest(in.TableName, in.Item) {
			if refused && r.attempt == 1 && !r.twice && !r.node.asked {
				w.mark(mark.RequestRepeated)
			}
			r.node.asked = r.node.asked || changed > 0
			return
		}
		if !refused {
			return
		}
		if w.metOwn(r, row, w.rows.Token) {
			w.mark(mark.OwnCommitMet)
			w.untold.met(r.call.Actor)
			return
		}
		w.markRefused(in.TableName, in.Item, w.rows.Writes(aws.ToString(in.TableName), in.Item, nil, nil))
	case *dynamodb.UpdateItemInput:
		if refused {
			w.markRefused(in.TableName, in.Key,
				w.rows.Writes(aws.ToString(in.TableName), in.Key, in.UpdateExpression, in.ExpressionAttributeNames))
		}
	case *dynamodb.ExecuteStatementInput:
		w.markStatement(r, in)
	case *dynamodb.TransactWriteItemsInput, *dynamodb.ExecuteTransactionInput:
		if refused {
			w.mark(mark.PublishRefused)
		}
	}
}

// markStatement notes that a statement of PartiQL was refused: a write with a condition, or an INSERT of a row that was
// there.
func (w *world) markStatement(r *storeRequest, in *dynamodb.ExecuteStatementInput) {
	_, refused := pagecache.Refused(r.err)
	_, there := errors.AsType[*types.DuplicateItemException](r.err)
	if !refused && !there {
		return
	}
	sets, _, _ := strings.Cut(strings.ReplaceAll(aws.ToString(in.Statement), `"`, ""), " WHERE ")
	inside.In(&w.db).Rows(r.call, func(table string, row map[string]types.AttributeValue) {
		switch {
		case w.rows == nil:
			w.markRefusal(row, strings.Contains(sets, "lease_token"))
		case there:
			w.markRefused(&table, row, w.rows.Writes(table, row, nil, nil))
		default:
			w.markRefused(&table, row, w.rows.Writes(table, row, &sets, nil))
		}
	})
}

// markRefused notes that a write that would have set a page or a lock was refused. A write that sets both counts as a
// publish. If a schema's function reads the rows, it is not known which of the two a write sets. If the row may be
// both, the write counts as both.
func (w *world) markRefused(table *string, key map[string]types.AttributeValue, sets rowmap.Roles) {
	_, roles := w.rows.place(table, key)
	switch {
	case sets == 0 && w.rows.Guesses() && roles.Has(rowmap.Page|rowmap.Lock):
		w.mark(mark.PublishRefused)
		w.mark(mark.LockRefused)
	case sets == 0 && w.rows.Guesses():
		w.markRefusedRole(roles)
	default:
		w.markRefusedRole(sets)
	}
}

func (w *world) markRefusedRole(sets rowmap.Roles) {
	switch {
	case sets.Has(rowmap.Page):
		w.mark(mark.PublishRefused)
	case sets.Has(rowmap.Lock):
		w.mark(mark.LockRefused)
	}
}

// ownExpired does the same as isExpired for rows with names of their own.
func (w *world) ownExpired(row map[string]types.AttributeValue) bool {
	ttl, ok := w.rows.TTL(row).(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	expires, err := strconv.ParseInt(ttl.Value, 10, 64)
	return err == nil && expires < w.clock.Now().Unix()
}
