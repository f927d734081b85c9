package ddbfake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A global table is a set of tables of the same name in several regions, its replicas. Each has its own rows, indexes,
// stream, tags, recovery and protection, and any of them may be written; delivery.go brings the writes to the others.
// Global tables are of version 2019.11.21; the end of this file has the rules for tables with strong consistency.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html

// globalTableVersion is the version of all global tables here.
const globalTableVersion = "2019.11.21"

// groupMember is a replica of a global table. All its replicas share one list of members, in the order of creation. The
// list is replaced, not changed: snapshots share it.
type groupMember struct {
	region string
	source string // the region whose replica was asked to add it; "" for the first replica
	added  time.Time
}

// replicas returns the replicas of the global table of t, beginning with t; t alone if it belongs to no global table.
func (db *DB) replicas(t *table) []*table {
	all := []*table{t}
	for _, m := range t.members {
		if m.region != t.region {
			all = append(all, db.state.tables[address(m.region, t.name)])
		}
	}
	return all
}

// isMember reports whether a region has a replica of the global table of t.
func (t *table) isMember(region string) bool {
	return slices.ContainsFunc(t.members, func(m groupMember) bool { return m.region == region })
}

// groupOf is the part of a table's description that concerns its global table.
type groupOf struct {
	Replicas               []struct{ RegionName string }
	GlobalTableWitnesses   []struct{ RegionName string }
	MultiRegionConsistency types.MultiRegionConsistency
}

// regions returns the regions of the other replicas, or an error if one of them cannot be the name of a region.
func (g *groupOf) regions() ([]string, error) {
	var regions []string
	for _, replica := range g.Replicas {
		if err := checkRegion(replica.RegionName); err != nil || replica.RegionName == "" {
			return nil, fmt.Errorf("found a replica in the region %q, expected a region", replica.RegionName)
		}
		regions = append(regions, replica.RegionName)
	}
	return regions, nil
}

// join makes one global table out of a loaded table and the tables of the same name in the other regions that its
// description names. A region without such a table gets one. A table that existed before the load does not become a
// replica.
func (db *DB) join(region, name string, g *groupOf, there map[string]bool) error {
	t := db.state.tables[address(region, name)]
	t.strong = g.MultiRegionConsistency == types.MultiRegionConsistencyStrong
	for _, w := range g.GlobalTableWitnesses {
		t.witness = w.RegionName
	}
	others, _ := g.regions() // they were checked
	r := &request{region: region, now: db.clock.Now(), sent: db.clock.Now()}
	for _, other := range others {
		u := db.state.tables[address(other, name)]
		switch {
		case t.isMember(other) || other == region:
		case there[address(other, name)]:
			return fmt.Errorf(
				"found a table of the name in %s, expected none: a table that exists does not become a replica", other,
			)
		case u == nil:
			db.addReplica(r, t, &types.CreateReplicationGroupMemberAction{RegionName: aws.String(other)})
		default:
			members := slices.Clone(t.members)
			for _, one := range []*table{t, u} {
				if !slices.ContainsFunc(members, func(m groupMember) bool { return m.region == one.region }) {
					members = append(members, groupMember{region: one.region})
				}
			}
			for _, one := range append(db.replicas(t), u) {
				one.members = members
			}
		}
	}
	return nil
}

// sourceTime is how long a replica must stay after another replica was created from it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
const sourceTime = 24 * time.Hour

// checkLeave refuses to delete a replica that must stay.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-266, DDB-TABLE-267, DDB-TABLE-297: the texts)
func (t *table) checkLeave(now time.Time) error {
	for _, m := range t.members {
		if m.source == t.region && now.Sub(m.added) < sourceTime {
			return invalid("Replica cannot be deleted because it has acted as a source region for new replica(s) " +
				"being added to the table in the last 24 hours.")
		}
	}
	if t.deletionProtection {
		return invalid("Cannot delete table %s in region %s because it has deletion protection enabled. Disable "+
			"deletion protection first.",
			t.name, t.region)
	}
	return nil
}

// checkGlobal refuses changes that are not allowed for a global table, and changes whose effect on a global table is
// unknown.
//
// Deviation: a global table cannot be provisioned, since there is no Application Auto Scaling.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
func (t *table) checkGlobal(in *dynamodb.UpdateTableInput) error {
	switch {
	case t.members == nil:
		return nil
	case in.BillingMode == types.BillingModeProvisioned:
		return errNotScaled
	case in.SSESpecification != nil && in.SSESpecification.KMSMasterKeyId != nil:
		return &UnsupportedError{
			Operation: "UpdateTable", Parameter: "SSESpecification.KMSMasterKeyId of a global table",
		}
	}
	return nil
}

var errNotScaled = invalid("Table write capacity should either be Pay-Per-Request or AutoScaled.")

