package ddbfake

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// replicaAction is an action of ReplicaUpdates.
type replicaAction struct {
	kind   string // "create", "update" or "delete"
	region *string
	class  types.TableClass
}

// actionsOf returns the actions of an element of ReplicaUpdates, which should have exactly one.
func actionsOf(u *types.ReplicationGroupUpdate) []replicaAction {
	var all []replicaAction
	if a := u.Create; a != nil {
		all = append(all, replicaAction{"create", a.RegionName, a.TableClassOverride})
	}
	if a := u.Update; a != nil {
		all = append(all, replicaAction{"update", a.RegionName, a.TableClassOverride})
	}
	if a := u.Delete; a != nil {
		all = append(all, replicaAction{"delete", a.RegionName, ""})
	}
	return all
}

// replicaUpdates checks the parameters of ReplicaUpdates one by one.
func (c *constraints) replicaUpdates(in *dynamodb.UpdateTableInput) {
	for i := range in.ReplicaUpdates {
		for _, a := range actionsOf(&in.ReplicaUpdates[i]) {
			if a.region == nil {
				c.null(member("replicaUpdates", i, a.kind+".regionName"))
			}
			c.enum(string(a.class), member("replicaUpdates", i, a.kind+".tableClassOverride"), tableClasses)
		}
	}
	c.enum(string(in.MultiRegionConsistency), "multiRegionConsistency", []string{"EVENTUAL", "STRONG"})
	if len(in.GlobalTableWitnessUpdates) > 1 {
		c.length("[GlobalTableWitnessGroupUpdate(...)]", "globalTableWitnessUpdates", "less", 1)
	}
}

var tableClasses = []string{"STANDARD", "STANDARD_INFREQUENT_ACCESS"}

// changesNothing reports whether an update of a replica names no setting.
func changesNothing(a *types.UpdateReplicationGroupMemberAction) bool {
	return a.KMSMasterKeyId == nil && a.OnDemandThroughputOverride == nil && a.ProvisionedThroughputOverride == nil &&
		a.TableClassOverride == "" && len(a.GlobalSecondaryIndexes) == 0
}

// checkReplicaUpdates makes the checks that need no table; several is whether one request may add or delete several
// replicas. Equal actions count once.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-223, DDB-TABLE-224, DDB-TABLE-265: the texts)
func checkReplicaUpdates(in *dynamodb.UpdateTableInput, local string, several bool) error {
	kinds, regions := map[string]bool{}, map[string]bool{}
	for i := range in.ReplicaUpdates {
		u := &in.ReplicaUpdates[i]
		if u.Disassociate != nil {
			return &UnsupportedError{Operation: "UpdateTable", Parameter: "ReplicaUpdates.Disassociate"}
		}
		actions := actionsOf(u)
		if len(actions) == 0 || u.Update != nil && len(actions) == 1 && changesNothing(u.Update) {
			return invalid("There are no actions specified in the Replica Update Action of the request.")
		}
		for _, a := range actions {
			kinds[a.kind], regions[*a.region] = true, true
		}
	}
	switch {
	case len(kinds) > 1:
		return invalid("Update table operation with more than one type of replica actions not allowed.")
	case len(regions) > 1 && !kinds["update"] && !several:
		return invalid("Update table operation with more than one create or delete replica actions not allowed")
	case regions[local]:
		return invalid("Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, DeleteTable, " +
			"or UpdateTable as required.")
	}
	for _, region := range append([]string{local}, sortedKeys(regions)...) {
		if err := checkGlobalRegion(region, local); err != nil {
			return err
		}
	}
	return nil
}

