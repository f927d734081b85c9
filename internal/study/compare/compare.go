// Package compare repeats the requests of runs on a real DynamoDB, and reports the answers that differ from the fake's.
package compare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Comparison is the result of repeating runs, request by request, on a real DynamoDB.
type Comparison struct {
	Runs        int
	Requests    int // calls, and deletions by TTL
	Differences []Difference
}

// Difference is an answer of the fake that the real store did not give.
type Difference struct {
	Run        int // from 1
	Request    int // from 1; 0 if the rows at the end of the run differ
	What       string
	Fake, Real string
}

// String prints the difference on three lines.
func (d Difference) String() string {
	at := fmt.Sprintf("run %d, request %d", d.Run, d.Request)
	if d.Request == 0 {
		at = fmt.Sprintf("run %d, at the end", d.Run)
	}
	return fmt.Sprintf("%s: %s\n  fake: %s\n  real: %s", at, d.What, d.Fake, d.Real)
}

// Run makes each run on the fake, and repeats its requests on the store behind client. It creates a table without TTL,
// under the name that scenarios use, so no such table may exist before. It empties the table between runs and deletes
// it at the end. If the request of a call was lost, the call is not made. If its answer was lost, the call is made, but
// its answer is not compared. Where TTL deleted a row on the fake, a request deletes the row.
//
// An error means that the store could not be reached or used. The comparison then covers the requests before the error.
func Run(
	ctx context.Context, client *dynamodb.Client, runs []kernel.Run, progress func(done, of int),
) (c Comparison, err error) {
	for _, run := range runs {
		if slices.ContainsFunc(run.Scenario.Actors,
			func(a spec.Actor) bool { return cmp.Or(a.Region, ddbfake.DefaultRegion) != ddbfake.DefaultRegion }) {
			return c, fmt.Errorf("scenario: compare: found scenario %s with actors in several regions, expected one "+
				"region: the other store is in one", run.Scenario.Name)
		}
		if len(run.Scenario.Rows.Rows) > 0 || run.Scenario.Rows.Translate != nil {
			return c, fmt.Errorf("scenario: compare: found scenario %s with rows of its own, expected one with META "+
				"and LOCK: the other store's tables are those of the reference", run.Scenario.Name)
		}
	}
	created, err := client.CreateTable(ctx, isr.TableInput(hooks.TableName))
	if err != nil {
		return c, fmt.Errorf("scenario: compare: create table %s: %w", hooks.TableName, err)
	}
	defer func() {
		// The table must be deleted even if the caller has cancelled ctx. A table that stays would make the next
		// comparison fail.
		_, cleanupErr := client.DeleteTable(context.WithoutCancel(ctx),
			&dynamodb.DeleteTableInput{TableName: aws.String(hooks.TableName)})
		if err == nil && cleanupErr != nil {
			err = fmt.Errorf("scenario: compare: delete table %s: %w", hooks.TableName, cleanupErr)
		}
	}()
	table := aws.ToString(created.TableDescription.TableId) +
		aws.ToTime(created.TableDescription.CreationDateTime).String()
	for i, run := range runs {
		c.Runs++
		if err := c.run(ctx, client, run, fmt.Sprint(table, i)); err != nil {
			return c, fmt.Errorf("scenario: compare run %d: %w", c.Runs, err)
		}
		if progress != nil {
			progress(i+1, len(runs))
		}
	}
	return c, nil
}

// run compares one run and leaves the table empty. The store must not remember another run with the same id.
func (c *Comparison) run(ctx context.Context, client *dynamodb.Client, run kernel.Run, id string) error {
	recorded := hooks.Probe{Record: true}
	if _, err := run.Do(hooks.With(ctx, &recorded)); err != nil {
		return err
	}
	for i, e := range recorded.Exchanges {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.Requests++
		var out any
		var err error
		what, fake := "TTL", ""
		if e.Input == nil {
			fake = "ok " + e.Swept.String()
			out, err = sweepReal(ctx, client, e.Swept)
		} else {
			what, fake = e.What, answerText(e.Output, e.Err)
			out, err = callReal(ctx, client, e.Input, id)
		}
		if _, answered := errors.AsType[smithy.APIError](err); err != nil && !answered {
			return fmt.Errorf("request %d: %w", i+1, err) // no answer is not a different answer
		}
		realAnswer := answerText(out, err)
		if !e.Hidden && fake != realAnswer {
			c.Differences = append(c.Differences, Difference{c.Runs, i + 1, what, fake, realAnswer})
		}
	}
	rows, err := rowsReal(ctx, client)
	if err != nil {
		return err
	}
	if want, left := rowTexts(recorded.Rows), rowTexts(rows); !slices.Equal(want, left) {
		c.Differences = append(c.Differences,
			Difference{c.Runs, 0, "the rows that are left", strings.Join(want, " "), strings.Join(left, " ")})
	}
	for _, row := range rows {
		_, err := client.DeleteItem(ctx,
			&dynamodb.DeleteItemInput{TableName: aws.String(hooks.TableName), Key: rowKey(row)})
		if err != nil {
			return fmt.Errorf("empty table %s: %w", hooks.TableName, err)
		}
	}
	return nil
}

