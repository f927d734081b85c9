package pagecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Regenerate implements Regenerator: it makes and publishes the page, fresh or not, once for each Request. The same
// request again is served the page that was made for it, as long as Retention lasts. A request waits while another node
// is regenerating the page.
//
// ErrOtherInputs says that Request.ID was used with another Hash. A failed request is an error, whatever Config.Failure
// says: the page was not made, or this call cannot tell. Making the same request again finds out.
//
// A page that an earlier call made is served as fresh only while META leads to it and says that it is fresh.
func (c *Cache) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	if r.ID == "" {
		return isr.Served{}, errNoID
	}
	v := visit{Cache: c, key: key, forgets: storeop.HooksOf(ctx).Forget}
	for ; ; v.looks++ {
		v.forget("begin")
		served, err := v.answer(ctx, r)
		if err == nil || !again(err) {
			return served, err
		}
		if v.looks >= c.cfg.Patience {
			return isr.Served{}, fmt.Errorf("isr: regenerate %s as %s: %w: at each of %d looks, %w", key, r.ID,
				ErrUnavailable, v.looks+1, err)
		}
		v.forget("wait")
		c.cfg.Clock.Sleep(c.cfg.Poll)
	}
}

// again reports whether an error means that another node was faster.
func again(err error) bool {
	return errors.Is(err, ErrHeld) || errors.Is(err, isr.ErrLeaseLost) || errors.Is(err, ErrOvertaken) ||
		errors.Is(err, ErrAnswered)
}

// answer serves the page of an answered request, and makes a page for any other request.
func (v *visit) answer(ctx context.Context, r isr.Request) (isr.Served, error) {
	row, err := v.store.Begin(ctx, v.key, r)
	if err != nil {
		return isr.Served{}, err
	}
	if row.Status == RequestCompleted {
		return v.result(ctx, row)
	}
	v.forget("take")
	lease, err := v.store.Acquire(ctx, v.key)
	if err != nil {
		return isr.Served{}, err
	}
	v.forget("ask", lease)
	// The previous holder may have answered the request. If Asked cannot tell, the publish will be refused.
	if row, err := v.store.Asked(ctx, v.key, r); err == nil && row.Status == RequestCompleted {
		v.forget("answered", lease.held(), row.ResultS3Key)
		v.release(ctx, lease)
		return v.result(ctx, row)
	}
	v.forget("see", lease)
	// The publish builds on META as it is now, under the lease and before the origin is read.
	if err := v.see(ctx); err != nil {
		v.release(ctx, lease)
		return isr.Served{}, err
	}
	lease.Request = r
	v.forget("make", lease, v.seen)
	made, err := v.render(ctx, &lease)
	if err != nil {
		// best effort: the request may be taken up again either way
		_ = v.store.Fail(context.WithoutCancel(ctx), v.key, r)
		v.release(ctx, lease)
		return isr.Served{}, err
	}
	v.forget("answer", lease.held(), made)
	err = v.store.Publish(ctx, lease, made.meta)
	if err == nil {
		return v.serve(made), nil
	}
	v.forget("give up", lease.held(), err)
	v.release(ctx, lease)
	v.forget("gave up", err)
	if !again(err) { // did it take effect?
		if row, unknown := v.store.Asked(ctx, v.key, r); unknown == nil && row.Status == RequestCompleted {
			return v.result(ctx, row)
		}
	}
	return isr.Served{}, err
}

// see reads only META.
func (v *visit) see(ctx context.Context) error {
	meta, err := v.store.Read(ctx, v.key)
	if err != nil && !errors.Is(err, isr.ErrMiss) {
		return err
	}
	v.seen = meta.Version
	return nil
}

// result serves the page that answered a request. It is fresh as long as META leads to exactly that page and says that
// it is fresh. If META cannot be read, the page does not count as fresh.
func (v *visit) result(ctx context.Context, row RequestRow) (isr.Served, error) {
	v.forget("result", row.ResultS3Key)
	body, err := v.cfg.Bodies.GetBody(ctx, row.ResultS3Key)
	if err != nil {
		return isr.Served{}, fmt.Errorf("isr: regenerate %s: body %s: %w", v.key, row.ResultS3Key, err)
	}
	v.forget("visible", row.ResultS3Key, string(body))
	if meta, err := v.store.Read(ctx, v.key); err == nil && meta.S3Key == row.ResultS3Key {
		return v.serve(&page{meta: meta, body: body}), nil
	}
	return isr.Served{Body: body}, nil
}

// RequestStatus is the progress of a requested regeneration.
type RequestStatus string

// These are the statuses. Any caller with the same inputs may take up a request that has started or failed.
const (
	RequestStarted   RequestStatus = "STARTED"
	RequestCompleted RequestStatus = "COMPLETED"
	RequestFailed    RequestStatus = "FAILED"
)

// RequestRow is a REQ# row: one regeneration with an idempotency key.
type RequestRow struct {
	PK          string
	SK          string // REQ# and the idempotency key
	RequestHash string
	Status      RequestStatus
	ResultS3Key string // the body of the page, once it is made
	TTL         EpochSeconds
}

