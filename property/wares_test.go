package property

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// wares is the page cache of some shop. It has a row for the page, a row for its worker and a row for each request,
// with names and units of the shop's own. Each bug of shopBugs changes one place, which asks the method has about the
// bug.
type wares struct {
	Node
	bug  string
	born time.Time        // when the machine started
	mine map[string]*ware // pages in the machine's memory, which only bugs use
}

// wareRows are the rows of wares.
var wareRows = isr.Schema{Rows: []isr.Row{
	{Partition: "shelf = ware:{key}", Sort: "slot = page", BodyKey: "img", Generated: "read_ms ms", ETag: "digest",
		Invalidated: "dropped", TTL: "purge_at"},
	{Partition: "shelf = ware:{key}", Sort: "slot = worker", Token: "worker", Expires: "until_ms ms", TTL: "purge_at"},
	{Partition: "shelf = ware:{key}", Sort: "slot = ask:{request}", RequestHash: "inputs", RequestStatus: "state",
		RequestBody: "img", TTL: "purge_at"},
}}

// newWares makes wares with the named bug; "" is no bug.
func newWares(bug string) func(Node) (isr.Handler, error) {
	return func(n Node) (isr.Handler, error) {
		return &wares{Node: n, bug: bug, born: n.Clock.Now(), mine: map[string]*ware{}}, nil
	}
}

type item = map[string]types.AttributeValue

// ware is a page that was found, or made.
type ware struct {
	img     string
	body    []byte
	read    time.Time
	dropped bool
	edition string // the number of the row's last change; "" if there is no row
}

// job is a turn at making a page.
type job struct {
	token string
	until time.Time
	seen  string // the edition of the former page
	ask   *isr.Request
}

var (
	errBusy  = errors.New("another worker is at it")
	errTaken = errors.New("another worker was faster, or the page was dropped")
)

func (c *wares) has(bug string) bool { return c.bug == bug }

func str(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func (c *wares) key(key, slot string) item {
	return item{"shelf": str("ware:" + key), "slot": str(slot)}
}

func (c *wares) purge(end time.Time) types.AttributeValue {
	at := end.Add(c.TTLBuffer + time.Second)
	if c.has("purge_at in milliseconds") {
		return num(at.UnixMilli())
	}
	return num(at.Unix())
}

func (c *wares) fresh(w *ware) bool {
	if w.dropped && !c.has("freshness without the mark of an invalidation") {
		return false
	}
	now := c.Clock.Now()
	if c.has("the clock is read once, at the start of the process") {
		now = c.born
	}
	if c.has("fresh for a window in minutes, rounded up") {
		return now.Before(w.read.Add((c.Revalidate + time.Minute - 1).Truncate(time.Minute)))
	}
	if c.has("fresh at the end of the window, <= for <") {
		return !now.After(w.read.Add(c.Revalidate))
	}
	return now.Before(w.read.Add(c.Revalidate))
}

func (c *wares) serve(w *ware) isr.Served {
	return isr.Served{Body: w.body, Fresh: c.fresh(w)}
}

// find returns the page, nil if there is none, with the edition of its row.
func (c *wares) find(ctx context.Context, key string, strongly bool) (w *ware, edition string, err error) {
	out, err := c.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &c.Table, Key: c.key(key, "page"), ConsistentRead: aws.Bool(strongly)})
	if err != nil || out.Item == nil {
		return nil, "", err
	}
	n, _ := out.Item["edition"].(*types.AttributeValueMemberN)
	img, _ := out.Item["img"].(*types.AttributeValueMemberS)
	read, _ := out.Item["read_ms"].(*types.AttributeValueMemberN)
	if n != nil {
		edition = n.Value
	}
	if img == nil || read == nil {
		return nil, edition, nil
	}
	ms, err := strconv.ParseInt(read.Value, 10, 64)
	if err != nil {
		return nil, "", err
	}
	w = &ware{img: img.Value, read: time.UnixMilli(ms), dropped: out.Item["dropped"] != nil, edition: edition}
	before := c.fresh(w)
	w.body, err = c.Bodies.GetBody(ctx, w.img)
	if errors.Is(err, isr.ErrNoBody) {
		return nil, edition, nil
	}
	if before && c.has("whether it is fresh is decided before the body is fetched") {
		w.read = w.read.Add(time.Hour)
	}
	return w, edition, err
}

