package ddbfake

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// restoreTableFromBackup serves RestoreTableFromBackup. The change log has the restored rows as changes by the caller.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
//
// Deviation: the answer says CREATING, as the service's does, but the table is ACTIVE at once. So no other restore and
// no DeleteBackup ever gets a BackupInUseException, a TableInUseException or a LimitExceededException meanwhile.
func (db *DB) restoreTableFromBackup(
	r *request, in *dynamodb.RestoreTableFromBackupInput,
) (*dynamodb.RestoreTableFromBackupOutput, error) {
	o := overrides{
		billing: in.BillingModeOverride, throughput: in.ProvisionedThroughputOverride,
		ceiling: in.OnDemandThroughputOverride, globals: in.GlobalSecondaryIndexOverride,
		locals: in.LocalSecondaryIndexOverride, encryption: in.SSESpecificationOverride,
	}
	var c constraints
	if in.BackupArn == nil {
		c.null("backupArn")
	}
	if err := o.check(&c, in.TargetTableName); err != nil {
		return nil, err
	}
	if in.VectorIndexOverride != nil {
		return nil, &UnsupportedError{Operation: "RestoreTableFromBackup", Parameter: "VectorIndexOverride"}
	}
	region, source, id, err := splitBackupARN(*in.BackupArn)
	if err == nil {
		err = o.checkRegion(r, region)
	}
	if err != nil {
		return nil, err
	}
	b, err := db.backupOf(r, region, source, id, *in.BackupArn)
	if err != nil {
		return nil, err
	}
	d, err := db.restoreTable(r, *in.TargetTableName, &o, b.copyTable)
	if err != nil {
		return nil, err
	}
	d.RestoreSummary = &types.RestoreSummary{
		RestoreDateTime: aws.Time(b.created), RestoreInProgress: aws.Bool(true),
		SourceBackupArn: in.BackupArn, SourceTableArn: aws.String(tableARN(region, source)),
	}
	return &dynamodb.RestoreTableFromBackupOutput{TableDescription: d}, nil
}

// restoreTableToPointInTime serves RestoreTableToPointInTime. The new table has the rows of the instant, including
// every change made at it, and the present settings of the source.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md
// (DDB-TABLE-100, DDB-TABLE-272: the order of the checks, and the texts)
func (db *DB) restoreTableToPointInTime(
	r *request, in *dynamodb.RestoreTableToPointInTimeInput,
) (*dynamodb.RestoreTableToPointInTimeOutput, error) {
	o := overrides{
		billing: in.BillingModeOverride, throughput: in.ProvisionedThroughputOverride,
		ceiling: in.OnDemandThroughputOverride, globals: in.GlobalSecondaryIndexOverride,
		locals: in.LocalSecondaryIndexOverride, encryption: in.SSESpecificationOverride,
	}
	var c constraints
	if in.SourceTableName != nil {
		c.plainName(*in.SourceTableName, "sourceTableName")
	}
	if err := o.check(&c, in.TargetTableName); err != nil {
		return nil, err
	}
	if in.VectorIndexOverride != nil {
		return nil, &UnsupportedError{Operation: "RestoreTableToPointInTime", Parameter: "VectorIndexOverride"}
	}
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html for the
	// rule; its text is not documented.
	for i := range o.globals {
		if warms(o.globals[i].WarmThroughput) {
			return nil, badRequest("WarmThroughput is not supported for index %s", *o.globals[i].IndexName)
		}
	}
	latest := aws.ToBool(in.UseLatestRestorableTime)
	switch {
	case latest && in.RestoreDateTime != nil:
		return nil, badRequest("Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time " +
			"restore request. Please specify either RestoreDateTime time or UseLatestRestorableTime")
	case !latest && in.RestoreDateTime == nil:
		return nil, badRequest(
			"Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
		)
	}
	t, err := db.restoredSource(r, in, &o)
	if err != nil {
		return nil, err
	}
	if !t.recovery.enabled() {
		return nil, &types.PointInTimeRecoveryUnavailableException{
			Message: aws.String("Point in time recovery is not enabled for table '" + t.name + "'"),
		}
	}
	first, at := db.window(t.recovery, r.now)
	if in.RestoreDateTime != nil {
		last := at
		if at = *in.RestoreDateTime; at.Before(first) || at.After(last) {
			return nil,
				&types.InvalidRestoreTimeException{Message: aws.String("RestoreDateTime '" +
					at.UTC().Format(time.RFC3339) +
					"' must be within EarliestRestorableDateTime '" + first.Format(time.RFC3339) +
					"' and LatestRestorableDateTime '" + last.Format(time.RFC3339) + "'")}
		}
	}
	d, err := db.restoreTable(r, *in.TargetTableName, &o, func() *table {
		log := &db.state.log
		if was := log.before(t, log.asOf(at, t.born)); was != t {
			return was
		}
		return t.copy()
	})
	if err != nil {
		return nil, err
	}
	d.RestoreSummary = &types.RestoreSummary{
		RestoreDateTime: aws.Time(at), RestoreInProgress: aws.Bool(true),
		SourceTableArn: aws.String(tableARN(t.region, t.name)),
	}
	return &dynamodb.RestoreTableToPointInTimeOutput{TableDescription: d}, nil
}

