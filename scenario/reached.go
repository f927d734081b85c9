package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// mark notes that the run has reached m. After faults have stopped, only the marks count which say that there is
// something to be judged.
func (w *world) mark(m Mark) {
	if !w.quiet || m == Published || m == ServedFresh {
		w.marks[m] = true
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
				w.mark(ExpiredRowRead)
			}
			if out.Item != nil && isRequest(in.Key) && !r.node.asked {
				w.mark(RequestRepeated)
			}
		}
	case *dynamodb.QueryInput:
		if out, ok := r.out.(*dynamodb.QueryOutput); ok && slices.ContainsFunc(out.Items, w.isExpired) {
			w.mark(ExpiredRowRead)
		}
	case *dynamodb.PutItemInput:
		if row, ok := pagecache.Refused(r.err); isRequest(in.Item) {
			if ok && r.attempt == 1 && !r.twice && !r.node.asked {
				w.mark(RequestRepeated)
			}
			r.node.asked = r.node.asked || changed > 0
		} else if ok {
			if w.metOwn(r, row, func(i map[string]types.AttributeValue) types.AttributeValue { return i["lease_token"] }) {
				w.mark(OwnCommitMet)
			} else {
				w.markRefusal(in.Item, true)
			}
		}
	case *dynamodb.UpdateItemInput:
		if _, ok := pagecache.Refused(r.err); ok && !invalidates(in) {
			w.markRefusal(in.Key, writesToken(in))
		}
	case *dynamodb.TransactWriteItemsInput:
		if _, ok := pagecache.Refused(r.err); ok {
			w.mark(PublishRefused)
		}
	}
}

// metOwn says whether a put that was refused was sent again, and has met the row that it has written before. row is what
// the condition met, nil if the writer has not asked for it, as SDKs before 2023 cannot: then it is one of the table's.
// token returns the token of a row.
func (w *world) metOwn(r *storeRequest, row map[string]types.AttributeValue, token func(map[string]types.AttributeValue) types.AttributeValue) bool {
	in, ok := r.call.Input.(*dynamodb.PutItemInput)
	if !ok || r.attempt == 1 && !r.twice {
		return false
	}
	own := token(in.Item)
	if row != nil {
		return equalText(token(row), own)
	}
	return slices.ContainsFunc(w.db.Items(aws.ToString(in.TableName)), func(item attr.Item) bool { return equalText(token(item.ToSDK()), own) })
}

// isRequest says whether a key, or an item, is that of a REQ row.
func isRequest(item map[string]types.AttributeValue) bool {
	sk, _ := item["sk"].(*types.AttributeValueMemberS)
	return sk != nil && strings.HasPrefix(sk.Value, requestRows)
}

// requestRows is how the sort keys of REQ rows begin.
const requestRows = "REQ#"

// markRefusal notes that a write of one row was refused. A write of LOCK that sets a token is an acquire; any other, a
// refresh or a release.
func (w *world) markRefusal(key map[string]types.AttributeValue, acquires bool) {
	switch sk, _ := key["sk"].(*types.AttributeValueMemberS); {
	case sk == nil:
	case sk.Value == isr.SortMeta:
		w.mark(PublishRefused)
	case sk.Value == isr.SortLock && acquires:
		w.mark(LockRefused)
	}
}

// invalidates says whether an update is about META, and sets nothing but numbers: a publish names its page.
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
	if c.Cause == ddbfake.CauseTTL {
		w.mark(TTLDeletion)
	}
	if !w.marks[Published] && invariant.Publishes(c) {
		w.mark(Published)
	}
	if sk, _ := c.Key.Str("sk"); sk != isr.SortLock || c.Before == nil || c.After == nil {
		return
	}
	before, _ := c.Before.Str("lease_token")
	after, _ := c.After.Str("lease_token")
	if before == after {
		w.mark(LeaseRefreshed)
	} else {
		w.mark(LockTakenOver)
	}
}

// isExpired says whether TTL may have deleted a row that a client still reads.
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
