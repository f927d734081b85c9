package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Run runs every case as a subtest named store/topic/name, in parallel, and returns when all have ended. A case that
// needs a clock or a sweep that the store lacks is skipped, with that reason.
//
// The store should have no tables whose names begin with "conformance-". Each case creates its own and deletes them.
func Run(t *testing.T, store Store) {
	store.State = nil
	var mu sync.Mutex
	var failed []Case // run once more, alone: DynamoDB Local sometimes fails under load
	// The group waits for its parallel subtests.
	t.Run(store.Name, func(t *testing.T) {
		for _, c := range Cases() {
			t.Run(c.Topic+"/"+strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
				if !c.clock && !c.sweep && !c.alone {
					t.Parallel() // the others finish first, so no other case's clock moves
				}
				err := c.Check(t.Context(), store)
				switch {
				case errors.Is(err, ErrCannot):
					t.Skip(err)
				case store.Name == Local && hasMuchToDo(err):
					mu.Lock()
					failed = append(failed, c)
					mu.Unlock()
				case err != nil:
					t.Error(err)
				}
			})
		}
	})
	for _, c := range failed {
		t.Run(store.Name+"-alone/"+c.Topic+"/"+strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			if err := c.Check(t.Context(), store); err != nil {
				t.Error(err)
			}
		})
	}
}

// ErrCannot is wrapped by Check's error if the store lacks a capability that the case needs.
var ErrCannot = errors.New("the store cannot show it")

// Check runs the case. The error has the store's answer and the expected one: DynamoDB's answer, or the deviation that
// is listed under the store's name.
//
// A case runs again, up to three times, if DynamoDB Local answers a step with InternalFailure against the case, or if a
// connection to it breaks in the middle of an answer: under load, both happen to requests that otherwise succeed.
func (c Case) Check(ctx context.Context, store Store) error {
	err := c.check(ctx, store)
	for again := 0; again < 3 && store.Name == Local && hasMuchToDo(err); again++ {
		err = c.check(ctx, store)
	}
	return err
}

// errInternal is in the error of check if the store answered a step with an InternalFailure that the case does not
// expect.
var errInternal = errors.New("the store has failed")

// hasMuchToDo reports whether the error of check may be that of a store under load. A broken connection is not an
// answer.
func hasMuchToDo(err error) bool {
	broken, _ := errors.AsType[*net.OpError](err)
	return errors.Is(err, errInternal) || broken != nil
}

func (c Case) check(ctx context.Context, store Store) (err error) {
	switch {
	case c.clock && store.Clock == nil:
		return fmt.Errorf("%w: its clock cannot be moved", ErrCannot)
	case c.streams && store.Streams == nil:
		return fmt.Errorf("%w: it has no client for streams", ErrCannot)
	case c.regions && store.In == nil:
		return fmt.Errorf("%w: its other regions cannot be reached", ErrCannot)
	case c.sweep && store.Sweep == nil:
		return fmt.Errorf("%w: its TTL cannot be made to come", ErrCannot)
	}
	w := &world{store: store, prefix: prefixOf(c)}
	if store.Clock != nil {
		if c.clock && c.backups { // a recovery has a resolution of one second
			store.Clock.Advance(time.Second - time.Duration(store.Clock.Now().Nanosecond()))
		}
		w.began = store.Clock.Now()
	}
	tables := c.tables
	if tables == nil {
		tables = map[string]schema{usualTable: usualSchema}
	}
	var created []string
	defer func() {
		err = errors.Join(err, w.dropReplicas(ctx))
		for _, name := range created {
			err = errors.Join(err, w.drop(ctx, name))
		}
		err = errors.Join(err, w.dropBackups(ctx))
	}()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if err := w.create(ctx, name, tables[name]); err != nil {
			return fmt.Errorf("%s: %w", c.Rule, err)
		}
		created = append(created, name)
	}
	for _, r := range c.rows {
		in, err := put(w, r)
		if err == nil {
			_, err = send(ctx, store, in)
		}
		if err != nil {
			return fmt.Errorf("%s: put %s: %w", c.Rule, itemText(in.Item, ""), err)
		}
	}
	listed := map[int]Deviation{}
	for _, d := range c.Deviations() {
		if d.Store == store.Name {
			listed[d.Step] = d
		}
	}
	var complaints []error
	for i, s := range c.steps {
		in, err := s.do(w)
		if err != nil {
			return fmt.Errorf("%s: step %d: %w", c.Rule, i+1, err)
		}
		if in == nil {
			continue
		}
		before := store.state()
		out, refusal := send(ctx, store, in)
		if refusal != nil && store.state() != before {
			complaints = append(complaints,
				fmt.Errorf("%s: step %d, %s: the refused request has left a change", c.Rule, i+1, operation(in)))
		}
		w.note(out)
		if refusal == nil {
			w.noteReplicas(in)
		}
		got, err := answer(out, refusal)
		if err != nil {
			return fmt.Errorf("%s: step %d, %s: %w", c.Rule, i+1, operation(in), err)
		}
		got = strings.ReplaceAll(got, w.prefix, "")
		if w.arn != "" {
			got = strings.ReplaceAll(got, w.arn, "arn/")
		}
		if c.backups {
			got = w.plain(got)
		}
		if update, ok := in.(*dynamodb.UpdateTableInput); ok {
			w.settle(ctx, update.TableName, tableTimeout)
		}
		if name := restored(out); name != nil {
			created = append(created, strings.TrimPrefix(*name, w.prefix))
			w.settle(ctx, name, restoreTimeout)
		}
		if complaint := s.judge(store.Name, got, listed[i+1]); complaint != "" {
			complaints = append(complaints,
				fmt.Errorf("%s\nSource: %s\nstep %d, %s: %s", c.Rule, c.Source, i+1, operation(in), complaint))
			if strings.HasPrefix(got, "InternalFailure:") {
				complaints = append(complaints, errInternal)
			}
		}
		if (c.backups || c.regions) && listed[i+1].Reason != "" && s.absent {
			break
		}
	}
	return errors.Join(complaints...)
}

