package gen_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/property/gen"
)

// repository keeps the pages of tenants. It is an example of code under test.
type repository struct {
	db    *dynamodb.Client
	table string
	name  func(tenant string) string // the partition of a tenant
	limit int32                      // rows in one answer of List
	pages bool                       // List also asks for the later answers
}

func (r *repository) Save(ctx context.Context, tenant, key, body string) error {
	item := r.key(tenant, key)
	item["body"] = &types.AttributeValueMemberS{Value: body}
	_, err := r.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &r.table, Item: item})
	return err
}

func (r *repository) Remove(ctx context.Context, tenant, key string) error {
	_, err := r.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &r.table, Key: r.key(tenant, key)})
	return err
}

// List returns the keys of a tenant's pages.
func (r *repository) List(ctx context.Context, tenant string) (keys []string, err error) {
	in := &dynamodb.QueryInput{
		TableName: &r.table, ConsistentRead: aws.Bool(true), Limit: &r.limit,
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": r.key(tenant, "")["pk"]},
	}
	for {
		out, err := r.db.Query(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, item := range out.Items {
			keys = append(keys, item["sk"].(*types.AttributeValueMemberS).Value)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil || !r.pages {
			return keys, nil
		}
	}
}

func (r *repository) key(tenant, key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: r.name(tenant)}, "sk": &types.AttributeValueMemberS{Value: key},
	}
}

// table is the table of the repository's pages.
var table = gen.Table{Name: "pages", Partition: "pk", Sort: "sk"}

// correct is the repository without a bug.
func correct(db *ddbfake.DB) *repository {
	return &repository{
		db: db.Client(), table: "pages", limit: 2, pages: true,
		name: func(tenant string) string { return "TENANT#" + tenant },
	}
}

// step is one call of the repository.
type step struct {
	remove            bool
	tenant, key, body string
}

// steps draws calls.
var steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
	return step{
		remove: rapid.Bool().Draw(t, "remove"), tenant: gen.Tenants().Draw(t, "tenant"), key: gen.Keys().Draw(t, "key"),
		body: rapid.StringN(0, 3, -1).Draw(t, "body"),
	}
}), 1, 30)

// holds is the property: after any calls, each tenant has the pages that it saved and did not remove.
func holds(ctx context.Context, all []step, faults []ddbfake.Fault, newRepository func(*ddbfake.DB) *repository) error {
	db, model := ddbfake.New(ddbfake.Options{}), gen.NewModel(table)
	if _, err := db.As("setup").CreateTable(ctx, table.Create()); err != nil {
		return err
	}
	r := newRepository(db)
	for _, s := range all {
		row := attr.Item{"pk": attr.S("TENANT#" + s.tenant), "sk": attr.S(s.key)}
		db.Inject(faults...)
		if s.remove {
			model.Delete(row)
			_ = r.Remove(ctx, s.tenant, s.key) // if a fault refuses this call, the next one succeeds
			db.ClearFaults()
			if err := r.Remove(ctx, s.tenant, s.key); err != nil {
				return err
			}
			continue
		}
		row["body"] = attr.S(s.body)
		model.Put(row)
		_ = r.Save(ctx, s.tenant, s.key, s.body)
		db.ClearFaults()
		if err := r.Save(ctx, s.tenant, s.key, s.body); err != nil {
			return err
		}
	}
	for _, s := range all {
		var want []string
		for _, row := range model.Query("TENANT#" + s.tenant) {
			key, _ := row.Str("sk")
			want = append(want, key)
		}
		if got, err := r.List(ctx, s.tenant); err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			return fmt.Errorf("tenant %q has %q, %v; want %q", s.tenant, got, err, want)
		}
	}
	if diff := model.Diff(db); diff != "" {
		return fmt.Errorf("the table:\n%s", diff)
	}
	return nil
}

func TestRepository(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		faults := rapid.SliceOfN(table.Faults(), 0, 2).Draw(t, "faults")
		if err := holds(t.Context(), steps.Draw(t, "calls"), faults, correct); err != nil {
			t.Fatal(err)
		}
	})
}

// Each of these repositories has a typical bug, and the property catches it.
func TestRepositoryWithABug(t *testing.T) {
	for name, bug := range map[string]func(*repository){
		"only the first answer of a Query": func(r *repository) { r.pages = false },
		"two tenants share a partition": func(r *repository) {
			r.name = func(tenant string) string { return "TENANT#" + tenant[:1] }
		},
	} {
		t.Run(name, func(t *testing.T) {
			broken := func(db *ddbfake.DB) *repository { r := correct(db); bug(r); return r }
			for seed := range 200 {
				if err := holds(t.Context(), steps.Example(seed), nil, broken); err != nil {
					t.Logf("with seed %d: %v", seed, err)
					return
				}
			}
			t.Error("not found in 200 examples")
		})
	}
}