// leave takes a replica out of its global table. Writes that it has sent still arrive in the other replicas. A single
// table that is left is no longer a global table, and keeps its stream.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-global-tables.md#ddb-table-231
func (db *DB) leave(t *table) {
	if t.members == nil {
		return
	}
	members := slices.DeleteFunc(slices.Clone(t.members), func(m groupMember) bool { return m.region == t.region })
	if len(members) == 1 {
		members = nil
	}
	for _, other := range db.replicas(t)[1:] {
		other.changeSettings()
		if other.members = members; members == nil {
			other.strong, other.witness = false, ""
		}
	}
	t.changeSettings()
	t.members, t.strong, t.witness = nil, false, ""
	db.state.underWay.abandon(t)
}

// describe returns a table's description with its replicas. The replicas come in the order of creation, without the
// settings that they share with the table.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-global-tables.md
// (DDB-TABLE-201, DDB-TABLE-229, DDB-TABLE-320)
func (db *DB) describe(t *table, status types.TableStatus) *types.TableDescription {
	d := t.describe(status)
	if t.members == nil {
		return d
	}
	d.GlobalTableVersion = aws.String(globalTableVersion)
	d.GlobalTableSettingsReplicationMode = types.GlobalTableSettingsReplicationModeEnabledWithOverrides
	if t.strong {
		d.MultiRegionConsistency = types.MultiRegionConsistencyStrong
	}
	if t.witness != "" {
		d.GlobalTableWitnesses = []types.GlobalTableWitnessDescription{
			{RegionName: aws.String(t.witness), WitnessStatus: types.WitnessStatusActive},
		}
	}
	d.Replicas = []types.ReplicaDescription{}
	for _, m := range t.members {
		if m.region != t.region {
			d.Replicas = append(d.Replicas, db.state.tables[address(m.region, t.name)].describeFor(t))
		}
	}
	return d
}

// describeFor describes a table as the description of another replica shows it: without settings that the two share.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
// (DDB-TABLE-294, DDB-TABLE-295, DDB-TABLE-296, DDB-TABLE-422)
func (t *table) describeFor(other *table) types.ReplicaDescription {
	d := types.ReplicaDescription{
		RegionName: aws.String(t.region), ReplicaStatus: types.ReplicaStatusActive, WarmThroughput: t.warmth.describe(),
		GlobalTableSettingsReplicationMode: types.GlobalTableSettingsReplicationModeEnabledWithOverrides,
	}
	if t.encryption != "" {
		d.KMSMasterKeyId = aws.String(string(t.encryption))
	}
	if t.class != "" {
		d.ReplicaTableClassSummary = &types.TableClassSummary{TableClass: t.class}
	}
	if t.ceiling.read != other.ceiling.read {
		d.OnDemandThroughputOverride = &types.OnDemandThroughputOverride{MaxReadRequestUnits: positive(t.ceiling.read)}
	}
	for _, x := range t.indexes {
		if x.global {
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, types.ReplicaGlobalSecondaryIndexDescription{
				IndexName: aws.String(x.name), WarmThroughput: x.warmth.describeOfIndex(),
			})
		}
	}
	return d
}

// globalRegions are the regions that a global table can be in. The service lists 36 regions, of which these are the
// first; no public report shows the rest.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md#ddb-table-223
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html
var globalRegions = []string{
	"ap-south-2", "ap-south-1", "eu-south-1", "eu-south-2", "me-central-1", "il-central-1", "ca-central-1", "ca-west-1",
	"mx-central-1", "eu-central-1", "eu-central-2", "us-west-1", "us-west-2", "af-south-1", "eu-north-1", "eu-west-3",
	"eu-west-2", "eu-west-1", "ap-northeast-3", "ap-northeast-2", "ap-northeast-1", "me-south-1", "sa-east-1",
	"ap-east-1", "ap-east-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5",
	"ap-southeast-6", "ap-southeast-7", "us-east-1", "us-east-2",
}

// checkGlobalRegion refuses a region that cannot have a replica. That includes regions of another partition (such as
// aws-cn).
func checkGlobalRegion(region, local string) error {
	all := globalRegions
	switch partitionOf(local) {
	case "aws-cn":
		all = []string{"cn-north-1", "cn-northwest-1"}
	case "aws-us-gov":
		all = []string{"us-gov-east-1", "us-gov-west-1"}
	}
	if slices.Contains(all, region) {
		return nil
	}
	return invalid("Region %s is not supported. The latest version of global tables are only supported in the "+
		"following regions: [%s]",
		region, strings.Join(all, ", "))
}

// A strongly consistent global table has three regions: the table's own, and either two more, or one more and a
// witness, which has no table. One request makes it from an empty table, another ends it, and nothing changes it in
// between. A write is in all regions before it is answered. It has no transactions, no TTL and no local indexes.
//
// Deviation: a write conflicts with a write in another region only under a FaultConflict, because calls take effect one
// at a time. The answer is ReplicatedWriteConflictException, as at the service.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-global-tables.md
// (DDB-TABLE-202, DDB-TABLE-257, DDB-TABLE-258, DDB-TABLE-260, DDB-TABLE-261: the rules, their order and the texts)

// strongRegions are the regions that such tables and their witnesses can be in.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
var strongRegions = []string{
	"us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1",
	"ap-northeast-1", "ap-northeast-2", "ap-northeast-3",
}

