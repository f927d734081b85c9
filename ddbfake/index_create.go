package ddbfake

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// indexSpec is an index as a request describes it, in CreateTable or in UpdateTable.
type indexSpec struct {
	name       *string
	global     bool
	keys       []types.KeySchemaElement
	projection *types.Projection
	throughput *types.ProvisionedThroughput
	ceiling    *types.OnDemandThroughput
	warmth     *types.WarmThroughput
}

// indexSpecs returns the indexes of a CreateTable, the local ones first. This is the order in which the service finds
// errors.
func indexSpecs(in *dynamodb.CreateTableInput) (local, global []indexSpec) {
	for _, l := range in.LocalSecondaryIndexes {
		local = append(local, indexSpec{name: l.IndexName, keys: l.KeySchema, projection: l.Projection})
	}
	for _, g := range in.GlobalSecondaryIndexes {
		global = append(global, indexSpec{
			name: g.IndexName, global: true, keys: g.KeySchema, projection: g.Projection,
			throughput: g.ProvisionedThroughput, ceiling: g.OnDemandThroughput, warmth: g.WarmThroughput,
		})
	}
	return local, global
}

// indexes checks the parameters of the indexes of a CreateTable one by one. The list of the global indexes comes first.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/validation-ordering/createTable.test.ts
func (c *constraints) indexes(in *dynamodb.CreateTableInput) {
	local, global := indexSpecs(in)
	for i, s := range global {
		c.index(&s, member("globalSecondaryIndexes", i, ""))
	}
	for i, s := range local {
		c.index(&s, member("localSecondaryIndexes", i, ""))
	}
}

// index checks the parameters of one index; at is the path to it, with its final dot.
func (c *constraints) index(s *indexSpec, at string) {
	c.indexName(s.name, at)
	switch {
	case s.keys == nil:
		c.null(at + "keySchema")
	case len(s.keys) < 1:
		c.length("[]", at+"keySchema", "greater", 1)
	case !s.global && len(s.keys) > 2:
		c.length(printKeySchema(s.keys), at+"keySchema", "less", 2)
	}
	for i, k := range s.keys {
		c.attributeName(k.AttributeName, at+member("keySchema", i, "attributeName"))
		if k.KeyType == "" {
			c.null(at + member("keySchema", i, "keyType"))
		}
		c.enum(string(k.KeyType), at+member("keySchema", i, "keyType"), []string{"HASH", "RANGE"})
	}
	if p := s.projection; p == nil {
		c.null(at + "projection")
	} else {
		c.enum(string(p.ProjectionType), at+"projection.projectionType", []string{"ALL", "INCLUDE", "KEYS_ONLY"})
		switch n := len(p.NonKeyAttributes); {
		case p.NonKeyAttributes != nil && n < 1:
			c.length("[]", at+"projection.nonKeyAttributes", "greater", 1)
		case n > maxProjectedAttributes:
			c.length("["+strings.Join(p.NonKeyAttributes, ", ")+"]", at+"projection.nonKeyAttributes",
				"less", maxProjectedAttributes)
		case slices.ContainsFunc(p.NonKeyAttributes,
			func(name string) bool { return len(name) < 1 || len(name) > 255 }):
			c.add("["+strings.Join(p.NonKeyAttributes, ", ")+"]", at+"projection.nonKeyAttributes",
				"Member must satisfy constraint: [Member must have length less than or equal to 255, Member must "+
					"have length greater than or equal to 1]")
		}
	}
	if p := s.throughput; p != nil {
		c.throughput(p, at)
	}
}

func (c *constraints) indexName(name *string, at string) {
	if name == nil {
		c.null(at + "indexName")
		return
	}
	c.plainName(*name, at+"indexName")
}

func (c *constraints) throughput(p *types.ProvisionedThroughput, at string) {
	c.units(p.WriteCapacityUnits, at+"provisionedThroughput.writeCapacityUnits")
	c.units(p.ReadCapacityUnits, at+"provisionedThroughput.readCapacityUnits")
}

