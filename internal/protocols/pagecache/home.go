package pagecache

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// NewAtHome returns a cache on recipe A for nodes in several regions of one global table. A condition is judged in the
// region to which it is sent. So the nodes of all regions send the requests that decide to one region, the home of all
// keys: they take and give back the lease there, look at META there under the lease, and publish there.
//
// A page that is fresh in the node's own region is served from there. It may not be the newest one, but it is fresh by
// its own window. A node whose client says that it is in the home region looks only there.
func NewAtHome(cfg isr.Config, home string) (*Cache, error) {
	near, err := NewRecipeA(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Client = inRegion{cfg.Client, home}
	store, err := NewRecipeA(cfg)
	if err != nil {
		return nil, err
	}
	if c, ok := near.cfg.Client.(interface{ Options() dynamodb.Options }); ok && c.Options().Region == home {
		return NewOn(store, cfg)
	}
	return NewOn(&atHome{store, near}, cfg)
}

// atHome is a store in the home region that also looks at the node's own region.
type atHome struct {
	*RecipeA
	near *RecipeA
}

// Read implements Store.
func (s *atHome) Read(ctx context.Context, key string) (Meta, error) {
	if m, err := s.near.Read(ctx, key); err == nil && s.Fresh(m, s.cfg.Clock.Now()) {
		return m, nil
	}
	return s.RecipeA.Read(ctx, key)
}

// inRegion is a client whose requests go to one region.
type inRegion struct {
	isr.Client
	region string
}

func (c inRegion) with(o []func(*dynamodb.Options)) []func(*dynamodb.Options) {
	return append(slices.Clip(o), func(o *dynamodb.Options) { o.Region = c.region })
}

func (c inRegion) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	return c.Client.GetItem(ctx, in, c.with(o)...)
}

func (c inRegion) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	return c.Client.PutItem(ctx, in, c.with(o)...)
}

func (c inRegion) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return c.Client.UpdateItem(ctx, in, c.with(o)...)
}

func (c inRegion) DeleteItem(
	ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.DeleteItemOutput, error) {
	return c.Client.DeleteItem(ctx, in, c.with(o)...)
}

func (c inRegion) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	return c.Client.Query(ctx, in, c.with(o)...)
}

func (c inRegion) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	return c.Client.TransactWriteItems(ctx, in, c.with(o)...)
}