func (c *wares) Get(ctx context.Context, key string) (isr.Served, error) {
	if w := c.mine[key]; w != nil {
		switch {
		case c.has("a copy in memory that never expires"):
			return isr.Served{Body: w.body, Fresh: true}, nil
		case c.has("a copy in memory that no invalidation reaches") && c.fresh(w):
			return c.serve(w), nil
		}
	}
	for range c.Patience + 1 {
		w, _, err := c.find(ctx, key, !c.has("the first look is eventually consistent"))
		if err != nil {
			return isr.Served{}, err
		}
		if w != nil && (c.fresh(w) || c.has("a page that is there is never made again")) {
			if c.has("each reader writes the time of its look into the page") {
				c.touch(ctx, key)
			}
			c.mine[key] = w
			return c.serve(w), nil
		}
		var early []byte
		at := c.Clock.Now()
		if c.has("rendered before the worker's row is taken") {
			if early, err = c.Render(ctx, key, func(context.Context) error { return nil }); err != nil {
				return isr.Served{}, err
			}
		}
		j, err := c.take(ctx, key, at)
		switch {
		case err == nil:
			made, err := c.make(ctx, key, j, early, at)
			if err != nil {
				return isr.Served{}, err
			}
			if c.fresh(made) {
				c.mine[key] = made
			}
			return c.serve(made), nil
		case !errors.Is(err, errBusy):
			return isr.Served{}, err
		case w != nil && c.Contention == isr.ServeStale:
			return c.serve(w), nil
		}
		c.Clock.Sleep(c.Poll)
	}
	return isr.Served{}, errBusy
}

func (c *wares) touch(ctx context.Context, key string) {
	_, _ = c.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.key(key, "page"), UpdateExpression: aws.String("SET read_ms = :now"),
		ConditionExpression:       aws.String("attribute_exists(img)"),
		ExpressionAttributeValues: item{":now": num(c.Clock.Now().UnixMilli())},
	})
}

// token names the holder of a worker's row.
func (c *wares) token() string {
	ms := c.Clock.Now().UnixMilli()
	switch {
	case c.has("a token that is the time in seconds"):
		return fmt.Sprint(ms / 1000)
	case c.has("a token for all workers of a release"):
		return "worker-v7"
	default:
		return fmt.Sprintf("%011x-%s", ms, c.Tokens()) // sorts by time, as ULIDs do
	}
}

// take takes the worker's row. If its own row is the reason for a refusal, it has succeeded: the SDK has sent the put
// twice.
func (c *wares) take(ctx context.Context, key string, asked time.Time) (job, error) {
	now := c.Clock.Now()
	j := job{token: c.token(), until: now.Add(c.Lease)}
	if c.has("the lease counts from the first look") {
		j.until = asked.Add(c.Lease)
	}
	row := c.key(key, "worker")
	row["worker"], row["until_ms"], row["purge_at"] = str(j.token), num(j.until.UnixMilli()), c.purge(j.until)
	if c.has("purge_at of the worker is the start of the lease") {
		row["purge_at"] = num(now.Unix())
	}
	if c.has("the worker's row has no purge_at") {
		delete(row, "purge_at")
	}
	in := &dynamodb.PutItemInput{
		TableName: &c.Table, Item: row,
		ConditionExpression:                 aws.String("attribute_not_exists(shelf) OR until_ms <= :now"),
		ExpressionAttributeValues:           item{":now": num(now.UnixMilli())},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	switch {
	case c.has("acquire compares milliseconds with seconds"):
		in.ExpressionAttributeValues[":now"] = num(now.Unix())
	case c.has("acquire compares milliseconds with microseconds"):
		in.ExpressionAttributeValues[":now"] = num(now.UnixMicro())
	case c.has("acquire asks whether an attribute is missing that no worker has"):
		in.ConditionExpression = aws.String("attribute_not_exists(img) OR until_ms <= :now")
	case c.has("acquire waits for TTL"):
		in.ConditionExpression, in.ExpressionAttributeValues = aws.String("attribute_not_exists(shelf)"), nil
	case c.has("acquire begins a moment early"):
		in.ExpressionAttributeValues[":now"] = num(now.Add(50 * time.Millisecond).UnixMilli())
	case c.has("acquire a moment late, < for <="):
		in.ConditionExpression = aws.String("attribute_not_exists(shelf) OR until_ms < :now")
	case c.has("acquire is a read and a put"):
		out, err := c.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &c.Table, Key: c.key(key, "worker"), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return j, err
		}
		if until, _ := out.Item["until_ms"].(*types.AttributeValueMemberN); until != nil &&
			until.Value > fmt.Sprint(now.UnixMilli()) {
			return j, errBusy
		}
		in.ConditionExpression, in.ExpressionAttributeValues, in.ReturnValuesOnConditionCheckFailure = nil, nil, ""
	}
	_, err := c.Client.PutItem(ctx, in)
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		if own, _ := refused.Item["worker"].(*types.AttributeValueMemberS); own != nil && own.Value == j.token &&
			!c.has("an own put that was sent twice counts as refused") {
			return j, nil
		}
		return j, errBusy
	}
	return j, err
}

