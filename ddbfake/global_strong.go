package ddbfake

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A global table with strong consistency is in three regions: the table's own, and either two more, or one more and a
// witness, which has no table. One request makes it of an empty table, one request ends it, and nothing changes it in
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

// transacts reports whether the operation is a transaction.
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

// asksForStrong reports whether a request has a parameter of strong consistency.
func asksForStrong(in *dynamodb.UpdateTableInput) bool {
	return in.MultiRegionConsistency != "" || len(in.GlobalTableWitnessUpdates) > 0
}

// checkConsistency checks ReplicaUpdates against the consistency that the table has, or will have.
func (t *table) checkConsistency(in *dynamodb.UpdateTableInput) error {
	created, deleted := witnessOf(in)
	first := actionsOf(&in.ReplicaUpdates[0])[0].kind // all actions are of this kind
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

// checkEnd checks the request that ends a strongly consistent table: it deletes all replicas but one, and the witness.
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