const ofStrong = "for global tables with MultiRegionConsistency set to STRONG"

// The texts about transactions, TTL, rows and local indexes are not documented.
var (
	errOneOfStrong     = invalid("Deletion of only one table replica is not supported %s.", ofStrong)
	errTransactsStrong = invalid("Transactional operations are not supported %s.", ofStrong)
	errTTLOfStrong     = invalid("TimeToLive is not supported %s.", ofStrong)
)

func (op *operation) transacts() bool {
	return op != nil && (strings.HasPrefix(op.name, "Transact") || op.name == "ExecuteTransaction")
}

// witnessOf returns the region of the witness that a request creates, and the region of the witness that it deletes. An
// action without a region counts as absent.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md
func witnessOf(in *dynamodb.UpdateTableInput) (created, deleted string) {
	for _, u := range in.GlobalTableWitnessUpdates {
		if u.Create != nil {
			created = aws.ToString(u.Create.RegionName)
		}
		if u.Delete != nil {
			deleted = aws.ToString(u.Delete.RegionName)
		}
	}
	return created, deleted
}

// asksForStrong reports whether a request has a parameter about strong consistency.
func asksForStrong(in *dynamodb.UpdateTableInput) bool {
	return in.MultiRegionConsistency != "" || len(in.GlobalTableWitnessUpdates) > 0
}

// checkConsistency checks ReplicaUpdates against the consistency that the table has, or will have.
func (t *table) checkConsistency(in *dynamodb.UpdateTableInput) error {
	created, deleted := witnessOf(in)
	first := actionsOf(&in.ReplicaUpdates[0])[0].kind // all actions have the same kind
	switch {
	case created != "" && in.MultiRegionConsistency != types.MultiRegionConsistencyStrong:
		return invalid(
			"MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present.",
		)
	case in.MultiRegionConsistency != "" && first != "create":
		return invalid("Only Replica Create actions are supported when MultiRegionConsistency parameter is provided.")
	case in.MultiRegionConsistency == types.MultiRegionConsistencyStrong:
		return t.checkNewStrong(in, created)
	case in.MultiRegionConsistency != "" && t.members != nil:
		return invalid("MultiRegionConsistency parameter is unsupported on existing global table")
	case t.strong && first == "create":
		return invalid("Cannot add replicas to a global table with strong MultiRegionConsistency")
	case deleted != "" && deleted != t.witness:
		return invalid("Update global table operation failed because one or more witnesses were not part of the "+
			"global table. Please retry the request without these witnesses: [%s].", deleted)
	case t.strong && first == "delete":
		return t.checkEnd(in, deleted)
	}
	return nil
}

// regionsOf are the regions of ReplicaUpdates, each once.
func regionsOf(in *dynamodb.UpdateTableInput) []string {
	var regions []string
	for i := range in.ReplicaUpdates {
		for _, a := range actionsOf(&in.ReplicaUpdates[i]) {
			if !slices.Contains(regions, *a.region) {
				regions = append(regions, *a.region)
			}
		}
	}
	return regions
}

// checkNewStrong checks a request for a strongly consistent table.
func (t *table) checkNewStrong(in *dynamodb.UpdateTableInput, witness string) error {
	regions := regionsOf(in)
	all := append(slices.Clone(regions), t.region)
	if witness != "" {
		all = append(all, witness)
	}
	if len(all) != 3 {
		return invalid("Unsupported replica count %s.", ofStrong)
	}
	var unsupported []string
	for _, region := range all {
		if !slices.Contains(strongRegions, region) && !slices.Contains(unsupported, region) {
			unsupported = append(unsupported, region)
		}
	}
	local := func(x *index) bool { return !x.global }
	switch {
	case unsupported != nil:
		return invalid("Unsupported Region(s) specified %s: [%s].", ofStrong, strings.Join(unsupported, ", "))
	case slices.Contains(regions, witness):
		return invalid("Cannot target multiple regions with the same action")
	case witness == t.region:
		return invalid("Cannot add a witness in the same region as an existing replica when creating a global table " +
			"with MultiRegionConsistency set to STRONG.")
	case t.members != nil:
		return invalid("MultiRegionConsistency parameter is unsupported on existing global table")
	case t.rows.Len() > 0:
		return invalid("Only an empty table is supported %s.", ofStrong)
	case slices.ContainsFunc(t.indexes, local):
		return invalid("Local secondary indexes are not supported %s.", ofStrong)
	case t.ttl.enabled:
		return errTTLOfStrong
	}
	return nil
}

// checkEnd checks the request that ends strong consistency: it deletes all replicas but one, and the witness.
func (t *table) checkEnd(in *dynamodb.UpdateTableInput, witness string) error {
	regions := regionsOf(in)
	for _, m := range t.members {
		if m.region != t.region && !slices.Contains(regions, m.region) && t.isMember(regions[0]) {
			return errOneOfStrong
		}
	}
	if witness != t.witness {
		return invalid("Update table delete operation does not include all witnesses.")
	}
	return nil
}