// mineIf is the condition that the worker's row is the holder's, with the condition's values.
func (c *wares) mineIf(j job, held bool) (*string, item) {
	condition, values := "worker = :me", item{":me": str(j.token)}
	if c.has("tokens are compared by the time that they begin with") {
		condition, values[":me"] = "begins_with(worker, :me)", str(j.token[:8])
	}
	if !held {
		return &condition, values
	}
	now := c.Clock.Now()
	switch {
	case c.has("the publish compares milliseconds with seconds"):
		values[":now"] = num(now.Unix())
	case c.has("the publish judges by the time at which it took the lease"):
		values[":now"] = num(j.until.Add(-c.Lease).UnixMilli())
	case c.has("the publish judges by the time at which the process started"):
		values[":now"] = num(c.born.UnixMilli())
	default:
		values[":now"] = num(now.UnixMilli())
	}
	if c.has("the publish at the end of the lease, >= for >") {
		condition += " AND until_ms >= :now"
	} else {
		condition += " AND until_ms > :now"
	}
	return &condition, values
}

// renew makes a lease longer.
func (c *wares) renew(ctx context.Context, key string, j *job) error {
	if c.Clock.Now().Add(c.Lease / 2).Before(j.until) {
		return nil
	}
	until := c.Clock.Now().Add(c.Lease)
	condition, values := c.mineIf(*j, true)
	values[":until"], values[":purge"] = num(until.UnixMilli()), c.purge(until)
	in := &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.key(key, "worker"),
		UpdateExpression:    aws.String("SET until_ms = :until, purge_at = :purge"),
		ConditionExpression: condition, ExpressionAttributeValues: values,
	}
	if c.has("renews without a condition") {
		in.ConditionExpression = nil
		delete(values, ":me")
		delete(values, ":now")
	}
	if c.has("takes the row again when it renews") {
		in.UpdateExpression = aws.String("SET until_ms = :until, purge_at = :purge, worker = :me")
		in.ConditionExpression = nil
		delete(values, ":now")
	}
	_, err := c.Client.UpdateItem(ctx, in)
	if refusal(err) {
		return isr.ErrLeaseLost
	}
	if err == nil {
		j.until = until
	}
	return err
}

func (c *wares) release(ctx context.Context, key string, j job) error {
	condition, values := c.mineIf(j, false)
	in := &dynamodb.DeleteItemInput{TableName: &c.Table, Key: c.key(key, "worker"), ConditionExpression: condition,
		ExpressionAttributeValues: values}
	if c.has("the worker's row is deleted by its key alone") {
		in.ConditionExpression, in.ExpressionAttributeValues = nil, nil
	}
	_, err := c.Client.DeleteItem(ctx, in)
	return err
}

// make makes the page and publishes it. It always gives the worker's row back.
func (c *wares) make(ctx context.Context, key string, j job, early []byte, at time.Time) (*ware, error) {
	strongly := !c.has("the second look is eventually consistent")
	w, edition, err := c.find(ctx, key, strongly)
	if err != nil || w != nil && j.ask == nil && c.fresh(w) && !c.has("no second look") {
		_ = c.release(ctx, key, j)
		return w, err
	}
	if c.has("the edition is read eventually consistently") {
		if _, edition, err = c.find(ctx, key, false); err != nil {
			_ = c.release(ctx, key, j)
			return nil, err
		}
	}
	j.seen = edition
	made := &ware{read: c.Clock.Now(), body: early}
	if early == nil {
		made.body, err = c.Render(ctx, key, func(ctx context.Context) error {
			err := c.renew(ctx, key, &j)
			if c.has("an error of the renewal is swallowed") {
				return nil
			}
			return err
		})
	} else {
		made.read = at
	}
	if err != nil {
		if !c.has("the worker's row stays after an error of the origin") {
			_ = c.release(ctx, key, j)
		}
		return nil, err
	}
	if c.has("the time of the page is taken after the origin is read") {
		made.read = c.Clock.Now()
	}
	made.img = c.image(key, j)
	if !c.has("the body is put after the page") {
		if err := c.Bodies.PutBody(ctx, made.img, made.body); err != nil {
			if !c.has("the worker's row stays after an error of the body store") {
				_ = c.release(ctx, key, j)
			}
			return nil, err
		}
	}
	err = c.publish(ctx, key, j, made)
	if err == nil && c.has("the body is put after the page") {
		err = c.Bodies.PutBody(ctx, made.img, made.body)
	}
	if err == nil {
		return made, nil
	}
	_ = c.release(ctx, key, j)
	if j.ask != nil {
		return nil, err
	}
	if found, _, unknown := c.find(ctx, key, true); unknown == nil && found != nil && c.fresh(found) {
		return found, nil
	}
	if errors.Is(err, errTaken) {
		made.dropped = !c.has("a page that was refused is served as fresh") // it may be older than an invalidation
		return made, nil
	}
	return nil, err
}

// image is the name of the body of a generation.
func (c *wares) image(key string, j job) string {
	switch {
	case c.has("one body name for all generations"):
		return "wares" + key
	case c.has("the body is named by the edition"):
		return "wares" + key + "/v" + j.seen
	default:
		return "wares" + key + "/" + j.token
	}
}

