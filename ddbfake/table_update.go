package ddbfake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// updateTable serves UpdateTable.
//
// All replicas of a global table get the change, whichever of them receives the request. Each replica has its own
// protection against deletion, and a strongly consistent replica has its own stream.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-230, DDB-TABLE-251, DDB-TABLE-294, DDB-TABLE-295, DDB-TABLE-296)
//
// Deviation: the answer says UPDATING, CREATING or DELETING and shows the former units, as the service's does, but the
// change takes effect at once. So no request is ever refused because a table is in use.
func (db *DB) updateTable(r *request, in *dynamodb.UpdateTableInput) (*dynamodb.UpdateTableOutput, error) {
	if in.TableName == nil {
		return nil, invalid("The parameter 'TableName' is required but was not present in the request")
	}
	name, err := checkUpdateTable(in)
	if err != nil {
		return nil, err
	}
	t, err := db.describedTable(r, name)
	if err != nil {
		return nil, err
	}
	if len(in.ReplicaUpdates) > 0 {
		d, err := db.updateReplicas(r, t, in)
		if err != nil {
			return nil, err
		}
		return &dynamodb.UpdateTableOutput{TableDescription: d}, nil
	}
	updates := make([]tableUpdate, 0, 1)
	shared := *in
	shared.DeletionProtectionEnabled, shared.StreamSpecification = nil, nil
	for _, one := range db.replicas(t) {
		u := tableUpdate{in: &shared, table: one, now: r.now}
		if one == t {
			u.in = in
		}
		updates = append(updates, u)
	}
	for i := range updates {
		if err := updates[i].check(); err != nil {
			return nil, err
		}
	}
	db.updateStream(&updates[0])
	replicas := db.describe(t, types.TableStatusUpdating)
	for i := range updates[1:] {
		updates[1+i].do()
	}
	d := updates[0].do()
	d.GlobalTableVersion, d.Replicas = replicas.GlobalTableVersion, replicas.Replicas
	d.GlobalTableSettingsReplicationMode = replicas.GlobalTableSettingsReplicationMode
	d.MultiRegionConsistency, d.GlobalTableWitnesses = replicas.MultiRegionConsistency, replicas.GlobalTableWitnesses
	return &dynamodb.UpdateTableOutput{TableDescription: d}, nil
}

func specOf(a *types.CreateGlobalSecondaryIndexAction) indexSpec {
	return indexSpec{name: a.IndexName, global: true, keys: a.KeySchema, projection: a.Projection,
		throughput: a.ProvisionedThroughput, ceiling: a.OnDemandThroughput, warmth: a.WarmThroughput}
}

// tableUpdate is an UpdateTable after its table was found.
type tableUpdate struct {
	in    *dynamodb.UpdateTableInput
	table *table
	now   time.Time

	onDemand bool // the billing mode after the update
	created  []*index
}

// check checks the changes against the table and makes new indexes, without changing anything.
func (u *tableUpdate) check() error {
	structural := 0
	for i := range u.in.GlobalSecondaryIndexUpdates {
		if u.in.GlobalSecondaryIndexUpdates[i].Update == nil {
			structural++
		}
	}
	if structural > 1 {
		return &types.LimitExceededException{Message: aws.String(
			"Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")}
	}
	if err := u.checkBilling(); err != nil {
		return err
	}
	if err := u.checkStream(); err != nil {
		return err
	}
	t := u.table
	if err := t.checkGlobal(u.in); err != nil {
		return err
	}
	if err := t.encryption.checkChange(u.in.SSESpecification); err != nil {
		return err
	}
	if err := checkCeiling(u.in.OnDemandThroughput, "table", u.onDemand, true); err != nil {
		return err
	}
	if err := t.warmth.check(u.in.WarmThroughput, "table", u.onDemand, true); err != nil {
		return err
	}
	for i := range u.in.GlobalSecondaryIndexUpdates {
		if err := u.checkIndex(&u.in.GlobalSecondaryIndexUpdates[i]); err != nil {
			return err
		}
	}
	return u.checkAllProvisioned()
}

func (u *tableUpdate) checkBilling() error {
	t, p := u.table, u.in.ProvisionedThroughput
	u.onDemand = cmp.Or(u.in.BillingMode, t.billing) == types.BillingModePayPerRequest
	was := t.billing == types.BillingModePayPerRequest
	switch {
	case u.onDemand && p != nil:
		return badParameter(
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
		)
	case u.in.BillingMode == types.BillingModeProvisioned && p == nil:
		return badParameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
	case p != nil && !was && t.throughput.is(p):
		return t.throughput.unchanged("table")
	}
	return nil
}

// unchanged refuses a change to the present settings.
func (t *throughput) unchanged(what string) error {
	of, _, _ := strings.Cut(what, " ")
	return invalid("The provisioned throughput for the %[1]s will not change. The requested value equals the "+
		"current value. Current ReadCapacityUnits provisioned for the %[2]s: %[3]d. Requested "+
		"ReadCapacityUnits: %[3]d. Current WriteCapacityUnits provisioned for the %[2]s: %[4]d. Requested "+
		"WriteCapacityUnits: %[4]d. Refer to the Amazon DynamoDB Developer Guide for current limits and how to "+
		"request higher limits.",
		what, of, t.readUnits, t.writeUnits)
}