// callReal makes a recorded call. Each run gets its own idempotency tokens, because the store remembers tokens for ten
// minutes, even if the table is deleted earlier.
func callReal(ctx context.Context, client *dynamodb.Client, input any, runID string) (any, error) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return client.GetItem(ctx, in)
	case *dynamodb.QueryInput:
		return client.Query(ctx, in)
	case *dynamodb.PutItemInput:
		return client.PutItem(ctx, in)
	case *dynamodb.UpdateItemInput:
		return client.UpdateItem(ctx, in)
	case *dynamodb.DeleteItemInput:
		return client.DeleteItem(ctx, in)
	case *dynamodb.TransactWriteItemsInput:
		own := *in
		sum := sha256.Sum256([]byte(runID + " " + aws.ToString(in.ClientRequestToken)))
		own.ClientRequestToken = aws.String(hex.EncodeToString(sum[:16]))
		return client.TransactWriteItems(ctx, &own)
	default:
		return nil, fmt.Errorf("a recorded call of type %T cannot be made again", input)
	}
}

// sweepReal deletes a row as TTL did on the fake, and answers with the old row.
func sweepReal(ctx context.Context, client *dynamodb.Client, row attr.Item) (any, error) {
	return client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(hooks.TableName),
		Key:                       rowKey(row),
		ConditionExpression:       aws.String("#ttl = :ttl"),
		ExpressionAttributeNames:  map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":ttl": attr.ToSDK(row["ttl"])},
		ReturnValues:              types.ReturnValueAllOld,
	})
}

func rowKey(row attr.Item) map[string]types.AttributeValue {
	pk, _ := row.Str("pk")
	sk, _ := row.Str("sk")
	return pagecache.Key(pk, sk)
}

// rowsReal returns the rows that are left in the table.
func rowsReal(ctx context.Context, client *dynamodb.Client) ([]attr.Item, error) {
	var items []attr.Item
	pages := dynamodb.NewScanPaginator(client,
		&dynamodb.ScanInput{TableName: aws.String(hooks.TableName), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("scan table %s: %w", hooks.TableName, err)
		}
		for _, item := range page.Items {
			own, err := attr.ItemFromSDK(item)
			if err != nil {
				return nil, fmt.Errorf("scan table %s: %w", hooks.TableName, err)
			}
			items = append(items, own)
		}
	}
	return items, nil
}

// rowTexts prints the rows of a table, sorted.
func rowTexts(items []attr.Item) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.String()
	}
	slices.Sort(texts)
	return texts
}

// answerText prints the parts of an answer that a client can depend on. Equal answers have equal texts.
func answerText(out any, err error) string {
	if err != nil {
		return errorText(err)
	}
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		return "ok " + itemText(out.Item)
	case *dynamodb.QueryOutput:
		items := make([]string, len(out.Items))
		for i, item := range out.Items {
			items[i] = itemText(item)
		}
		return fmt.Sprintf("ok %s, %d of %d, up to %s", strings.Join(items, " "), out.Count, out.ScannedCount,
			itemText(out.LastEvaluatedKey))
	case *dynamodb.PutItemOutput:
		return "ok " + itemText(out.Attributes)
	case *dynamodb.UpdateItemOutput:
		return "ok " + itemText(out.Attributes)
	case *dynamodb.DeleteItemOutput:
		return "ok " + itemText(out.Attributes)
	default:
		return "ok"
	}
}

func errorText(err error) string {
	if c, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		reasons := make([]string, len(c.CancellationReasons))
		for i, r := range c.CancellationReasons {
			reasons[i] = fmt.Sprintf("%s %q %s", aws.ToString(r.Code), aws.ToString(r.Message), itemText(r.Item))
		}
		return fmt.Sprintf("%s %q [%s]", c.ErrorCode(), c.ErrorMessage(), strings.Join(reasons, ", "))
	}
	if c, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return fmt.Sprintf("%s %q %s", c.ErrorCode(), c.ErrorMessage(), itemText(c.Item))
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("%s %q", api.ErrorCode(), api.ErrorMessage())
	}
	return err.Error()
}

func itemText(item map[string]types.AttributeValue) string {
	if item == nil {
		return "-"
	}
	own, err := attr.ItemFromSDK(item)
	if err != nil {
		return err.Error()
	}
	return own.String()
}