// publish shows the page, gives the worker's row back, and completes the request, in one transaction.
func (c *wares) publish(ctx context.Context, key string, j job, w *ware) error {
	update := "SET img = :img, read_ms = :read, digest = :digest, purge_at = :purge, edition = " +
		"if_not_exists(edition, :start) + :one REMOVE dropped"
	values := item{
		":img": str(w.img), ":read": num(w.read.UnixMilli()), ":digest": str(fmt.Sprintf("%x", w.body)), ":one": num(1),
		":start": num(c.Clock.Now().UnixMilli()), ":purge": c.purge(w.read.Add(c.Revalidate + c.Retention)),
	}
	condition := aws.String("attribute_not_exists(edition)")
	if j.seen != "" {
		condition, values[":seen"] = aws.String("edition = :seen"), &types.AttributeValueMemberN{Value: j.seen}
	}
	switch {
	case c.has("the update leaves the old body"):
		update = "SET img = if_not_exists(img, :img), read_ms = :read, digest = :digest, purge_at = :purge, edition " +
			"= if_not_exists(edition, :start) + :one REMOVE dropped"
	case c.has("the update leaves the mark of an invalidation"):
		update = "SET img = :img, read_ms = :read, digest = :digest, purge_at = :purge, edition = " +
			"if_not_exists(edition, :start) + :one"
	case c.has("the update of the page leaves purge_at as it was"):
		update = "SET img = :img, read_ms = :read, digest = :digest, edition = if_not_exists(edition, :start) + " +
			":one REMOVE dropped"
		delete(values, ":purge")
	case c.has("purge_at of the page is the time of its making"):
		values[":purge"] = num(w.read.Unix())
	case c.has("the digest is that of the key"):
		values[":digest"] = str("d" + key)
	case c.has("the digest is that of the time, in seconds"):
		values[":digest"] = str(fmt.Sprint(w.read.Unix()))
	case c.has("the publish does not look at the edition"):
		condition = nil
		delete(values, ":seen")
	case c.has("an edition counts from one"), c.has("the body is named by the edition"):
		values[":start"] = num(0)
	}
	page := &types.Update{TableName: &c.Table, Key: c.key(key, "page"), UpdateExpression: &update,
		ConditionExpression: condition, ExpressionAttributeValues: values}
	mine, holds := c.mineIf(j, true)
	worker := &types.Delete{
		TableName: &c.Table, Key: c.key(key, "worker"), ConditionExpression: mine, ExpressionAttributeValues: holds,
	}
	alone := func() error {
		_, err := c.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &c.Table, Key: page.Key, UpdateExpression: page.UpdateExpression,
			ConditionExpression: page.ConditionExpression, ExpressionAttributeValues: values,
		})
		return taken(err)
	}
	release := func() error {
		_, err := c.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &c.Table, Key: worker.Key, ConditionExpression: mine, ExpressionAttributeValues: holds,
		})
		return taken(err)
	}
	all := []types.TransactWriteItem{{Update: page}, {Delete: worker}}
	switch {
	case c.has("the page is put, and then the worker's row deleted"):
		if err := alone(); err != nil {
			return err
		}
		_ = release()
		return nil
	case c.has("the worker's row is deleted, and then the page put"):
		if err := release(); err != nil {
			return err
		}
		return alone()
	case c.has("an error of the release is swallowed"):
		_ = release()
		return alone()
	case c.has("the lease is judged in the process, and not in the condition"):
		if !c.Clock.Now().Before(j.until) {
			return errTaken
		}
		condition, values := c.mineIf(j, false)
		worker.ConditionExpression, worker.ExpressionAttributeValues = condition, values
	case c.has("the publish asks for the end of the lease alone"):
		worker.ConditionExpression = aws.String("until_ms > :now")
		delete(holds, ":me")
	case c.has("the publish asks for nothing"):
		page.ConditionExpression, worker.ConditionExpression, worker.ExpressionAttributeValues = nil, nil, nil
		delete(values, ":seen")
	case c.has("the worker's row stays after the publish"):
		all[1] = types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &c.Table, Key: worker.Key, ConditionExpression: mine, ExpressionAttributeValues: holds,
		}}
	}
	if j.ask != nil && !c.has("the request is completed after the transaction") {
		all = append(all, types.TransactWriteItem{Update: c.completion(key, j, w.img)})
	}
	_, err := c.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: all})
	if refusal(err) && c.has("a publish that was refused is put without a condition") {
		page.ConditionExpression = nil
		delete(values, ":seen")
		return alone()
	}
	if err == nil && j.ask != nil && c.has("the request is completed after the transaction") {
		c.complete(ctx, key, j, w.img)
	}
	return taken(err)
}

// taken is the error of a refused write.
func taken(err error) error {
	if refusal(err) {
		return errTaken
	}
	return err
}