// newIndexes makes the indexes of a CreateTable, global ones first.
//
// Source: https://github.com/architect/dynalite/blob/main/test/createTable.js
func newIndexes(in *dynamodb.CreateTableInput, schema *keySchema) ([]*index, error) {
	if in.LocalSecondaryIndexes == nil && in.GlobalSecondaryIndexes == nil {
		return nil, nil
	}
	local, global := indexSpecs(in)
	names := map[string]bool{}
	make := func(specs []indexSpec) ([]*index, error) {
		var made []*index
		for i := range specs {
			s := &specs[i]
			x, err := newIndex(s, schema, in.AttributeDefinitions)
			if err != nil {
				return nil, err
			}
			onDemand := in.BillingMode == types.BillingModePayPerRequest
			if err := s.checkBilling(onDemand); err != nil {
				return nil, err
			}
			if err := x.ready(s, onDemand); err != nil {
				return nil, err
			}
			if names[x.name] {
				return nil, badParameter("Duplicate index name: %s", x.name)
			}
			names[x.name] = true
			made = append(made, x)
		}
		return made, nil
	}
	if in.LocalSecondaryIndexes != nil {
		switch {
		case len(local) == 0:
			return nil, badParameter("List of LocalSecondaryIndexes is empty")
		case !schema.hasSort():
			return nil, badParameter(
				"Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
			)
		}
	}
	locals, err := make(local)
	switch {
	case err != nil:
		return nil, err
	case len(locals) > maxLocalIndexes:
		return nil, badParameter("Number of LocalSecondaryIndexes exceeds per-table limit of %d", maxLocalIndexes)
	case in.GlobalSecondaryIndexes != nil && len(global) == 0:
		return nil, badParameter("List of GlobalSecondaryIndexes is empty")
	}
	globals, err := make(global)
	switch {
	case err != nil:
		return nil, err
	case len(globals) > maxGlobalIndexes:
		return nil, badParameter("GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobalIndexes)
	}
	indexes := slices.Concat(globals, locals)
	if err := checkAllProjected(indexes); err != nil {
		return nil, err
	}
	defined := definedNames(in.AttributeDefinitions)
	if used := usedNames(schema, indexes); len(used) < len(defined) {
		return nil, badParameter("Some AttributeDefinitions are not used. AttributeDefinitions: [%s], keys used: [%s]",
			strings.Join(defined, ", "), strings.Join(used, ", "))
	}
	return indexes, nil
}

// badParameter returns a ValidationException with the usual first words.
func badParameter(format string, args ...any) error {
	return invalid("One or more parameter values were invalid: "+format, args...)
}

func definedNames(definitions []types.AttributeDefinition) []string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = aws.ToString(d.AttributeName)
	}
	return names
}

// usedNames returns the attributes that are part of a key, without repetitions.
func usedNames(schema *keySchema, indexes []*index) []string {
	names := schema.names()
	for _, x := range indexes {
		for key := range x.all {
			if !slices.Contains(names, key.Name) {
				names = append(names, key.Name)
			}
		}
	}
	return names
}

// newIndex makes an empty index.
func newIndex(s *indexSpec, schema *keySchema, definitions []types.AttributeDefinition) (*index, error) {
	x := &index{name: *s.name, global: s.global, keys: slices.Clone(s.keys), entries: newEntries()}
	if err := s.checkKeys(definitions); err != nil {
		return nil, err
	}
	for _, k := range s.keys {
		i := slices.IndexFunc(definitions,
			func(d types.AttributeDefinition) bool { return *d.AttributeName == *k.AttributeName })
		key := expr.Key{Name: *k.AttributeName, Kind: attr.Kind(definitions[i].AttributeType)}
		if k.KeyType == types.KeyTypeHash {
			x.hash = append(x.hash, key)
		} else {
			x.sort = append(x.sort, key)
		}
	}
	if !s.global {
		switch {
		case len(x.sort) == 0:
			return nil, badParameter("Index KeySchema does not have a range key for index: %s", x.name)
		case x.hash[0].Name != schema.hash.Name:
			return nil, badParameter("Index KeySchema does not have the same leading hash key as table KeySchema "+
				"for index: %s. index hash key: %s, table hash key: %s", x.name, x.hash[0].Name, schema.hash.Name)
		}
	}
	if err := checkProjection(s.projection); err != nil {
		return nil, err
	}
	x.setProjection(s.projection, schema)
	if s.throughput != nil {
		x.throughput = throughput{
			readUnits: *s.throughput.ReadCapacityUnits, writeUnits: *s.throughput.WriteCapacityUnits,
		}
	}
	return x, nil
}