// Item is the row as DynamoDB stores it.
func (r RequestRow) Item() map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		attrPK:          text(r.PK),
		attrSK:          text(r.SK),
		attrRequestHash: text(r.RequestHash),
		attrStatus:      text(string(r.Status)),
		attrTTL:         r.TTL.attribute(),
	}
	setText(item, attrResultS3Key, r.ResultS3Key)
	return item
}

// ParseRequestRow reads a REQ# row. For any other row, the error names the wrong attribute.
func ParseRequestRow(item map[string]types.AttributeValue) (RequestRow, error) {
	r := reader{item: item}
	row := RequestRow{
		PK:          r.text(attrPK),
		SK:          r.text(attrSK),
		RequestHash: r.text(attrRequestHash),
		Status:      RequestStatus(r.text(attrStatus)),
		ResultS3Key: r.maybeText(attrResultS3Key),
		TTL:         EpochSeconds(r.number(attrTTL)),
	}
	if row.Status == RequestCompleted && row.ResultS3Key == "" {
		r.fail(attrResultS3Key, "a string (S), for the request is completed")
	}
	if r.err != nil {
		return RequestRow{}, fmt.Errorf("REQ# row: %w", r.err)
	}
	return row, nil
}

// The conditions and changes of REQ# rows. A row that counts as gone is treated as missing.
var (
	ifNotAnswered = "request_hash = :hash AND #status <> :completed AND #ttl > :gone"
	setAnswered   = "SET #status = :completed, result_s3_key = :result, #ttl = :ttl"
	ifStarted     = "request_hash = :hash AND #status = :started AND #ttl > :gone"
	setFailed     = "SET #status = :failed"

	aliasStatusTTL = map[string]string{"#status": attrStatus, "#ttl": attrTTL}
)

// Begin implements Store. If the response to a put was lost and the put was sent again, Begin returns the row that the
// put wrote.
func (s *leases) Begin(ctx context.Context, key string, r isr.Request) (RequestRow, error) {
	var row RequestRow
	var found map[string]types.AttributeValue
	err := s.pastConflicts(ctx, func() error {
		now := s.Now()
		row = RequestRow{PK: s.PK(key), SK: SortRequest + r.ID, RequestHash: r.Hash, Status: RequestStarted,
			TTL: pageTTL(&s.cfg, now)}
		_, err := s.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.cfg.Table, Item: row.Item(),
			ConditionExpression: &ifGone, ExpressionAttributeNames: aliasTTL,
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":gone": (now + buffer(&s.cfg)).attribute(),
			},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	found, refused := Refused(err)
	switch {
	case refused:
		row, err = asked(found, r)
	case err != nil:
		row = RequestRow{}
	}
	if err != nil {
		return row, storeError("begin "+r.ID+" of", key, err)
	}
	return row, nil
}

func (s *leases) Asked(ctx context.Context, key string, r isr.Request) (RequestRow, error) {
	item, err := s.GetRow(ctx, key, SortRequest+r.ID)
	if err != nil {
		return RequestRow{}, storeError("look at "+r.ID+" of", key, err)
	}
	row, err := asked(item, r)
	if err == nil && s.Gone(row.TTL) {
		row, err = RequestRow{}, isr.ErrMiss
	}
	if err != nil {
		return row, storeError("look at "+r.ID+" of", key, err)
	}
	return row, nil
}

// asked reads the REQ# row of a request.
func asked(item map[string]types.AttributeValue, r isr.Request) (RequestRow, error) {
	if item == nil {
		return RequestRow{}, isr.ErrMiss
	}
	row, err := ParseRequestRow(item)
	if err == nil && row.RequestHash != r.Hash {
		err = isr.ErrOtherInputs
	}
	return row, err
}

func (s *leases) Fail(ctx context.Context, key string, r isr.Request) error {
	err := s.pastConflicts(ctx, func() error {
		_, err := s.cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.cfg.Table, Key: Key(s.PK(key), SortRequest+r.ID),
			UpdateExpression: &setFailed, ConditionExpression: &ifStarted, ExpressionAttributeNames: aliasStatusTTL,
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":hash": text(r.Hash), ":gone": s.gone().attribute(), ":started": text(string(RequestStarted)),
				":failed": text(string(RequestFailed)),
			},
		})
		return err
	})
	if _, refused := Refused(err); refused {
		err = ErrAnswered
	}
	if err != nil {
		return storeError("fail "+r.ID+" of", key, err)
	}
	return nil
}

// answer is the part of a publish that completes the request of the lease.
func (s *leases) answer(l Lease, m Meta) types.TransactWriteItem {
	now := s.Now()
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.cfg.Table, Key: Key(s.PK(l.Key), SortRequest+l.Request.ID),
		UpdateExpression: &setAnswered, ConditionExpression: &ifNotAnswered, ExpressionAttributeNames: aliasStatusTTL,
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":hash": text(l.Request.Hash), ":completed": text(string(RequestCompleted)), ":result": text(m.S3Key),
			":gone": (now + buffer(&s.cfg)).attribute(), ":ttl": pageTTL(&s.cfg, now).attribute(),
		},
	}}
}

var errNoID = errors.New("isr: Request.ID is empty, expected an idempotency key")
