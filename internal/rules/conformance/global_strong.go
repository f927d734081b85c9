package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	ohio   = "us-east-2"
	oregon = "us-west-2"
)

// consistency asks for a consistency mode, and perhaps for a witness.
func consistency(mode string, witness ...string) option {
	return func(w *world, in any) {
		set("MultiRegionConsistency", mode)(w, in)
		if len(witness) > 0 {
			witnesses(createWitness(witness[0]))(w, in)
		}
	}
}

func witnesses(updates ...types.GlobalTableWitnessGroupUpdate) option {
	return set("GlobalTableWitnessUpdates", updates)
}

func createWitness(region string) types.GlobalTableWitnessGroupUpdate {
	return types.GlobalTableWitnessGroupUpdate{
		Create: &types.CreateGlobalTableWitnessGroupMemberAction{RegionName: aws.String(region)},
	}
}

func deleteWitness(region string) types.GlobalTableWitnessGroupUpdate {
	return types.GlobalTableWitnessGroupUpdate{
		Delete: &types.DeleteGlobalTableWitnessGroupMemberAction{RegionName: aws.String(region)},
	}
}

func globalStrongCases() []Case {
	const (
		shape   = labGlobals + "#ddb-table-257"
		frozen  = labGlobals + "#ddb-table-260"
		ending  = labGlobals + "#ddb-table-261"
		begun   = "updating rows; global 2019.11.21 [] STRONG"
		three   = "; global 2019.11.21 [us-east-2 ACTIVE, us-west-2 ACTIVE] STRONG"
		witness = "; global 2019.11.21 [us-east-2 ACTIVE] STRONG witness us-west-2 ACTIVE"
	)
	const ofStrong = "for global tables with MultiRegionConsistency set to STRONG"
	count := invalid("Unsupported replica count " + ofStrong + ".")
	one := invalid("Deletion of only one table replica is not supported " + ofStrong + ".")
	witnessAlone := invalid(
		"MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present.",
	)
	nothing := invalid("At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
		"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, " +
		"ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, " +
		"WarmThroughput or TableClass is required")
	strong := updateTable(replicaUpdates(creating(ohio), creating(oregon)), consistency("STRONG"))
	witnessed := updateTable(replicaUpdates(creating(ohio)), consistency("STRONG", oregon))
	k := key("a", "1")
	refused := func(name, rule, want string, options ...option) Case {
		return newCase(name, rule, shape, needsRegions, expect(updateTable(options...), want))
	}
	return []Case{
		newCase("three replicas", "A strongly consistent table is made of three replicas by one request.",
			labGlobals+"#ddb-table-258", needsRegions,
			expect(strong, begun), expect(describeTable(), plainRows+three),
			expect(at(oregon, describeTable()),
				plainRows+"; global 2019.11.21 [us-east-1 ACTIVE, us-east-2 ACTIVE] STRONG")),
		newCase("a witness", "A witness stands for the third replica, and has no table.", labGlobals+"#ddb-table-259",
			needsRegions, expect(witnessed, begun), expect(describeTable(), plainRows+witness),
			expect(at(oregon, describeTable()), notInIreland)),
		newCase("seen at once", "A write is in all regions when it is answered, and a condition is the same in each.",
			docGlobals, needsRegions, expect(strong, begun), expect(put(row("a", "1")), ok),
			expect(at(oregon, get(k, only("pk"))), `{pk: "a"}`),
			expect(at(ohio, put(row("a", "1"), where("attribute_not_exists(pk)"))), conditionFailed),
			expect(at(ohio, remove(k)), ok), expect(get(k), "nothing")),

		refused("one replica", "Two regions are too few.", count,
			replicaUpdates(creating(ohio)), consistency("STRONG")),
		refused("witness alone", "A witness is no change by itself.", nothing, consistency("STRONG", ohio)),
		refused("mode alone", "A mode is no change by itself.", nothing, consistency("STRONG")),
		refused("witness of no mode", "Only a strongly consistent table has a witness.", witnessAlone,
			replicaUpdates(creating(ohio)), witnesses(createWitness(oregon))),
		refused("witness of the other mode", "Only a strongly consistent table has a witness.", witnessAlone,
			replicaUpdates(creating(ohio)), consistency("EVENTUAL", oregon)),
		refused("witness of a replica", "A witness is in a region of its own.",
			invalid("Cannot target multiple regions with the same action"), replicaUpdates(creating(ohio)),
			consistency("STRONG", ohio)),
		refused("witness at home", "A witness is in a region of its own.",
			invalid("Cannot add a witness in the same region as an existing replica when creating a global table "+
				"with MultiRegionConsistency set to STRONG."),
			replicaUpdates(creating(ohio)), consistency("STRONG", home)),
		refused("another region", "Not every region has such tables.",
			invalid("Unsupported Region(s) specified "+ofStrong+": [us-west-1]."),
			replicaUpdates(creating(ohio), creating("us-west-1")), consistency("STRONG")),
		refused("two witnesses", "There is one witness at most.",
			broken("Value '[...]' at 'globalTableWitnessUpdates' failed to satisfy constraint: Member must have "+
				"length less than or equal to 1"),
			replicaUpdates(creating(ohio)), set("MultiRegionConsistency", "STRONG"),
			witnesses(createWitness(oregon), createWitness(ireland))),
		refused("with another change", "Replicas are changed alone.",
			invalid("Requests that modify replicas or witnesses must not also modify other fields"),
			replicaUpdates(creating(ohio), creating(oregon)), consistency("STRONG"), enabling("NEW_IMAGE")),

		newCase("frozen", "A strongly consistent table gets and loses no region.", frozen, needsRegions,
			expect(witnessed, begun), expect(addReplica(ireland),
				invalid("Cannot add replicas to a global table with strong MultiRegionConsistency")),
			expect(updateTable(replicaUpdates(creating(ireland)), consistency("STRONG")), count),
			expect(updateTable(replicaUpdates(creating(ireland)), consistency("EVENTUAL")),
				invalid("MultiRegionConsistency parameter is unsupported on existing global table")),
			expect(updateTable(replicaUpdates(deleting(ohio)), consistency("STRONG")), invalid(
				"Only Replica Create actions are supported when MultiRegionConsistency parameter is provided.",
			)),
			expect(removeReplica(ohio), invalid("Update table delete operation does not include all witnesses.")),
			expect(updateTable(witnesses(deleteWitness(oregon))), nothing),
			expect(updateTable(replicaUpdates(deleting(ohio)), witnesses(deleteWitness(ireland))),
				invalid("Update global table operation failed because one or more witnesses were not part of the "+
					"global table. Please retry the request without these witnesses: [eu-west-1].")),
			expect(deleteTable(), one), expect(at(ohio, deleteTable()), one),
			expect(describeTable(), plainRows+witness)),
		newCase("one of three", "Replicas of a strongly consistent table go together.", frozen, needsRegions,
			expect(strong, begun), expect(removeReplica(ohio), one),
			expect(updateTable(replicaUpdates(deleting(ohio), deleting(oregon))), "updating rows"+three),
			expect(describeTable(), plainRows), expect(at(ohio, describeTable()), notInIreland)),
		newCase("the end", "One request deletes the replica and the witness, and leaves a table like any other.",
			ending, needsRegions, expect(witnessed, begun),
			expect(updateTable(replicaUpdates(deleting(ohio)), witnesses(deleteWitness(oregon))), "updating rows"+
				witness), expect(describeTable(), plainRows),
			expect(addReplica(ireland), added)),
		newCase("of a global table", "The mode of a global table does not change.", labGlobals+"#ddb-table-202",
			needsRegions, expect(addReplica(ireland), added),
			expect(updateTable(replicaUpdates(creating(ohio)), consistency("STRONG")), count),
			expect(updateTable(consistency("STRONG")), nothing), expect(updateTable(consistency("EVENTUAL")), nothing)),
		newCase("streams", "A strongly consistent table needs no stream, and may change it.",
			"https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-dynamodb-globaltable-streamspecification.html",
			needsRegions, expect(strong, begun), expect(updateTable(enabling("NEW_IMAGE")), "updating rows"+three),
			expect(updateTable(disabling()), "updating rows"+three)),
	}
}