// restoredSource finds the table of a RestoreTableToPointInTime.
func (db *DB) restoredSource(r *request, in *dynamodb.RestoreTableToPointInTimeInput, o *overrides) (*table, error) {
	name, arn := in.SourceTableName, in.SourceTableArn
	switch {
	case name != nil && arn != nil:
		return nil, badRequest("Must provide exactly one of: sourceTableArn, sourceTableName")
	case name == nil && arn == nil:
		return nil, invalid("The parameter 'TableName' is required but was not present in the request")
	case name != nil:
		return db.backedUp(r, *name)
	case !strings.HasPrefix(*arn, "arn:"):
		return nil, badParameter("ARNs must start with 'arn:': %s", *arn)
	}
	region, source, ok := splitTableARN(*arn)
	switch {
	case !ok || !plainTableName(source):
		return nil, invalid("sourceTableArn is not a valid ARN")
	case strings.Split(*arn, ":")[4] != account:
		return nil, invalid("This action is only supported by accounts that match the resource owner\u2019s account.")
	}
	if err := o.checkRegion(r, region); err != nil {
		return nil, err
	}
	if t := db.state.at(*arn); t != nil {
		return t, nil
	}
	return nil, tableNotFound(source)
}

// overrides are the settings that a request to restore a table names. All other settings come from the source. An empty
// list of indexes removes all indexes; a missing list keeps them.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_restores.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md
// (DDB-TABLE-273, DDB-TABLE-279) and table-indexes.md (DDB-TABLE-280, DDB-TABLE-281) for the rules and the texts
type overrides struct {
	billing    types.BillingMode
	throughput *types.ProvisionedThroughput
	ceiling    *types.OnDemandThroughput
	globals    []types.GlobalSecondaryIndex
	locals     []types.LocalSecondaryIndex
	encryption *types.SSESpecification
}