// refusal says whether a condition was not met.
func refusal(err error) bool {
	_, condition := errors.AsType[*types.ConditionalCheckFailedException](err)
	_, cancelled := errors.AsType[*types.TransactionCanceledException](err)
	return condition || cancelled
}

func (c *wares) Invalidate(ctx context.Context, key string) error {
	delete(c.mine, key)
	now := c.Clock.Now()
	in := &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.key(key, "page"),
		UpdateExpression: aws.String("SET dropped = :yes, purge_at = if_not_exists(purge_at, :purge), edition = " +
			"if_not_exists(edition, :start) + :one"),
		ExpressionAttributeValues: item{
			":yes": &types.AttributeValueMemberBOOL{Value: true}, ":one": num(1), ":start": num(now.UnixMilli()),
			":purge": c.purge(now.Add(c.Revalidate + c.Retention + c.Lease)),
		},
	}
	switch {
	case c.has("an invalidation does not count"):
		in.UpdateExpression = aws.String("SET dropped = :yes, purge_at = if_not_exists(purge_at, :purge)")
		delete(in.ExpressionAttributeValues, ":one")
		delete(in.ExpressionAttributeValues, ":start")
	case c.has("an invalidation passes over a page that is not there"):
		in.ConditionExpression = aws.String("attribute_exists(img)")
	case c.has("an edition counts from one"), c.has("the body is named by the edition"):
		in.ExpressionAttributeValues[":start"] = num(0)
	case c.has("an invalidation deletes the page"):
		_, err := c.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &c.Table, Key: c.key(key, "page")})
		return err
	}
	_, err := c.Client.UpdateItem(ctx, in)
	if refusal(err) || c.has("an error of an invalidation is swallowed") {
		return nil
	}
	return err
}

func (c *wares) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	err := errBusy
	for range c.Patience + 1 {
		var served isr.Served
		served, err = c.answer(ctx, key, r)
		if !errors.Is(err, errBusy) && !errors.Is(err, errTaken) {
			return served, err
		}
		c.Clock.Sleep(c.Poll)
	}
	return isr.Served{}, err
}

func (c *wares) answer(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	row := c.key(key, "ask:"+r.ID)
	row["inputs"], row["state"] = str(r.Hash), str("STARTED")
	row["purge_at"] = c.purge(c.Clock.Now().Add(c.Revalidate + c.Retention))
	in := &dynamodb.PutItemInput{
		TableName: &c.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(shelf)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if c.has("a request is begun without a condition") {
		in.ConditionExpression, in.ReturnValuesOnConditionCheckFailure = nil, ""
	}
	_, err := c.Client.PutItem(ctx, in)
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		inputs, _ := refused.Item["inputs"].(*types.AttributeValueMemberS)
		if inputs != nil && inputs.Value != r.Hash && !c.has("the inputs of a request are not compared") {
			return isr.Served{}, isr.ErrOtherInputs
		}
		if img := result(refused.Item); img != "" {
			return c.again(ctx, key, img)
		}
	} else if err != nil {
		return isr.Served{}, err
	}
	j, err := c.take(ctx, key, c.Clock.Now())
	if err != nil {
		return isr.Served{}, err
	}
	j.ask = &r
	if !c.has("a request is not looked at again under the lease") {
		img, err := c.asked(ctx, key, r)
		if err != nil || img != "" {
			_ = c.release(ctx, key, j)
			if err != nil {
				return isr.Served{}, err
			}
			return c.again(ctx, key, img)
		}
	}
	made, err := c.make(ctx, key, j, nil, time.Time{})
	if err == nil {
		return c.serve(made), nil
	}
	if errors.Is(err, errTaken) {
		return isr.Served{}, err
	}
	if img, unknown := c.asked(ctx, key, r); unknown == nil && img != "" { // it did take effect
		return c.again(ctx, key, img)
	}
	return isr.Served{}, err
}

// asked returns the body that was made for a request, "" if none was.
func (c *wares) asked(ctx context.Context, key string, r isr.Request) (string, error) {
	out, err := c.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &c.Table, Key: c.key(key, "ask:"+r.ID), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return "", err
	}
	return result(out.Item), nil
}

func result(row item) string {
	img, _ := row["img"].(*types.AttributeValueMemberS)
	if img == nil {
		return ""
	}
	return img.Value
}

// again serves the page that was made for an earlier call with the same request. This page is fresh as long as it is
// the visible page.
func (c *wares) again(ctx context.Context, key, img string) (isr.Served, error) {
	w, _, err := c.find(ctx, key, true)
	if err != nil {
		return isr.Served{}, err
	}
	if w != nil && w.img == img {
		return c.serve(w), nil
	}
	body, err := c.Bodies.GetBody(ctx, img)
	return isr.Served{Body: body, Fresh: c.has("the result of a request counts as fresh")}, err
}