// ready gives a new global index its ceiling and its warmth.
func (x *index) ready(s *indexSpec, onDemand bool) error {
	if !x.global {
		return nil
	}
	of := "index: " + x.name
	if err := checkCeiling(s.ceiling, of, onDemand, false); err != nil {
		return err
	}
	x.warmth = newWarmth(onDemand, x.throughput)
	if err := x.warmth.check(s.warmth, of, onDemand, false); err != nil {
		return err
	}
	x.ceiling.set(s.ceiling)
	x.warmth.set(s.warmth)
	return nil
}

// checkKeys checks an index's key schema. AWS does not document the order in which the rules on several attributes
// apply.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_gsi_composite.py
func (s *indexSpec) checkKeys(definitions []types.AttributeDefinition) error {
	defined := definedNames(definitions)
	names := make([]string, len(s.keys))
	hash, sort := 0, 0
	ordered := true
	for i, k := range s.keys {
		names[i] = *k.AttributeName
		if k.KeyType == types.KeyTypeHash {
			ordered = ordered && sort == 0
			hash++
		} else {
			sort++
		}
	}
	repeated := len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
	switch {
	case slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(defined, name) }):
		return badParameter("Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], "+
			"AttributeDefinitions: [%s]",
			strings.Join(names, ", "), strings.Join(defined, ", "))
	case repeated && len(names) == 2 && hash == 1:
		return invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	case repeated:
		return invalid("The KeySchema contains multiple key attributes with the same name")
	case s.keys[0].KeyType != types.KeyTypeHash:
		return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case !s.global && hash > 1:
		return invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	case !ordered:
		return badParameter("All HASH key attributes must precede RANGE key attributes in the KeySchema")
	case hash > maxIndexKeyAttributes:
		return badParameter("The KeySchema exceeds the maximum allowed number of HASH key attributes")
	case sort > maxIndexKeyAttributes:
		return badParameter("The KeySchema exceeds the maximum allowed number of RANGE key attributes")
	}
	return nil
}

// checkAllProjected refuses too many projected attributes in all indexes together; an attribute in two indexes counts
// twice. AWS documents the limit, but not the text.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Projection.html
func checkAllProjected(indexes []*index) error {
	n := 0
	for _, x := range indexes {
		n += len(x.projection.NonKeyAttributes)
	}
	if n > maxAllProjected {
		return badParameter("NonKeyAttributes count of all indexes exceeds the per-table limit of %d", maxAllProjected)
	}
	return nil
}

func checkProjection(p *types.Projection) error {
	include := p.ProjectionType == types.ProjectionTypeInclude
	switch {
	case p.ProjectionType == "":
		return badParameter("Unknown ProjectionType: null")
	case include && p.NonKeyAttributes == nil:
		return badParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	case !include && p.NonKeyAttributes != nil:
		return badParameter("ProjectionType is %s, but NonKeyAttributes is specified", p.ProjectionType)
	}
	for i, name := range p.NonKeyAttributes {
		if slices.Contains(p.NonKeyAttributes[:i], name) {
			return badParameter("Duplicate element in NonKeyAttributes: %s", name)
		}
	}
	return nil
}

// checkBilling checks the throughput of an index of a new table.
func (s *indexSpec) checkBilling(onDemand bool) error {
	switch {
	case !s.global:
		return nil
	case onDemand && s.throughput != nil:
		return badParameter(
			"ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", *s.name,
		)
	case !onDemand && s.throughput == nil:
		return badParameter("ProvisionedThroughput is not specified for index: %s", *s.name)
	}
	return nil
}