// updateReplicas serves an UpdateTable with ReplicaUpdates. Any replica can be asked to add, change and delete others.
//
// Deviation: a replica is ACTIVE at once, with all rows, and a deleted one is gone at once: no request is refused
// because a replica is being created or deleted.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html#DDB-UpdateTable-request-ReplicaUpdates
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-204, DDB-TABLE-226, DDB-TABLE-294: what the answer shows)
func (db *DB) updateReplicas(r *request, t *table, in *dynamodb.UpdateTableInput) (*types.TableDescription, error) {
	strong := in.MultiRegionConsistency == types.MultiRegionConsistencyStrong
	err := checkReplicaUpdates(in, r.region, strong || t.strong)
	if err == nil {
		err = t.checkConsistency(in)
	}
	if err != nil {
		return nil, err
	}
	for i := range in.ReplicaUpdates {
		if err := db.checkReplicaUpdate(r, t, &in.ReplicaUpdates[i]); err != nil {
			return nil, err
		}
	}
	d := db.describe(t, types.TableStatusUpdating)
	for _, one := range db.replicas(t) {
		one.changeSettings()
	}
	for i := range in.ReplicaUpdates {
		u := &in.ReplicaUpdates[i]
		switch {
		case u.Create != nil && !t.isMember(*u.Create.RegionName): // otherwise an equal action has already added it
			t.strong = strong
			db.addReplica(r, t, u.Create)
		case u.Delete != nil && t.isMember(*u.Delete.RegionName):
			db.drop(r, db.state.tables[address(*u.Delete.RegionName, t.name)])
		case u.Update != nil:
			other := db.state.tables[address(*u.Update.RegionName, t.name)]
			other.override(u.Update.TableClassOverride, u.Update.OnDemandThroughputOverride)
		}
	}
	if in.ReplicaUpdates[0].Create != nil {
		created, _ := witnessOf(in)
		for _, one := range db.replicas(t) {
			one.strong, one.witness = t.strong, cmp.Or(created, one.witness)
		}
		added := db.describe(t, types.TableStatusUpdating)
		added.Replicas, added.GlobalTableWitnesses =
			append([]types.ReplicaDescription{}, d.Replicas...), d.GlobalTableWitnesses
		d = added
	}
	return d, nil
}

// checkReplicaUpdate checks one action against the table.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-203, DDB-TABLE-225, DDB-TABLE-307: the texts)
func (db *DB) checkReplicaUpdate(r *request, t *table, u *types.ReplicationGroupUpdate) error {
	if a := u.Create; a != nil {
		switch {
		case db.state.tables[address(*a.RegionName, t.name)] != nil:
			return invalid("Failed to create a the new replica of table with name: \u2018%s\u2019 because one or "+
				"more replicas already existed as tables.", t.name)
		// Deviation: there is no Application Auto Scaling, so no provisioned table gets a replica.
		//
		// Source:
		// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md#ddb-table-188
		case t.billing != types.BillingModePayPerRequest:
			return errNotScaled
		}
		if err := t.checkReplicaKey(a.KMSMasterKeyId, *a.RegionName); err != nil {
			return err
		}
		return checkOverrides(a.GlobalSecondaryIndexes, a.OnDemandThroughputOverride, "Create")
	}
	region := *actionsOf(u)[0].region
	if !t.isMember(region) {
		return invalid("Update global table operation failed because one or more replicas were not part of the "+
			"global table. Please retry the request without these replicas: [%s].", region)
	}
	if u.Delete != nil {
		return db.state.tables[address(region, t.name)].checkLeave(r.now)
	}
	switch a := u.Update; {
	case a.KMSMasterKeyId != nil:
		// This holds for any key. Source:
		// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md#ddb-table-309
		return errReplicaKey
	case a.ProvisionedThroughputOverride != nil:
		return badParameter(
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
		)
	default:
		return checkOverrides(a.GlobalSecondaryIndexes, a.OnDemandThroughputOverride, "Update")
	}
}

// checkOverrides checks the settings that a single replica may have. A ProvisionedThroughputOverride of a new replica
// is accepted and has no effect: its table is paid per request.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-223.md
func checkOverrides(
	indexes []types.ReplicaGlobalSecondaryIndex, o *types.OnDemandThroughputOverride, action string,
) error {
	if len(indexes) > 0 {
		return &UnsupportedError{
			Operation: "UpdateTable", Parameter: "ReplicaUpdates." + action + ".GlobalSecondaryIndexes",
		}
	}
	if o == nil {
		return nil
	}
	return checkCeiling(&types.OnDemandThroughput{MaxReadRequestUnits: o.MaxReadRequestUnits}, "table", true, true)
}