// judge compares a store's answer with the expected one: DynamoDB's answer, or the deviation listed for the store.
func (s *step) judge(store, got string, listed Deviation) string {
	switch {
	case listed.Reason == "" && same(store, got, s.want), listed.Reason != "" && got == listed.Got:
		return ""
	case listed.Reason == "":
		return fmt.Sprintf("\n got %s\nwant %s", got, s.want)
	case same(store, got, s.want):
		return fmt.Sprintf("%s answers like DynamoDB now: the deviation is to be taken off its list\n    got %s\n"+
			" listed %s",
			store, got, listed.Got)
	}
	return fmt.Sprintf("%s differs from DynamoDB, but not as it is listed (%s)\n     got %s\n  listed %s\nDynamoDB %s",
		store, listed.Reason, got, listed.Got, s.want)
}

// envelope is a text that the service puts before other texts: for three operations since 2026, in most regions.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/valueLayers.test.ts
const envelope = "1 validation error detected: "

// same reports whether two answers are equal. For AWS, the envelope may be missing from one of them.
func same(store, got, want string) bool {
	return got == want ||
		store == AWS && strings.Replace(got, envelope, "", 1) == strings.Replace(want, envelope, "", 1)
}

// operation returns the name of an input's operation.
func operation(in any) string {
	if there, ok := in.(elsewhere); ok {
		return operation(there.in) + " in " + there.region
	}
	name := fmt.Sprintf("%T", in)
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.TrimSuffix(name, "Input")
}

// prefixOf returns the prefix of a case's table names, unlike any other case's.
func prefixOf(c Case) string {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}
	return "conformance-" + strings.Map(plain, c.Topic+"-"+c.Name) + "."
}

// How long it may take to create or delete a table, and to restore one.
const (
	tableTimeout   = 2 * time.Minute
	restoreTimeout = 20 * time.Minute
)

// create creates a table and waits until it can be used.
func (w *world) create(ctx context.Context, name string, s schema) error {
	in := s.input()
	in.TableName = aws.String(w.name(name))
	out, err := w.store.Client.CreateTable(ctx, in)
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	w.note(out)
	if out.TableDescription.TableStatus == types.TableStatusActive {
		return nil
	}
	describe := &dynamodb.DescribeTableInput{TableName: aws.String(w.name(name))}
	described, err := w.store.Client.DescribeTable(ctx, describe)
	if err == nil && described.Table.TableStatus == types.TableStatusActive {
		return nil
	}
	waiter := dynamodb.NewTableExistsWaiter(w.store.Client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay = time.Second
	})
	if err := waiter.Wait(ctx, describe, tableTimeout); err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return nil
}

// settle waits until a table and its indexes are ready. If they never are, the next step fails.
func (w *world) settle(ctx context.Context, name *string, timeout time.Duration) {
	busy := func(out *dynamodb.DescribeTableOutput) bool {
		encryption, warmth := out.Table.SSEDescription, out.Table.WarmThroughput
		return out.Table.TableStatus != types.TableStatusActive ||
			encryption != nil && encryption.Status == types.SSEStatusUpdating ||
			warmth != nil && warmth.Status == types.TableStatusUpdating ||
			slices.ContainsFunc(out.Table.GlobalSecondaryIndexes, func(x types.GlobalSecondaryIndexDescription) bool {
				return x.IndexStatus != types.IndexStatusActive
			})
	}
	describe := &dynamodb.DescribeTableInput{TableName: name}
	if out, err := w.store.Client.DescribeTable(ctx, describe); err != nil || !busy(out) {
		return
	}
	waiter := dynamodb.NewTableExistsWaiter(w.store.Client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay = time.Second
		o.Retryable = func(
			_ context.Context, _ *dynamodb.DescribeTableInput, out *dynamodb.DescribeTableOutput, err error,
		) (bool, error) {
			return err == nil && busy(out), err
		}
	})
	_ = waiter.Wait(ctx, describe, timeout)
}

// drop deletes a table, unless the case has deleted it.
func (w *world) drop(ctx context.Context, name string) error {
	// A cancelled case must delete its tables, too.
	_, err := w.store.Client.DeleteTable(context.WithoutCancel(ctx),
		&dynamodb.DeleteTableInput{TableName: aws.String(w.name(name))})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); err != nil && !ok {
		return fmt.Errorf("delete table %s: %w", name, err)
	}
	return nil
}
