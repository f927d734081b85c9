package ddbfake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// createTable serves CreateTable.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html
//
// Deviation: the answer says CREATING, as the service's does, but the table is ACTIVE at once.
func (db *DB) createTable(r *request, in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	if in.TableName == nil {
		return nil, invalid("The parameter 'TableName' is required but was not present in the request")
	}
	name := *in.TableName
	if err := checkCreateTable(in); err != nil {
		return nil, err
	}
	schema, err := newKeySchema(in)
	if err != nil {
		return nil, err
	}
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	if err := unsupportedOfTable(in); err != nil {
		return nil, err
	}
	indexes, err := newIndexes(in, &schema)
	if err != nil {
		return nil, err
	}
	filed := address(r.region, name)
	if db.state.tables[filed] != nil {
		return nil, &types.ResourceInUseException{Message: aws.String("Table already exists: " + name)}
	}
	t := &table{
		tableID: &tableID{r.region, name, schema, db.state.log.lastSeq()},
		rows:    newRowSet(),
		dues:    newDues(),
		indexes: indexes,
		settings: &settings{
			id:                 db.state.nextTableID(),
			created:            r.now,
			definitions:        slices.Clone(in.AttributeDefinitions),
			keys:               slices.Clone(in.KeySchema),
			billing:            in.BillingMode,
			class:              in.TableClass,
			deletionProtection: aws.ToBool(in.DeletionProtectionEnabled),
			tags:               withTags(nil, in.Tags),
			encryption:         newEncryption(in.SSESpecification, r.region),
		},
	}
	onDemand := t.billing == types.BillingModePayPerRequest
	if onDemand {
		t.billed = r.now
	}
	if p := in.ProvisionedThroughput; p != nil {
		t.throughput = throughput{readUnits: *p.ReadCapacityUnits, writeUnits: *p.WriteCapacityUnits}
	}
	t.ceiling.set(in.OnDemandThroughput)
	t.warmth = newWarmth(onDemand, t.throughput)
	t.warmth.set(in.WarmThroughput)
	if specification := in.StreamSpecification; specification != nil && *specification.StreamEnabled {
		db.enableStream(t, specification.StreamViewType, r.now)
	}
	db.state.tables[filed] = t
	d := t.describe(types.TableStatusCreating)
	d.WarmThroughput = unasked(d.WarmThroughput, in.WarmThroughput)
	for i := range d.GlobalSecondaryIndexes {
		x := &d.GlobalSecondaryIndexes[i]
		for _, g := range in.GlobalSecondaryIndexes {
			if *g.IndexName == *x.IndexName {
				x.WarmThroughput = unasked(x.WarmThroughput, g.WarmThroughput)
			}
		}
	}
	return &dynamodb.CreateTableOutput{TableDescription: d}, nil
}

// unasked removes the warm throughput from the answer to a CreateTable that does not ask for one. DescribeTable shows
// it.
//
// Source: https://docs.aws.amazon.com/cli/latest/reference/dynamodb/create-table.html (the examples)
func unasked[T any](described *T, asked *types.WarmThroughput) *T {
	if warms(asked) {
		return described
	}
	return nil
}

func (s *state) nextTableID() string {
	s.tablesCreated++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.tablesCreated)
}

