package kernel

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
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

var allMarks = spec.Marks()

// marks is a set of marks: the n-th bit is allMarks[n].
type marks uint64

var bitOfMark = func() map[spec.Mark]marks {
	all := map[spec.Mark]marks{}
	for n, m := range allMarks {
		all[m] = 1 << n
	}
	return all
}()

func (s marks) has(m spec.Mark) bool { return s&bitOfMark[m] != 0 }

// all returns the marks in the order of allMarks.
func (s marks) all() []spec.Mark {
	all := make([]spec.Mark, 0, bits.OnesCount64(uint64(s)))
	for ; s != 0; s &= s - 1 {
		all = append(all, allMarks[bits.TrailingZeros64(uint64(s))])
	}
	return all
}

// Mark notes that the run has reached a mark. After faults have stopped, a mark counts only if it says that there is
// something to judge.
func (w *world) Mark(name string) {
	if !w.quiet || name == mark.Published || name == mark.ServedFresh {
		w.marks |= bitOfMark[spec.Mark(name)]
	}
}

// markCall notes the marks that a call and its answer show. changed is the number of rows that the call changed.
func (w *world) markCall(r *storeRequest, changed int) {
	row, refused := pagecache.Refused(r.err)
	isRequest := func(table *string, key map[string]types.AttributeValue) bool {
		_, roles := w.rows.place(table, key)
		return roles.Has(rowmap.Request)
	}
	switch in := r.call.Input.(type) {
	case *dynamodb.GetItemInput:
		out, ok := r.out.(*dynamodb.GetItemOutput)
		if ok && w.isExpired(out.Item) {
			w.Mark(mark.ExpiredRowRead)
		}
		if ok && out.Item != nil && isRequest(in.TableName, in.Key) && !r.node.asked {
			w.Mark(mark.RequestRepeated)
		}
	case *dynamodb.QueryInput:
		if out, ok := r.out.(*dynamodb.QueryOutput); ok && slices.ContainsFunc(out.Items, w.isExpired) {
			w.Mark(mark.ExpiredRowRead)
		}
	case *dynamodb.PutItemInput:
		if isRequest(in.TableName, in.Item) {
			if refused && r.attempt == 1 && !r.twice && !r.node.asked {
				w.Mark(mark.RequestRepeated)
			}
			r.node.asked = r.node.asked || changed > 0
			return
		}
		if !refused {
			return
		}
		if w.metOwn(r, row, w.rows.mapping().Token) {
			w.Mark(mark.OwnCommitMet)
			w.untold.met(r.call.Actor)
			return
		}
		w.markRefused(in.TableName, in.Item, w.rows.mapping().Writes(aws.ToString(in.TableName), in.Item, nil, nil))
	case *dynamodb.UpdateItemInput:
		if refused && !w.invalidates(in) {
			w.markRefused(in.TableName, in.Key, w.rows.mapping().Writes(aws.ToString(in.TableName), in.Key,
				in.UpdateExpression, in.ExpressionAttributeNames))
		}
	case *dynamodb.ExecuteStatementInput, *dynamodb.BatchExecuteStatementInput:
		w.markStatements(r)
	case *dynamodb.TransactWriteItemsInput, *dynamodb.ExecuteTransactionInput:
		if refused {
			w.Mark(mark.PublishRefused)
		}
	}
}

// metOwn reports whether a put was sent twice, and was refused because of the row that it had written itself. The
// parameter row is the row in its way; it is nil if the writer did not ask for that row, which SDKs before 2023 cannot
// do. Then metOwn searches the table's rows. token returns the token of a row.
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