func (u *tableUpdate) checkIndex(change *types.GlobalSecondaryIndexUpdate) error {
	name := indexOfUpdate(change)
	x := u.table.index(name)
	if change.Create != nil {
		return u.create(change.Create, x)
	}
	verb := "update"
	if change.Delete != nil {
		verb = "delete"
	}
	switch {
	case x == nil:
		return resourceNotFound(fmt.Sprintf("Requested resource not found: Index %s for table %s", name, u.table.name))
	case !x.global:
		return invalid("Cannot %s an index that is not a GlobalSecondaryIndex: %s", verb, name)
	case change.Delete != nil:
		return nil
	}
	p, of := change.Update.ProvisionedThroughput, "index: "+name
	other := limitsThroughput(change.Update.OnDemandThroughput) || warms(change.Update.WarmThroughput)
	if err := checkCeiling(change.Update.OnDemandThroughput, of, u.onDemand, true); err != nil {
		return err
	}
	if err := x.warmth.check(change.Update.WarmThroughput, of, u.onDemand, true); err != nil {
		return err
	}
	switch {
	case p == nil && other:
		return nil
	case u.onDemand:
		return badParameter("The only Updates for index: %s when TableThroughputMode is PAY_PER_REQUEST can be to "+
			"OnDemandThroughput, WarmThroughput", name)
	case p == nil:
		return badParameter("ProvisionedThroughput must be specified for index: %s", name)
	case *p.ReadCapacityUnits > maxUnits || *p.WriteCapacityUnits > maxUnits:
		return invalid("This operation cannot be performed with given input values. " +
			"Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate")
	case x.throughput.is(p):
		return x.throughput.unchanged("index " + name)
	}
	return nil
}