// checkCreateTable checks the parameters one by one.
func checkCreateTable(in *dynamodb.CreateTableInput) error {
	var c constraints
	c.plainName(*in.TableName, "tableName")
	if err := c.err(); err != nil {
		return err
	}
	if in.AttributeDefinitions == nil {
		c.null("attributeDefinitions")
	}
	for i, d := range in.AttributeDefinitions {
		c.attributeName(d.AttributeName, member("attributeDefinitions", i, "attributeName"))
		if d.AttributeType == "" {
			c.null(member("attributeDefinitions", i, "attributeType"))
		}
		c.enum(string(d.AttributeType), member("attributeDefinitions", i, "attributeType"), []string{"B", "N", "S"})
	}
	switch n := len(in.KeySchema); {
	case in.KeySchema == nil:
		c.null("keySchema")
	case n < 1:
		c.length("[]", "keySchema", "greater", 1)
	case n > 2:
		c.length(printKeySchema(in.KeySchema), "keySchema", "less", 2)
	}
	for i, k := range in.KeySchema {
		c.attributeName(k.AttributeName, member("keySchema", i, "attributeName"))
		if k.KeyType == "" {
			c.null(member("keySchema", i, "keyType"))
		}
		c.enum(string(k.KeyType), member("keySchema", i, "keyType"), []string{"HASH", "RANGE"})
	}
	c.enum(string(in.BillingMode), "billingMode", []string{"PROVISIONED", "PAY_PER_REQUEST"})
	c.enum(string(in.TableClass), "tableClass", tableClasses)
	if p := in.ProvisionedThroughput; p != nil {
		c.units(p.ReadCapacityUnits, "provisionedThroughput.readCapacityUnits")
		c.units(p.WriteCapacityUnits, "provisionedThroughput.writeCapacityUnits")
	}
	c.indexes(in)
	c.streamSpecification(in.StreamSpecification)
	c.encryptionType(in.SSESpecification)
	if err := c.err(); err != nil {
		return err
	}
	const prefix = "One or more parameter values were invalid: "
	switch {
	case in.BillingMode == types.BillingModePayPerRequest && in.ProvisionedThroughput != nil:
		return invalid(prefix +
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case in.BillingMode != types.BillingModePayPerRequest && in.ProvisionedThroughput == nil:
		return invalid(
			prefix + "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
		)
	}
	if s := in.StreamSpecification; s != nil {
		// Source:
		// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-streams-encryption-class.md
		// (DDB-TABLE-035)
		switch enabled, view := *s.StreamEnabled, s.StreamViewType != ""; {
		case enabled && !view:
			return invalid(prefix + "Table is being created with a stream enabled, UpdateViewType is required")
		case !enabled && view:
			return invalid(
				prefix + "Table is being created with a stream disabled, UpdateViewType should not be specified",
			)
		}
	}
	if err := checkEncryption(in.SSESpecification); err != nil {
		return err
	}
	onDemand := in.BillingMode == types.BillingModePayPerRequest
	if err := checkCeiling(in.OnDemandThroughput, "table", onDemand, false); err != nil {
		return err
	}
	var units throughput
	if p := in.ProvisionedThroughput; p != nil {
		units = throughput{readUnits: *p.ReadCapacityUnits, writeUnits: *p.WriteCapacityUnits}
	}
	return newWarmth(onDemand, units).check(in.WarmThroughput, "table", onDemand, false)
}

func (c *constraints) attributeName(name *string, member string) {
	switch {
	case name == nil:
		c.null(member)
	case *name == "":
		c.length("", member, "greater", 1)
	case len(*name) > 255:
		c.length(*name, member, "less", 255)
	}
}

func (c *constraints) units(n *int64, member string) {
	switch {
	case n == nil:
		c.null(member)
	case *n < 1:
		c.add(fmt.Sprintf("'%d'", *n), member, "Member must have value greater than or equal to 1")
	}
}

// printKeySchema prints a key schema as the service does when it echoes the parameter.
func printKeySchema(keys []types.KeySchemaElement) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("KeySchemaElement(attributeName=%s, keyType=%s)",
			aws.ToString(k.AttributeName), k.KeyType)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// newKeySchema checks the key against the attribute definitions.
func newKeySchema(in *dynamodb.CreateTableInput) (keySchema, error) {
	var s keySchema
	kinds := map[string]attr.Kind{}
	var defined, keys []string
	for _, d := range in.AttributeDefinitions {
		kind := attr.Kind(d.AttributeType)
		if kinds[*d.AttributeName] != "" {
			return s, duplicated(*d.AttributeName)
		}
		kinds[*d.AttributeName] = kind
		defined = append(defined, *d.AttributeName)
	}
	for _, k := range in.KeySchema {
		keys = append(keys, *k.AttributeName)
	}
	undefined := func(name string) bool { return kinds[name] == "" }
	switch {
	case len(keys) == 2 && (slices.ContainsFunc(keys, undefined) || keys[0] == keys[1] && len(defined) == 1):
		return s, invalid("Invalid KeySchema: Some index key attribute have no definition")
	case len(keys) == 1 && undefined(keys[0]):
		return s, invalid("One or more parameter values were invalid: Some index key attributes are not defined in "+
			"AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]", strings.Join(keys, ", "),
			strings.Join(defined, ", "))
	case len(keys) == 2 && keys[0] == keys[1]:
		return s, invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	case in.KeySchema[0].KeyType != types.KeyTypeHash:
		return s, invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case len(keys) == 2 && in.KeySchema[1].KeyType != types.KeyTypeRange:
		return s, invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	case in.LocalSecondaryIndexes == nil && in.GlobalSecondaryIndexes == nil && len(keys) != len(defined):
		return s, invalid("One or more parameter values were invalid: Number of attributes in KeySchema does not " +
			"exactly match number of attributes defined in AttributeDefinitions")
	}
	s.hash = expr.Key{Name: keys[0], Kind: kinds[keys[0]]}
	if len(keys) == 2 {
		s.sort = expr.Key{Name: keys[1], Kind: kinds[keys[1]]}
	}
	return s, nil
}

// duplicated refuses an attribute that is defined twice, even with the same type.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-throughput-billing.md
// (DDB-TABLE-042)
// Source: https://github.com/scylladb/scylladb/issues/13870
func duplicated(name string) error { return invalid("Attribute Name is duplicated: %s", name) }

// unsupportedOfTable refuses unsupported parameters.
func unsupportedOfTable(in *dynamodb.CreateTableInput) error {
	for _, p := range []struct {
		name  string
		given bool
	}{
		{"VectorIndexes", in.VectorIndexes != nil},
		{"ResourcePolicy", in.ResourcePolicy != nil},
		{"GlobalTableSourceArn", in.GlobalTableSourceArn != nil},
		{"GlobalTableSettingsReplicationMode", in.GlobalTableSettingsReplicationMode != ""},
	} {
		if p.given {
			return &UnsupportedError{Operation: "CreateTable", Parameter: p.name}
		}
	}
	return nil
}
