package ddbfake

import (
	"cmp"
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// Gated returns the same door with a gate. The gate gets each decoded call, and calls serve to have it served. The gate
// may wait; other calls do not wait for it.
func (h *handler) Gated(
	gate func(ctx context.Context, c Call, serve func(context.Context, Call) (any, error)) (any, error),
) http.Handler {
	return &handler{db: h.db, do: func(ctx context.Context, c Call) (any, error) { return gate(ctx, c, h.do) }}
}

// Rows returns the rows that a call touches, as far as its tables exist.
func (h *handler) Rows(c Call) []httpdoor.Row {
	db := h.db
	region := cmp.Or(c.Region, DefaultRegion)
	db.mu.Lock()
	defer db.mu.Unlock()
	var rows []httpdoor.Row
	for _, t := range db.targets(region, c.Input) {
		row := httpdoor.Row{Table: t.table}
		if table := db.state.tables[address(region, t.table)]; table != nil {
			names := []string{table.schema.hash.Name}
			if table.schema.hasSort() {
				names = append(names, table.schema.sort.Name)
			}
			for _, name := range names {
				if v := t.values[name]; v != nil {
					if row.Key == nil {
						row.Key = map[string]types.AttributeValue{}
					}
					row.Key[name] = v
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