var errReplicaKey = badParameter("KMSMasterKeyId must be specified for each replica.")

// checkReplicaKey checks the key of a new replica. If AWS does not manage the table's key, it must be a key of the
// replica's region; otherwise it must be absent.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-295, DDB-TABLE-309, DDB-TABLE-313: the texts)
func (t *table) checkReplicaKey(key *string, region string) error {
	own := t.encryption != "" && t.encryption != managedKey(t.region)
	switch {
	case own != (key != nil):
		return errReplicaKey
	case own && newEncryption(encryptedBy(key), region) == managedKey(region):
		return badParameter("All replica keys must either be Customer Managed CMK or AWS Managed CMK.")
	case own && strings.HasPrefix(*key, "arn:") &&
		!strings.HasPrefix(*key, "arn:"+partitionOf(region)+":kms:"+region+":"):
		return invalid("KMS validation error for region %s: com.amazonaws.services.kms.model.NotFoundException: "+
			"Invalid arn %s",
			region, strings.SplitN(*key+":::", ":", 5)[3])
	}
	return nil
}

func encryptedBy(id *string) *types.SSESpecification {
	return &types.SSESpecification{Enabled: aws.Bool(true), SSEType: types.SSETypeKms, KMSMasterKeyId: id}
}

// managedKey is the key that AWS manages in a region.
func managedKey(region string) encryption { return newEncryption(encryptedBy(nil), region) }

// addReplica adds a replica, with the rows, indexes, billing, TTL, class and stream of t, without tags, recovery and
// protection. Writes that are under way to t go to the new replica, too. If t has no stream, it gets one, unless it is
// strongly consistent.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-221, DDB-TABLE-230, DDB-TABLE-305)
func (db *DB) addReplica(r *request, t *table, a *types.CreateReplicationGroupMemberAction) {
	if !t.strong && (t.stream == nil || !t.stream.enabled()) {
		db.enableStream(t, types.StreamViewTypeNewAndOldImages, r.now)
	}
	replica := t.copy()
	replica.changeSettings()
	replica.tableID = &tableID{*a.RegionName, t.name, t.schema, db.state.log.lastSeq()}
	replica.counters, replica.stream, replica.tags = nil, nil, nil
	replica.recovery, replica.deletionProtection = recovery{}, false
	replica.id, replica.created = db.state.nextTableID(), r.now
	if !t.billed.IsZero() {
		replica.billed = r.now
	}
	switch {
	case t.encryption == "":
	case a.KMSMasterKeyId != nil:
		replica.encryption = newEncryption(encryptedBy(a.KMSMasterKeyId), replica.region)
	default:
		replica.encryption = managedKey(replica.region)
	}
	replica.override(a.TableClassOverride, a.OnDemandThroughputOverride)
	members := t.members
	if members == nil {
		members = []groupMember{{region: t.region}}
	}
	members = append(slices.Clone(members), groupMember{region: replica.region, source: t.region, added: r.now})
	others := db.replicas(t)
	db.state.tables[replica.address()] = replica
	for _, one := range append(others, replica) {
		one.members = members
	}
	replica.rows.Scan(func(copied *row) bool {
		db.record(logEntry{request: replicated, time: r.now, sent: r.sent, table: replica.tableID, after: copied})
		return true
	})
	if t.stream != nil && t.stream.enabled() {
		db.enableStream(replica, t.stream.view, r.now)
	}
	db.state.underWay.alsoTo(t, replica.region)
	db.retime()
}

// override gives a replica its own settings.
func (t *table) override(class types.TableClass, o *types.OnDemandThroughputOverride) {
	if class != "" {
		t.class = class
	}
	if o != nil {
		t.ceiling.set(&types.OnDemandThroughput{MaxReadRequestUnits: o.MaxReadRequestUnits})
	}
}
