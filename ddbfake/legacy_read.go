package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// legacyQuery checks the legacy parameters of a Query one by one.
func (c *constraints) legacyQuery(in *dynamodb.QueryInput) {
	c.conditions(in.QueryFilter, "queryFilter")
	c.conditionalOperator(in.ConditionalOperator)
	c.attributesToGet(in.AttributesToGet, "attributesToGet")
	c.conditions(in.KeyConditions, "keyConditions")
}

// legacyParts makes a filter of QueryFilter and a projection of AttributesToGet. For a Query, the service checks the
// filter first; for a Scan it does not.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.QueryFilter.html
func (q *query) legacyParts() error {
	in := q.in
	if err := checkConditionalOperator(in.ConditionalOperator, len(in.QueryFilter)); err != nil {
		return err
	}
	if in.QueryFilter == nil && in.AttributesToGet == nil {
		return nil
	}
	tests, err := legacyConditions(in.QueryFilter)
	if err != nil {
		return err
	}
	if err := checkAttributesToGet(in.AttributesToGet); err != nil {
		return err
	}
	q.filter, q.projection, q.args = buildRead(in.ConditionalOperator, tests, in.AttributesToGet)
	return nil
}

// filterText is the name of the filter in errors.
func (q *query) filterText() string {
	if q.in.QueryFilter != nil {
		return "QueryFilter"
	}
	return "Filter Expression"
}

// legacyKeys makes the key condition of KeyConditions, which have one or two attributes. For an index, the number is
// checked with its key, as in DynamoDB Local 3.3.1.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.KeyConditions.html
func (q *query) legacyKeys() error {
	if q.in.KeyConditions == nil {
		return nil
	}
	tests, err := legacyConditions(q.in.KeyConditions)
	if err != nil {
		return err
	}
	if len(tests) == 0 || len(tests) > 2 && q.in.IndexName == nil {
		return invalid("Conditions can be of length 1 or 2 only")
	}
	var b expr.Builder // its Args are not needed: a built key condition has its values
	q.keys = b.KeyCondition(tests)
	return nil
}

// legacyParts makes a filter of ScanFilter and a projection of AttributesToGet.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.ScanFilter.html
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js (order)
func (s *scan) legacyParts() error {
	in := s.in
	if err := checkConditionalOperator(in.ConditionalOperator, len(in.ScanFilter)); err != nil {
		return err
	}
	if in.ScanFilter == nil && in.AttributesToGet == nil {
		return nil
	}
	if err := checkAttributesToGet(in.AttributesToGet); err != nil {
		return err
	}
	tests, err := legacyConditions(in.ScanFilter)
	if err != nil {
		return err
	}
	s.filter, s.projection, s.args = buildRead(in.ConditionalOperator, tests, in.AttributesToGet)
	return nil
}

// buildRead builds the filter and the projection of a read; each is nil if it is not asked for.
func buildRead(
	op types.ConditionalOperator, tests []expr.Test, attributesToGet []string,
) (*expr.Condition, *expr.Projection, expr.Args) {
	var b expr.Builder
	filter := b.Condition(join(op), tests)
	var projection *expr.Projection
	if attributesToGet != nil {
		projection = b.Projection(attributesToGet)
	}
	return filter, projection, b.Args()
}