// completion is the part of a publish that completes its request.
func (c *wares) completion(key string, j job, img string) *types.Update {
	u := &types.Update{
		TableName: &c.Table, Key: c.key(key, "ask:"+j.ask.ID),
		UpdateExpression:          aws.String("SET #state = :done, img = :img"),
		ConditionExpression:       aws.String("inputs = :inputs AND #state <> :done"),
		ExpressionAttributeNames:  map[string]string{"#state": "state"},
		ExpressionAttributeValues: item{":done": str("COMPLETED"), ":img": str(img), ":inputs": str(j.ask.Hash)},
	}
	if c.has("a request that is completed may be completed again") {
		u.ConditionExpression = aws.String("inputs = :inputs")
	}
	if c.has("the inputs of a request are not compared") {
		u.ConditionExpression = aws.String("#state <> :done")
		delete(u.ExpressionAttributeValues, ":inputs")
	}
	return u
}

func (c *wares) complete(ctx context.Context, key string, j job, img string) {
	u := c.completion(key, j, img)
	_, _ = c.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression,
		ConditionExpression:      u.ConditionExpression,
		ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
	})
}

// Flags of the measurement that docs/FOREIGN.md sums up.
var (
	foreignSeeds = flag.Int("foreign.seeds", 0,
		"check wares with each bug under so many seeds: go test ./property -run TestWares -foreign.seeds 20 -timeout 0")
	foreignRun  = flag.String("foreign.run", "", "only the bugs whose names this regular expression matches")
	foreignEach = flag.Int("foreign.schedules", DefaultSchedules, "the number of schedules of each world")
)

// shopBugs are the bugs of wares, by their names in calls of the method has. Without them the cache passes, so a
// violation in a cache with one of them is due to that bug.
var shopBugs = []string{
	"a token that is the time in seconds",
	"a token for all workers of a release",
	"tokens are compared by the time that they begin with",
	"acquire asks whether an attribute is missing that no worker has",
	"acquire begins a moment early",
	"acquire compares milliseconds with microseconds",
	"acquire compares milliseconds with seconds",
	"acquire is a read and a put",
	"acquire waits for TTL",
	"no second look",
	"the second look is eventually consistent",
	"the first look is eventually consistent",
	"rendered before the worker's row is taken",
	"renews without a condition",
	"takes the row again when it renews",
	"the worker's row is deleted by its key alone",
	"the worker's row stays after the publish",
	"the page is put, and then the worker's row deleted",
	"the worker's row is deleted, and then the page put",
	"an error of the release is swallowed",
	"a publish that was refused is put without a condition",
	"the publish asks for nothing",
	"the publish asks for the end of the lease alone",
	"the publish at the end of the lease, >= for >",
	"the publish compares milliseconds with seconds",
	"the publish judges by the time at which it took the lease",
	"the publish judges by the time at which the process started",
	"the clock is read once, at the start of the process",
	"the time of the page is taken after the origin is read",
	"each reader writes the time of its look into the page",
	"whether it is fresh is decided before the body is fetched",
	"fresh for a window in minutes, rounded up",
	"a copy in memory that never expires",
	"a copy in memory that no invalidation reaches",
	"a page that is there is never made again",
	"one body name for all generations",
	"the body is put after the page",
	"the digest is that of the key",
	"the digest is that of the time, in seconds",
	"the update leaves the old body",
	"the update leaves the mark of an invalidation",
	"the update of the page leaves purge_at as it was",
	"purge_at in milliseconds",
	"purge_at of the page is the time of its making",
	"purge_at of the worker is the start of the lease",
	"freshness without the mark of an invalidation",
	"an invalidation does not count",
	"an invalidation passes over a page that is not there",
	"an error of an invalidation is swallowed",
	"a request is begun without a condition",
	"the inputs of a request are not compared",
	"the request is completed after the transaction",
	"the result of a request counts as fresh",
	"the body is named by the edition",
	"the worker's row stays after an error of the body store",
	"the publish does not look at the edition",
	"an invalidation deletes the page",
	"the worker's row stays after an error of the origin",
}

// shopHabits are differences that look like bugs but break no promise; docs/FOREIGN.md says why.
var shopHabits = []string{
	"acquire a moment late, < for <=",
	"fresh at the end of the window, <= for <",
	"the lease counts from the first look",
	"the edition is read eventually consistently",
	"a request is not looked at again under the lease",
	"a request that is completed may be completed again",
	"a page that was refused is served as fresh",
	"an edition counts from one",
	"the worker's row has no purge_at",
}

// measured is the result of a bug's seeds.
type measured struct {
	caught, seeds, worlds int
	by                    map[string]int
}

func (m measured) String() string {
	var by []string
	for _, inv := range slices.Sorted(maps.Keys(m.by)) {
		by = append(by, fmt.Sprintf("%s %d", inv, m.by[inv]))
	}
	slices.SortStableFunc(by, func(a, b string) int { return cmp.Compare(countOf(b), countOf(a)) })
	return fmt.Sprintf("%s | %d of %d | %d", strings.Join(by, ", "), m.caught, m.seeds, m.worlds)
}