// create makes a new index, which fill fills later.
func (u *tableUpdate) create(action *types.CreateGlobalSecondaryIndexAction, existing *index) error {
	t, s := u.table, specOf(action)
	switch {
	case existing != nil:
		return invalid("Attempting to create an index which already exists")
	case u.in.AttributeDefinitions == nil:
		return badParameter("AttributeDefinitions is not specified for index: %s", *s.name)
	}
	if names := definedNames(u.in.AttributeDefinitions); len(names) > 1 {
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				return duplicated(name)
			}
		}
	}
	x, err := newIndex(&s, &t.schema, u.in.AttributeDefinitions)
	if err == nil {
		err = x.ready(&s, u.onDemand)
	}
	if err != nil {
		return err
	}
	for i, k := range x.keys {
		was, now := typeOf(t.definitions, *k.AttributeName), typeOf(u.in.AttributeDefinitions, *k.AttributeName)
		if was != "" && was != now {
			return badParameter("Attributes cannot be redefined. Please check that your attribute has the same type "+
				"as previously defined. Existing schema: Schema:[SchemaElement: key{%[1]s:%[2]s:%[4]s}] New schema: "+
				"Schema:[SchemaElement: key{%[1]s:%[3]s:%[4]s}]",
				*k.AttributeName, was, now, x.keys[i].KeyType)
		}
	}
	globals := 0
	for _, other := range t.indexes {
		if other.global {
			globals++
		}
	}
	switch {
	case u.onDemand && s.throughput != nil:
		return badParameter("Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: %s when "+
			"BillingMode is PAY_PER_REQUEST", x.name)
	case !u.onDemand && s.throughput == nil:
		return badParameter("ProvisionedThroughput must be specified for index: %s", x.name)
	case globals >= maxGlobalIndexes:
		return &types.LimitExceededException{Message: aws.String(fmt.Sprintf(
			"GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobalIndexes))}
	}
	u.created = append(u.created, x)
	return checkAllProjected(slices.Concat(t.indexes, u.created))
}

func typeOf(definitions []types.AttributeDefinition, name string) types.ScalarAttributeType {
	for _, d := range definitions {
		if *d.AttributeName == name {
			return d.AttributeType
		}
	}
	return ""
}

// checkAllProvisioned refuses a change to provisioned units that omits an index.
func (u *tableUpdate) checkAllProvisioned() error {
	if u.onDemand || u.table.billing != types.BillingModePayPerRequest {
		return nil
	}
	for _, x := range u.table.indexes {
		updated := func(change types.GlobalSecondaryIndexUpdate) bool { return indexOfUpdate(&change) == x.name }
		if x.global && !slices.ContainsFunc(u.in.GlobalSecondaryIndexUpdates, updated) {
			return badParameter("ProvisionedThroughput must be specified for index: %s", x.name)
		}
	}
	return nil
}

// do makes the changes, and returns a description in which they are still in progress.
func (u *tableUpdate) do() *types.TableDescription {
	t := u.table
	t.changeSettings()
	old := *t.throughput.describe()
	oldOf := map[string]*types.ProvisionedThroughputDescription{}
	statuses := map[string]types.IndexStatus{}
	var deleted *index
	status := types.TableStatusUpdating
	if u.in.DeletionProtectionEnabled != nil {
		t.deletionProtection = *u.in.DeletionProtectionEnabled
		status = types.TableStatusActive
	}
	if u.in.TableClass != "" {
		t.class = u.in.TableClass
	}
	oldKey, oldWarmth := t.encryption, t.warmth
	if changesEncryption(u.in.SSESpecification) {
		t.encryption = newEncryption(u.in.SSESpecification, t.region)
		status = types.TableStatusActive
	}
	if warms(u.in.WarmThroughput) {
		t.warmth.set(u.in.WarmThroughput)
		status = types.TableStatusActive
	}
	u.bill()
	if limitsThroughput(u.in.OnDemandThroughput) {
		t.ceiling.set(u.in.OnDemandThroughput)
		if u.in.BillingMode == "" {
			status = types.TableStatusActive
		}
	}
	for _, change := range u.in.GlobalSecondaryIndexUpdates {
		switch {
		case change.Update != nil:
			x := t.index(*change.Update.IndexName)
			oldOf[x.name], statuses[x.name] = x.throughput.describe(), types.IndexStatusUpdating
			x.ceiling.set(change.Update.OnDemandThroughput)
			x.warmth.set(change.Update.WarmThroughput)
			if p := change.Update.ProvisionedThroughput; p != nil {
				x.throughput.set(p, u.now)
				x.warmth.atLeast(newWarmth(false, x.throughput))
			}
		case change.Delete != nil:
			deleted = t.index(*change.Delete.IndexName)
			t.drop(deleted)
		}
	}
	for _, x := range u.created {
		statuses[x.name] = types.IndexStatusCreating
		t.fill(x, u.in.AttributeDefinitions)
	}
	d := t.describe(status)
	d.ProvisionedThroughput = &old
	if changesEncryption(u.in.SSESpecification) {
		d.SSEDescription = oldKey.changing()
	}
	if warms(u.in.WarmThroughput) {
		d.WarmThroughput = oldWarmth.describe()
		d.WarmThroughput.Status = types.TableStatusUpdating
	}
	if limitsThroughput(u.in.OnDemandThroughput) {
		d.OnDemandThroughput = t.ceiling.changed(u.in.OnDemandThroughput)
	}
	for i := range d.GlobalSecondaryIndexes {
		g := &d.GlobalSecondaryIndexes[i]
		if s, ok := statuses[*g.IndexName]; ok {
			g.IndexStatus = s
		}
		if p := oldOf[*g.IndexName]; p != nil {
			g.ProvisionedThroughput = p
		}
		if g.IndexStatus == types.IndexStatusCreating {
			g.Backfilling = aws.Bool(false)
			g.ItemCount, g.IndexSizeBytes = aws.Int64(0), aws.Int64(0)
		}
	}
	if deleted != nil {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, deleted.describe(d, types.IndexStatusDeleting))
	}
	return d
}

// bill changes the billing mode and the units.
func (u *tableUpdate) bill() {
	t := u.table
	if u.in.BillingMode != "" && u.onDemand != (t.billing == types.BillingModePayPerRequest) {
		if u.onDemand {
			t.billed = u.now
			t.throughput = throughput{}
			t.warmth.atLeast(newWarmth(true, t.throughput))
		}
		t.ceiling = ceiling{}
		for _, x := range t.indexes {
			x.ceiling = ceiling{}
			if u.onDemand && x.global {
				x.throughput = throughput{}
				x.warmth.atLeast(newWarmth(true, x.throughput))
			}
		}
	}
	t.billing = cmp.Or(u.in.BillingMode, t.billing)
	if p := u.in.ProvisionedThroughput; p != nil {
		t.throughput.set(p, u.now)
		t.warmth.atLeast(newWarmth(false, t.throughput))
	}
}

// fill fills a new index with the rows that belong in it and puts it after the other global ones.
func (t *table) fill(x *index, definitions []types.AttributeDefinition) {
	t.rows.Scan(func(r *row) bool {
		x.add(r)
		return true
	})
	i := slices.IndexFunc(t.indexes, func(other *index) bool { return !other.global })
	if i < 0 {
		i = len(t.indexes)
	}
	t.indexes = slices.Insert(slices.Clone(t.indexes), i, x)
	t.define(definitions)
}

// drop removes an index, and the definitions of attributes that no other key uses.
func (t *table) drop(x *index) {
	t.indexes = slices.DeleteFunc(slices.Clone(t.indexes), func(other *index) bool { return other == x })
	if len(t.indexes) == 0 {
		t.indexes = nil
	}
	t.define(nil)
}

// define adds attribute definitions, and removes those that no key needs.
func (t *table) define(more []types.AttributeDefinition) {
	used := usedNames(&t.schema, t.indexes)
	var definitions []types.AttributeDefinition
	for _, d := range slices.Concat(t.definitions, more) {
		if slices.Contains(used, *d.AttributeName) && typeOf(definitions, *d.AttributeName) == "" {
			definitions = append(definitions, d)
		}
	}
	t.definitions = definitions
}