// check checks the parameters one by one; c already has the broken constraints of other parameters.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-457.md
func (o *overrides) check(c *constraints, target *string) error {
	switch {
	case target == nil:
		c.null("targetTableName")
	case len(*target) < minTableName || len(*target) > maxTableName:
		return invalid("TableName must be at least %d characters long and at most %d characters long",
			minTableName, maxTableName)
	default:
		c.plainName(*target, "targetTableName")
	}
	c.enum(string(o.billing), "billingModeOverride", []string{"PROVISIONED", "PAY_PER_REQUEST"})
	if p := o.throughput; p != nil {
		c.units(p.WriteCapacityUnits, "provisionedThroughputOverride.writeCapacityUnits")
		c.units(p.ReadCapacityUnits, "provisionedThroughputOverride.readCapacityUnits")
	}
	local, global := indexSpecs(o.asCreation())
	for i := range global {
		c.index(&global[i], member("globalSecondaryIndexOverride", i, ""))
	}
	for i := range local {
		c.index(&local[i], member("localSecondaryIndexOverride", i, ""))
	}
	if s := o.encryption; s != nil {
		c.enum(string(s.SSEType), "sSESpecificationOverride.sSEType", []string{"AES256", "KMS"})
		if s.KMSMasterKeyId != nil && *s.KMSMasterKeyId == "" {
			c.length("", "sSESpecificationOverride.kMSMasterKeyId", "greater", 1)
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	return checkEncryption(o.encryption)
}

// asCreation returns the indexes in the form that CreateTable takes.
func (o *overrides) asCreation() *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{GlobalSecondaryIndexes: o.globals, LocalSecondaryIndexes: o.locals}
}

// checkRegion refuses to restore a table from another region without an encryption key, because the source's key is not
// in this region.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md#ddb-table-274
func (o *overrides) checkRegion(r *request, region string) error {
	if region != r.region && o.encryption == nil {
		return badRequest("sseSpecificationOverride must be provided for cross-region restores")
	}
	return nil
}

// restoreTable makes a table from a copy of another. It keeps rows, keys, indexes, encryption, and billing with units
// and ceilings. Stream, TTL, recovery, tags, protection and class are those of a new table.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableFromBackup.html
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md#ddb-table-215
func (db *DB) restoreTable(
	r *request, name string, o *overrides, source func() *table,
) (*types.TableDescription, error) {
	filed := address(r.region, name)
	if db.state.tables[filed] != nil {
		return nil, &types.TableAlreadyExistsException{Message: aws.String("Table already exists: " + name)}
	}
	t := source()
	if err := o.apply(t, r); err != nil {
		return nil, err
	}
	if t.ttl.enabled {
		t.setTTL(ttlSetting{}, r.now)
	}
	log := &db.state.log
	t = &table{
		tableID: &tableID{r.region, name, t.schema, log.lastSeq()},
		rows:    t.rows,
		bytes:   t.bytes,
		indexes: t.indexes,
		dues:    newDues(),
		settings: &settings{
			id:          db.state.nextTableID(),
			created:     r.now,
			definitions: t.definitions,
			keys:        t.keys,
			billing:     t.billing,
			billed:      t.billed,
			throughput:  t.throughput,
			ceiling:     t.ceiling,
			warmth:      t.warmth,
			encryption:  t.encryption,
		},
	}
	t.define(nil)
	db.state.tables[filed] = t
	t.rows.Scan(func(restored *row) bool {
		db.record(logEntry{request: r.id, time: r.now, sent: r.sent, actor: r.actor, table: t.tableID, after: restored})
		return true
	})
	db.loaded(r.id, r.id+1)
	return t.describe(types.TableStatusCreating), nil
}

// apply gives a table the overriding settings.
func (o *overrides) apply(t *table, r *request) error {
	t.changeSettings()
	t.billing = cmp.Or(o.billing, t.billing)
	onDemand := t.billing == types.BillingModePayPerRequest
	if err := o.checkBilling(onDemand); err != nil {
		return err
	}
	if o.encryption != nil {
		t.encryption = newEncryption(o.encryption, r.region)
	}
	switch p := o.throughput; {
	case onDemand:
		t.throughput, t.billed = throughput{}, r.now
	case p != nil:
		t.throughput, t.billed = throughput{readUnits: *p.ReadCapacityUnits, writeUnits: *p.WriteCapacityUnits},
			time.Time{}
	default:
		t.throughput, t.billed = throughput{readUnits: t.throughput.readUnits, writeUnits: t.throughput.writeUnits},
			time.Time{}
	}
	t.warmth = newWarmth(onDemand, t.throughput)
	if !onDemand || o.ceiling != nil {
		t.ceiling = ceiling{}
	}
	t.ceiling.set(o.ceiling)
	return o.applyIndexes(t, onDemand)
}

// checkBilling checks the settings of billing against the mode that the table will have.
func (o *overrides) checkBilling(onDemand bool) error {
	switch {
	case o.throughput != nil && onDemand:
		return o.notProvisioned("")
	case o.billing == types.BillingModeProvisioned && o.throughput == nil:
		return badRequest("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED")
	case o.ceiling == nil:
		return nil
	case !limitsThroughput(o.ceiling):
		// Deviation: the service starts the restore, and answers TableInUseException. We refuse, because the
		// documentation says that at least one of the two members is required.
		//
		// Source:
		// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-restore.md#ddb-table-463
		return badRequest("MaxReadRequestUnits, MaxWriteRequestUnits, or both must be specified for OnDemandThroughput")
	}
	for _, m := range []struct {
		name  string
		value *int64
	}{{"MaxReadRequestUnits", o.ceiling.MaxReadRequestUnits},
		{"MaxWriteRequestUnits", o.ceiling.MaxWriteRequestUnits}} {
		switch {
		case m.value == nil:
		case !onDemand:
			return badRequest("Cannot override %s for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST",
				m.name)
		case *m.value < 1:
			return badRequest("Requested %s for OnDemandThroughput is outside of valid range", m.name)
		}
	}
	return nil
}

// notProvisioned is the error for provisioned units if the table will be paid per request.
func (o *overrides) notProvisioned(of string) error {
	if o.billing == types.BillingModePayPerRequest {
		return badRequest("Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST%s", of)
	}
	return badRequest("Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED%s", of)
}

// applyIndexes keeps only those indexes of the table that the request names, and gives them their settings. An index is
// identified by its keys and projection, and may get another name. Without a list for a kind (global or local), all
// indexes of that kind stay.
func (o *overrides) applyIndexes(t *table, onDemand bool) error {
	locals, globals := indexSpecs(o.asCreation())
	var kept []*index
	for _, global := range []bool{true, false} {
		specs, named := globals, o.globals != nil
		if !global {
			specs, named = locals, o.locals != nil
		}
		if !named {
			for _, x := range t.indexes {
				if x.global == global {
					kept = append(kept, x)
				}
			}
			continue
		}
		for i := range specs {
			x, err := o.override(t, &specs[i], onDemand)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(kept, func(other *index) bool { return other.name == x.name }) {
				return badParameter("Duplicate index name: %s", x.name)
			}
			kept = append(kept, x)
		}
	}
	for _, x := range kept {
		switch {
		case !x.global:
		case onDemand:
			x.throughput = throughput{}
		case x.throughput.readUnits == 0:
			return badRequest(
				"Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED for index %s", x.name,
			)
		}
		if !onDemand {
			x.ceiling = ceiling{}
		}
		x.warmth.atLeast(newWarmth(onDemand, x.throughput))
	}
	t.indexes = kept
	return nil
}

// override removes the index with the keys and projection of a request from the table, and returns it with the other
// settings of the request.
func (o *overrides) override(t *table, s *indexSpec, onDemand bool) (*index, error) {
	of := " for index " + *s.name
	i := slices.IndexFunc(t.indexes, func(x *index) bool { return x.global == s.global && x.is(s) })
	switch {
	case i < 0:
		return nil, badRequest("Index %s does not match a secondary index that existed in the source table and "+
			"cannot be created during the restore operation", *s.name)
	case s.throughput != nil && onDemand:
		return nil, o.notProvisioned(of)
	case s.global && s.throughput == nil && !onDemand:
		return nil, badRequest("Must specify provisioned throughput%s", of)
	}
	x := t.indexes[i]
	t.indexes = slices.Delete(slices.Clone(t.indexes), i, i+1)
	x.name = *s.name
	if p := s.throughput; p != nil {
		x.throughput = throughput{readUnits: *p.ReadCapacityUnits, writeUnits: *p.WriteCapacityUnits}
	}
	x.ceiling = ceiling{}
	err := x.ready(s, onDemand)
	return x, err
}

// is reports whether an index has the keys and projection of a request.
func (x *index) is(s *indexSpec) bool {
	same := func(a, b types.KeySchemaElement) bool {
		return *a.AttributeName == *b.AttributeName && a.KeyType == b.KeyType
	}
	sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
	return slices.EqualFunc(x.keys, s.keys, same) && x.projection.ProjectionType == s.projection.ProjectionType &&
		slices.Equal(sorted(x.projection.NonKeyAttributes), sorted(s.projection.NonKeyAttributes))
}