func countOf(words string) (n int) {
	_, _ = fmt.Sscan(words[strings.LastIndex(words, " ")+1:], &n)
	return n
}

// renamed ends the name of a mutant whose rows have other names.
const renamed = ", renamed"

// TestWaresPass: the cache passes without bugs, and with differences that are not bugs.
func TestWaresPass(t *testing.T) {
	correct := func(t *testing.T, worlds string, seed int, name string) {
		t.Helper()
		if got := sought(t, Check{Rows: wareRows}, seed, worlds, newWares(name)); got.by != "" {
			t.Errorf("seed %d: %s after %d worlds:\n%s", seed, got.by, got.worlds, got.text)
		}
	}
	if *foreignSeeds == 0 {
		checks := effort.Fewer("2", "1") // of five worlds each
		if testing.Short() {
			checks = "5" // rapid makes a fifth of them
		}
		correct(t, checks, 1, "")
		return
	}
	for seed := range *foreignSeeds {
		correct(t, "100", 1+seed, "")
	}
	for _, b := range shopHabits {
		if regexp.MustCompile(*foreignRun).MatchString(b) {
			correct(t, "100", 1, b)
		}
	}
}

// quickBugs are bugs that are found in one or two worlds under the first seed.
var quickBugs = []string{
	"an error of an invalidation is swallowed", "the worker's row is deleted by its key alone",
	"the update leaves the old body", "a token for all workers of a release",
	"acquire asks whether an attribute is missing that no worker has",
	"the page is put, and then the worker's row deleted",
	"the worker's row is deleted, and then the page put", "the publish asks for nothing",
	"the digest is that of the key", "a publish that was refused is put without a condition",
	"whether it is fresh is decided before the body is fetched",
}

// TestWaresBugsAreFound: a check with default settings finds the bugs. Without -foreign.seeds, only quickBugs are
// tried.
func TestWaresBugsAreFound(t *testing.T) {
	bugs := shopBugs
	if *foreignSeeds == 0 {
		bugs = quickBugs
		bugs = effort.Fewer(bugs, bugs[:2])
	}
	for _, b := range bugs {
		if !slices.Contains(shopBugs, b) {
			t.Errorf("%q is no bug of wares", b)
		}
		if regexp.MustCompile(*foreignRun).MatchString(b) {
			measure(t, b, Check{Rows: wareRows}, newWares(b))
		}
	}
}

// quietTest is a test that does not fail when its check fails.
type quietTest struct {
	*testing.T
	failed bool
	said   strings.Builder
}

type stopped struct{}

func (q *quietTest) Log(args ...any)                 { fmt.Fprintln(&q.said, args...) }
func (q *quietTest) Logf(format string, args ...any) { fmt.Fprintf(&q.said, format+"\n", args...) }
func (q *quietTest) Error(args ...any)               { q.Log(args...); q.failed = true }
func (q *quietTest) Errorf(format string, args ...any) {
	q.Logf(format, args...)
	q.failed = true
}
func (q *quietTest) Fatal(args ...any)                 { q.Error(args...); panic(stopped{}) }
func (q *quietTest) Fatalf(format string, args ...any) { q.Errorf(format, args...); panic(stopped{}) }
func (q *quietTest) Fail()                             { q.failed = true }
func (q *quietTest) FailNow()                          { q.failed = true; panic(stopped{}) }
func (q *quietTest) Failed() bool                      { return q.failed }

// caught is the result of a check.
type caught struct {
	by     string // the invariant, or the kind of failure; "" if nothing was found
	worlds int    // worlds that were tried, including the one that failed
	text   string
}

// shelved are wares that list each page under a tag. An invalidation concerns all pages of the tag.
type shelved struct {
	*wares
	first bool // bug: LastEvaluatedKey is ignored
}

const tag = "tag:all"

func (c shelved) list(ctx context.Context, key string) error {
	_, err := c.Client.PutItem(ctx,
		&dynamodb.PutItemInput{TableName: &c.Table, Item: item{"shelf": str(tag), "slot": str(key)}})
	return err
}

func (c shelved) Get(ctx context.Context, key string) (isr.Served, error) {
	if err := c.list(ctx, key); err != nil {
		return isr.Served{}, err
	}
	return c.wares.Get(ctx, key)
}