// invalidates says whether an update of a page's row sets nothing but numbers. A publish sets a name, too. It returns
// false for rows with the cache's own names.
func (w *world) invalidates(in *dynamodb.UpdateItemInput) bool {
	if _, roles := w.rows.place(in.TableName, in.Key); w.rows != nil || !roles.Has(rowmap.Page) {
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

// markChange notes the marks that a change of a row shows.
func (w *world) markChange(c *ddbfake.Change) {
	switch c.Cause {
	case ddbfake.CauseTTL:
		w.Mark(mark.TTLDeletion)
	case ddbfake.CauseReplica: // what its writer did was marked when the write was made
		w.Mark(mark.Replicated)
		return
	}
	if !w.marks.has(mark.Published) && invariant.Publishes(c) {
		w.Mark(mark.Published)
	}
	if sk, _ := c.Key.Str("sk"); rowmap.RoleOf(sk) != rowmap.Lock || c.Before == nil || c.After == nil {
		return
	}
	before, _ := c.Before.Str("lease_token")
	after, _ := c.After.Str("lease_token")
	if before == after {
		w.Mark(mark.LeaseRefreshed)
	} else {
		w.Mark(mark.LockTakenOver)
	}
}

// isExpired says whether a row that a client still reads could already have been deleted by TTL.
func (w *world) isExpired(row map[string]types.AttributeValue) bool {
	ttl, ok := w.rows.mapping().TTL(row).(*types.AttributeValueMemberN)
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

// markStatements notes which statements of PartiQL were refused.
func (w *world) markStatements(r *storeRequest) {
	switch in := r.call.Input.(type) {
	case *dynamodb.ExecuteStatementInput:
		_, refused := pagecache.Refused(r.err)
		_, there := errors.AsType[*types.DuplicateItemException](r.err)
		w.markStatement(r.call, in, refused, there)
	case *dynamodb.BatchExecuteStatementInput:
		out, ok := r.out.(*dynamodb.BatchExecuteStatementOutput)
		if !ok {
			return
		}
		for i, answer := range out.Responses {
			if answer.Error == nil {
				continue
			}
			one := &dynamodb.ExecuteStatementInput{
				Statement: in.Statements[i].Statement, Parameters: in.Statements[i].Parameters,
			}
			call := r.call
			call.Input = one
			w.markStatement(call, one, answer.Error.Code == types.BatchStatementErrorCodeEnumConditionalCheckFailed,
				answer.Error.Code == types.BatchStatementErrorCodeEnumDuplicateItem)
		}
	}
}

// markStatement notes that a statement was refused: a write with a condition, or an INSERT of a row that was there.
func (w *world) markStatement(call ddbfake.Call, in *dynamodb.ExecuteStatementInput, refused, there bool) {
	if !refused && !there {
		return
	}
	sets, _, _ := strings.Cut(strings.ReplaceAll(aws.ToString(in.Statement), `"`, ""), " WHERE ")
	w.db.Rows(call, func(table string, row map[string]types.AttributeValue) {
		switch {
		case there && w.rows != nil:
			w.markRefused(&table, row, w.rows.mapping().Writes(table, row, nil, nil))
		default:
			w.markRefused(&table, row, w.rows.mapping().Writes(table, row, &sets, nil))
		}
	})
}

// markRefused notes that a write that would have set a page or a lock was refused. A write that sets both counts as a
// publish. If a schema's function reads the rows, it is not known which of the two a write sets. If the row may be
// both, the write counts as both.
func (w *world) markRefused(table *string, key map[string]types.AttributeValue, sets rowmap.Roles) {
	_, roles := w.rows.place(table, key)
	switch {
	case sets == 0 && w.rows.mapping().Guesses() && roles.Has(rowmap.Page|rowmap.Lock):
		w.Mark(mark.PublishRefused)
		w.Mark(mark.LockRefused)
	case sets == 0 && w.rows.mapping().Guesses():
		w.markRefusedRole(roles)
	default:
		w.markRefusedRole(sets)
	}
}

func (w *world) markRefusedRole(sets rowmap.Roles) {
	switch {
	case sets.Has(rowmap.Page):
		w.Mark(mark.PublishRefused)
	case sets.Has(rowmap.Lock):
		w.Mark(mark.LockRefused)
	}
}