func (c shelved) Invalidate(ctx context.Context, key string) error {
	if err := c.list(ctx, key); err != nil {
		return err
	}
	pages := dynamodb.NewQueryPaginator(c.Client, &dynamodb.QueryInput{
		TableName: &c.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("shelf = :tag"), ExpressionAttributeValues: item{":tag": str(tag)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, row := range page.Items {
			if err := c.wares.Invalidate(ctx, row["slot"].(*types.AttributeValueMemberS).Value); err != nil {
				return err
			}
		}
		if c.first {
			return nil
		}
	}
	return nil
}

// An invalidation by tag asks for the pages of the tag, and the answer comes in pages. Other pages of the tag are made
// again before their time, which no mapping of wareRows says to single-flight.
func TestAnInvalidationByTagReadsEveryPage(t *testing.T) {
	effort.Long(t)
	for _, test := range []struct {
		first  bool
		want   string
		worlds string
	}{{true, "no-lost-invalidation", "100"}, {false, "", "10"}} {
		got := sought(t, Check{Rows: wareRows, Without: []string{"single-flight"}, Reach: []scenario.Mark{}}, 1,
			test.worlds, func(n Node) (isr.Handler, error) {
				return shelved{&wares{Node: n, born: n.Clock.Now(), mine: map[string]*ware{}}, test.first}, nil
			})
		if got.by != test.want {
			t.Errorf("only the first page: %v: found %q after %d worlds, want %q\n%s", test.first, got.by,
				got.worlds, test.want, got.text)
		}
	}
}

// setFlag sets a flag and returns a function that sets it back.
func setFlag(t *testing.T, name, value string) (back func()) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	return func() { _ = flag.Set(name, before) }
}

// sought does the same as Check.Run under a seed of rapid's, up to the first failure.
func sought(t *testing.T, c Check, seed int, checks string, newStore func(Node) (isr.Handler, error)) caught {
	t.Helper()
	defer setFlag(t, "rapid.seed", fmt.Sprint(seed))()
	defer setFlag(t, "rapid.checks", checks)()
	defer setFlag(t, "rapid.shrinktime", "0s")()
	defer setFlag(t, "rapid.nofailfile", "true")()
	c.Schedules = *foreignEach
	c.name(t)
	c.rows(t)
	defer heap.CollectRarely()()
	count := &tally{marks: map[scenario.Mark]int{}}
	f := found{runner: newRunner(t, c, newStore), count: count, file: filepath.Join(t.TempDir(), "failure.yaml")}
	count.answers = f.answers
	q := &quietTest{T: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != (stopped{}) {
				panic(v)
			}
		}()
		c.look(q, &f)
	}()
	r := caught{worlds: count.worlds}
	if f.last == nil {
		if q.failed {
			t.Fatalf("rapid failed, and no world did:\n%s", q.said.String())
		}
		if missing := count.missing(c.reach()); len(missing) > 0 {
			r.by, r.text = "vacuous", fmt.Sprint(missing)
		}
		return r
	}
	r.worlds++
	r.by, r.text = f.last.kind, f.last.text+"\n"+f.last.how
	if f.last.replay != nil && f.last.replay.Violates != "" {
		r.by = f.last.replay.Violates
	}
	return r
}

// measure checks a store under one seed. With -foreign.seeds it checks the store under that many seeds, and prints a
// line of the table.
func measure(t *testing.T, name string, c Check, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	m, checks := measured{by: map[string]int{}}, "100"
	if *foreignSeeds == 0 {
		checks = "12" // quickBugs
	}
	for seed := range max(1, *foreignSeeds) {
		got := sought(t, c, 1+seed, checks, newStore)
		m.seeds++
		m.worlds = max(m.worlds, got.worlds)
		if by, unknown := strings.CutPrefix(got.by, invariant.Unknown.String()); unknown && by == "" ||
			builtIn(got.by) {
			m.caught++
			m.by[got.by]++
		} else {
			t.Errorf("%s: seed %d: found %q after %d worlds, want a violated invariant\n%s", name, 1+seed,
				got.by, got.worlds, got.text)
		}
		if *foreignSeeds > 0 {
			//nolint:forbidigo // it takes minutes
			fmt.Printf("%s: seed %d: %s after %d worlds\n", name, 1+seed, got.by, got.worlds)
		}
		if got.by == "" {
			break // each of the other seeds would take minutes
		}
	}
	if *foreignSeeds > 0 {
		fmt.Printf("| %s | %v |\n", name, m) //nolint:forbidigo // a line of the table
	}
}

// TestMutantsAsStores measures how a check finds the mutants of package mutant.
func TestMutantsAsStores(t *testing.T) {
	if *foreignSeeds == 0 {
		t.Skip("a measurement: see the flag -foreign.seeds")
	}
	for _, m := range mutant.All() {
		if !regexp.MustCompile(*foreignRun).MatchString(m.Name) {
			continue
		}
		c := Check{Tenants: m.Breaks == "tenant-isolation"}
		if m.Breaks == "bounded-staleness" {
			c.Promise = aPageADay
		}
		measure(t, m.Name, c, func(n Node) (isr.Handler, error) { return m.New(n.Config) })
		if c.Tenants {
			continue // Renamed has no names for tenants
		}
		r := scenariotest.Renamed(m)
		measure(t, m.Name+renamed, Check{Rows: scenariotest.RenamedRows, Promise: c.Promise},
			func(n Node) (isr.Handler, error) { return r.New(n.Config) })
	}
}
