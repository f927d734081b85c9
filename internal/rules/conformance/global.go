package conformance

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Pages of the lab of AWS's controller for Kubernetes: its observations of global tables at the service.
const (
	labReplicas = quirks + "table-replicas.md"
	labGlobals  = quirks + "table-global-tables.md"
)

const (
	globalRows   = plainRows + newAndOld
	newAndOld    = "; stream true NEW_AND_OLD_IMAGES; latest stream"
	inIreland    = "; global 2019.11.21 [eu-west-1 ACTIVE]"
	atHome       = "; global 2019.11.21 [us-east-1 ACTIVE]"
	inNone       = "; global 2019.11.21 []"
	notInIreland = "ResourceNotFoundException: Requested resource not found: Table: rows not found"
	added        = "updating rows" + inNone
	removed      = "updating rows" + inIreland
)

// theRegions are those that global tables are in, as an error lists them.
const theRegions = "[ap-south-2, ap-south-1, eu-south-1, eu-south-2, me-central-1, il-central-1, ca-central-1, " +
	"ca-west-1, mx-central-1, eu-central-1, eu-central-2, us-west-1, us-west-2, af-south-1, eu-north-1, eu-west-3, " +
	"eu-west-2, eu-west-1, ap-northeast-3, ap-northeast-2, ap-northeast-1, me-south-1, sa-east-1, ap-east-1, " +
	"ap-east-2, ap-southeast-1, ap-southeast-2, ap-southeast-3, ap-southeast-4, ap-southeast-5, ap-southeast-6, " +
	"ap-southeast-7, us-east-1, us-east-2]"

func globalCases() []Case {
	refused := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, needsRegions, expect(updateTable(options...), want))
	}
	infrequent := func(a *types.UpdateReplicationGroupMemberAction) {
		a.TableClassOverride = "STANDARD_INFREQUENT_ACCESS"
	}
	noActions := invalid("There are no actions specified in the Replica Update Action of the request.")
	local := invalid("Cannot add or delete the local region through ReplicaUpdates. Use CreateTable, DeleteTable, " +
		"or UpdateTable as required.")
	alone := badParameter("Replica modification must be the only operation in the request")
	notPart := func(region string) string {
		return invalid("Update global table operation failed because one or more replicas were not part of the " +
			"global table. Please retry the request without these replicas: [" + region + "].")
	}
	exists := invalid("Failed to create a the new replica of table with name: \u2018rows\u2019 because one or more " +
		"replicas already existed as tables.")
	source := invalid("Replica cannot be deleted because it has acted as a source region for new replica(s) being " +
		"added to the table in the last 24 hours.")
	protected := invalid("Cannot delete table rows in region eu-west-1 because it has deletion protection enabled. " +
		"Disable deletion protection first.")
	keyless := badParameter("KMSMasterKeyId must be specified for each replica.")
	const indexed = plainRows + "; gsi (g S HASH) ALL" + newAndOld
	key := func(region, key string) types.ReplicationGroupUpdate {
		u := creating(region)
		u.Create.KMSMasterKeyId = aws.String(key)
		return u
	}
	encryptedWith := func(key *string) option {
		return set("SSESpecification",
			&types.SSESpecification{Enabled: aws.Bool(true), SSEType: "KMS", KMSMasterKeyId: key})
	}
	own := aws.String("arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab")
	return []Case{
		newCase("create", "A replica is a table of the name in another region, and each lists the other.",
			labGlobals+"#ddb-table-229", needsRegions,
			expect(addReplica(ireland), added),
			expect(describeTable(), globalRows+inIreland), expect(at(ireland, describeTable()), globalRows+atHome),
			expect(at(tokyo, describeTable()), notInIreland)),
		newCase("two replicas", "Each replica lists the others, in the order of their creation.",
			labReplicas+"#ddb-table-265", needsRegions,
			expect(addReplica(ireland), added),
			expect(at(ireland, addReplica(tokyo)), "updating rows"+atHome),
			expect(describeTable(), globalRows+"; global 2019.11.21 [eu-west-1 ACTIVE, ap-northeast-1 ACTIVE]"),
			expect(at(ireland, describeTable()),
				globalRows+"; global 2019.11.21 [us-east-1 ACTIVE, ap-northeast-1 ACTIVE]"),
			expect(at(tokyo, describeTable()), globalRows+"; global 2019.11.21 [us-east-1 ACTIVE, eu-west-1 ACTIVE]")),
		newCase("with its rows", "A new replica has the rows of its source.", docGlobals,
			holding(row("a", "1"), row("b", "2")), needsRegions,
			expect(addReplica(ireland), added),
			expect(at(ireland, get(attrs{"pk": "b", "sk": "2"})), `{pk: "b", sk: "2"}`),
			expect(at(ireland, query("pk = :p", with(attrs{":p": "a"}))), `1 of 1: {pk: "a", sk: "1"}`)),
		newCase("keeps its view", "A stream keeps its view, and the replica has the same.",
			labReplicas+"#ddb-table-305", inTable("pk S, sk S | stream: KEYS_ONLY"), needsRegions,
			expect(addReplica(ireland), added),
			expect(at(ireland, describeTable()), plainRows+"; stream true KEYS_ONLY; latest stream"+atHome)),
		newCase("delete", "The last replica leaves a table like any other, with its stream.",
			labGlobals+"#ddb-table-231", needsRegions,
			expect(addReplica(ireland), added), expect(removeReplica(ireland), removed),
			expect(describeTable(), globalRows), expect(at(ireland, describeTable()), notInIreland),
			expect(addReplica(ireland), added)),
		newCase("delete in its region", "A replica may be deleted where it is.", labReplicas+"#ddb-table-297",
			needsRegions, expect(addReplica(ireland), added), expect(at(ireland, deleteTable()), "deleted rows"),
			expect(describeTable(), globalRows)),
		newCase("source stays", "A replica from which another was added stays for 24 hours, or until that is gone.",
			labReplicas+"#ddb-table-267", movesClock, needsRegions,
			expect(addReplica(ireland), added), expect(at(ireland, addReplica(tokyo)), "updating rows"+atHome),
			expect(removeReplica(ireland), source), expect(at(ireland, deleteTable()), source),
			expect(deleteTable(), source), then(wait(24*time.Hour-time.Nanosecond)),
			expect(removeReplica(ireland), source), then(wait(time.Nanosecond)), expect(removeReplica(ireland),
				"updating rows; global 2019.11.21 [eu-west-1 ACTIVE, ap-northeast-1 ACTIVE]"),
			expect(at(tokyo, describeTable()), globalRows+atHome),
			expect(removeReplica(tokyo), "updating rows; global 2019.11.21 [ap-northeast-1 ACTIVE]")),
		newCase("protected", "A protected replica is deleted neither from elsewhere nor where it is.",
			labReplicas+"#ddb-table-297", needsRegions,
			expect(addReplica(ireland), added), expect(at(ireland, updateTable(set("DeletionProtectionEnabled", true))),
				"updating rows"+atHome),
			expect(removeReplica(ireland), protected), expect(at(ireland, deleteTable()), protected),
			expect(at(ireland, updateTable(set("DeletionProtectionEnabled", false))), "updating rows"+atHome)),

		refused("its own region", "A table is no replica of itself.", labReplicas+"#ddb-table-223", local,
			replicaUpdates(creating(home))),
		refused("delete its own region", "A table is not deleted by its replicas.", labReplicas+"#ddb-table-223", local,
			replicaUpdates(deleting(home))),
		refused("no region at all", "A replica is in a region that there is.", labReplicas+"#ddb-table-223",
			invalid("Region us-fake-1 is not supported. The latest version of global tables are only supported in "+
				"the following regions: "+theRegions), replicaUpdates(creating("us-fake-1"))),
		refused("region in capitals", "A region is written in small letters.", labReplicas+"#ddb-table-223",
			invalid("Region EU-WEST-1 is not supported. The latest version of global tables are only supported in "+
				"the following regions: "+theRegions), replicaUpdates(creating("EU-WEST-1"))),
		refused("no action", "An element has an action.", labReplicas+"#ddb-table-223", noActions,
			replicaUpdates(types.ReplicationGroupUpdate{})),
		refused("two creations", "One replica is created at a time.", labReplicas+"#ddb-table-265",
			invalid("Update table operation with more than one create or delete replica actions not allowed"),
			replicaUpdates(creating(ireland), creating(tokyo))),
		refused("create and delete", "The actions of a request are of one type.", labReplicas+"#ddb-table-223",
			invalid("Update table operation with more than one type of replica actions not allowed."),
			replicaUpdates(types.ReplicationGroupUpdate{
				Create: creating(ireland).Create, Delete: deleting(tokyo).Delete,
			})),
		refused("with another change", "Replicas are changed alone.", labReplicas+"#ddb-table-224", alone,
			replicaUpdates(creating(ireland)), enabling("NEW_IMAGE")),
		refused("with two creations and another change", "The rule that replicas are changed alone comes first.",
			labReplicas+"#ddb-table-224", alone,
			replicaUpdates(creating(ireland), creating(tokyo)), enabling("NEW_IMAGE")),
		refused("delete none", "A replica that is deleted exists.", labReplicas+"#ddb-table-307", notPart(tokyo),
			replicaUpdates(deleting(tokyo))),
		refused("change none", "A replica that is changed exists.", labReplicas+"#ddb-table-307", notPart(tokyo),
			replicaUpdates(changing(tokyo, infrequent))),
		newCase("the same twice", "Equal actions count once.", labReplicas+"#ddb-table-224", needsRegions,
			expect(updateTable(replicaUpdates(creating(ireland), creating(ireland))), added),
			expect(describeTable(), globalRows+inIreland)),
		newCase("there already", "A replica is not created twice.", labReplicas+"#ddb-table-203", needsRegions,
			expect(addReplica(ireland), added), expect(addReplica(ireland), exists),
			expect(at(ireland, addReplica(home)), exists)),
		newCase("another table of the name", "A table that exists does not become a replica.",
			labReplicas+"#ddb-table-225", needsRegions,
			expect(addReplica(ireland), added),
			expect(removeReplica(ireland), removed),
			expect(at(ireland, createTable(usualTable, usualSchema)), plainRows),
			expect(addReplica(ireland), exists), expect(at(ireland, deleteTable()), "deleted rows")),
		newCase("provisioned", "A provisioned table has scaling before it gets a replica.",
			labReplicas+"#ddb-table-188", noTables, needsRegions,
			expect(createTable(usualTable, usualSchema, set("BillingMode", "PROVISIONED"),
				set("ProvisionedThroughput", units(1, 1))), "table rows (pk S HASH, sk S RANGE) PROVISIONED 1/1"),
			expect(
				addReplica(ireland), invalid("Table write capacity should either be Pay-Per-Request or AutoScaled."),
			), expect(deleteTable(), "deleted rows")),

		newCase("stream stays", "The stream of a replica cannot be disabled, nor enabled again.",
			labReplicas+"#ddb-table-222", needsRegions,
			expect(addReplica(ireland), added),
			expect(updateTable(disabling()),
				badParameter("Disabling Stream is not allowed for a Global Table replica.")),
			expect(at(ireland, updateTable(disabling())),
				badParameter("Disabling Stream is not allowed for a Global Table replica.")),
			expect(updateTable(enabling("NEW_AND_OLD_IMAGES")),
				invalid("Table already has an enabled stream: TableName: rows")),
			expect(removeReplica(ireland), removed), expect(updateTable(disabling()), "updating rows")),
		newCase("indexes are everywhere", "An index is created and deleted in all regions, whichever was asked.",
			labReplicas+"#ddb-table-296", needsRegions,
			holding(row("a", "1", "g", "x")), expect(addReplica(ireland), added),
			expect(at(ireland, updateTable(adding("gsi: g S -> ALL"))), "updating rows"+atHome),
			expect(describeTable(), indexed+"; global 2019.11.21 [eu-west-1 ACTIVE gsi]"),
			expect(at(ireland, describeTable()), indexed+"; global 2019.11.21 [us-east-1 ACTIVE gsi]"),
			expect(query("g = :g", index("gsi"), eventually(), with(attrs{":g": "x"}), only("sk")),
				`1 of 1: {sk: "1"}`)),
		newCase("TTL is everywhere", "TTL is set for all regions, whichever was asked.", labReplicas+"#ddb-table-230",
			needsRegions, expect(updateTTL("ttl", true), "ttl ttl true"), expect(addReplica(ireland), added),
			expect(at(ireland, describeTTL()), "ttl ENABLED ttl"),
			expect(at(ireland, updateTTL("ttl", false)), "ttl ttl false"), expect(describeTTL(), "ttl DISABLED")),
		newCase("each its own", "Recovery and protection belong to one region.", labReplicas+"#ddb-table-230",
			needsRegions, expect(addReplica(ireland), added),
			expect(recovery(true), "point in time ENABLED for 35 days"),
			expect(at(ireland, describeRecovery()), "backups ENABLED, point in time DISABLED"),
			expect(recovery(false), "point in time DISABLED for 0 days"),
			expect(updateTable(set("DeletionProtectionEnabled", true)), removed),
			expect(at(ireland, deleteTable()), "deleted rows"),
			expect(updateTable(set("DeletionProtectionEnabled", false)), "updating rows")),
		newCase("class of a replica", "A replica may be of another class.", labReplicas+"#ddb-table-294", needsRegions,
			expect(addReplica(ireland), added), expect(updateTable(replicaUpdates(changing(ireland, nil))), noActions),
			expect(updateTable(replicaUpdates(changing(ireland, infrequent))), removed),
			expect(describeTable(), globalRows+"; global 2019.11.21 [eu-west-1 ACTIVE STANDARD_INFREQUENT_ACCESS]"),
			expect(at(ireland, describeTable()), globalRows+atHome)),
		newCase("reads of a replica",
			"A replica may have a ceiling of reads of its own, until it gets the ceiling of the table.",
			labReplicas+"#ddb-table-422", needsRegions,
			expect(addReplica(ireland), added), expect(updateTable(atMost(100, 200)), removed),
			expect(updateTable(replicaUpdates(changing(ireland, reads(50)))), removed),
			expect(at(ireland, describeTable()),
				globalRows+"; at most 50/200; global 2019.11.21 [us-east-1 ACTIVE at most 100]"),
			expect(updateTable(replicaUpdates(changing(ireland, reads(100)))),
				"updating rows; global 2019.11.21 [eu-west-1 ACTIVE at most 50]"),
			expect(describeTable(), globalRows+"; at most 100/200"+inIreland)),
		newCase("units of a replica", "A replica that is paid per request has no units.", labReplicas+"#ddb-table-223",
			needsRegions, expect(addReplica(ireland), added),
			expect(updateTable(replicaUpdates(changing(ireland, func(a *types.UpdateReplicationGroupMemberAction) {
				a.ProvisionedThroughputOverride = &types.ProvisionedThroughputOverride{ReadCapacityUnits: aws.Int64(5)}
			}))), badParameter(
				"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
			))),
		newCase("encrypted everywhere", "A key that AWS manages is one in each region.", labReplicas+"#ddb-table-295",
			needsRegions, expect(addReplica(ireland), added),
			expect(updateTable(encryptedWith(nil)), removed),
			expect(describeTable(),
				globalRows+"; encrypted ENABLED KMS some key; global 2019.11.21 [eu-west-1 ACTIVE with a key]"),
			expect(at(ireland, describeTable()),
				globalRows+"; encrypted ENABLED KMS some key; global 2019.11.21 [us-east-1 ACTIVE with a key]")),
		newCase("keys of replicas",
			"A table with a key of its own has one for each replica, in its region; another has none.",
			labReplicas+"#ddb-table-313", needsRegions,
			expect(updateTable(replicaUpdates(key(ireland, "1234"))), keyless),
			expect(updateTable(encryptedWith(own)), "updating rows"),
			expect(addReplica(ireland), keyless),
			expect(updateTable(replicaUpdates(key(ireland, "alias/aws/dynamodb"))),
				badParameter("All replica keys must either be Customer Managed CMK or AWS Managed CMK.")),
			expect(updateTable(replicaUpdates(key(ireland, *own))), invalid(
				"KMS validation error for region eu-west-1: com.amazonaws.services.kms.model.NotFoundException: "+
					"Invalid arn us-east-1",
			)),
			expect(updateTable(replicaUpdates(key(ireland, "1234"))), "updating rows"+inNone),
			expect(updateTable(replicaUpdates(changing(ireland, func(a *types.UpdateReplicationGroupMemberAction) {
				a.KMSMasterKeyId = aws.String("5678")
			}))), keyless)),
	}
}

func describeRecovery() request {
	return func(w *world) any { return build(w, &dynamodb.DescribeContinuousBackupsInput{}, nil) }
}

func atMost(read, write int64) option {
	return set("OnDemandThroughput",
		&types.OnDemandThroughput{MaxReadRequestUnits: &read, MaxWriteRequestUnits: &write})
}

func reads(n int64) func(*types.UpdateReplicationGroupMemberAction) {
	return func(a *types.UpdateReplicationGroupMemberAction) {
		a.OnDemandThroughputOverride = &types.OnDemandThroughputOverride{MaxReadRequestUnits: aws.Int64(n)}
	}
}

func replicationCases() []Case {
	k := key("a", "1")
	global := func(parts ...part) part {
		return setup(func(c *Case) {
			needsRegions(c)
			expect(addReplica(ireland), added).addTo(c)
			for _, p := range parts {
				p.addTo(c)
			}
		})
	}
	return []Case{
		newCase("both ways", "A write in one region is seen in the other.", docGlobals, global(
			expect(put(row("a", "1", "v", "x")), ok), expect(at(ireland, get(k, only("v"))), `{v: "x"}`),
			expect(at(ireland, update(k, "SET v = :v", with(attrs{":v": "y"}))), ok),
			expect(get(k, only("v")), `{v: "y"}`), expect(remove(k), ok), expect(at(ireland, get(k)), "nothing"))),
		newCase("on from the second", "A replica hears of writes in any other.", docGlobals, global(
			expect(at(ireland, addReplica(tokyo)), "updating rows"+atHome),
			expect(at(tokyo, put(row("a", "1"))), ok), expect(get(k, only("pk")), `{pk: "a"}`),
			expect(at(ireland, get(k, only("pk"))), `{pk: "a"}`))),
		newCase("conditions", "A condition is judged where the request is sent.", docGlobals, global(
			expect(put(row("a", "1", "v", "x")), ok),
			expect(at(ireland, put(row("a", "1"), where("attribute_not_exists(pk)"))), conditionFailed),
			expect(at(ireland, put(row("a", "1", "v", "y"), where("v = :v"), with(attrs{":v": "x"}))), ok),
			expect(put(row("a", "1"), where("v = :v"), with(attrs{":v": "x"})), conditionFailed))),
		newCase("transactions", "The writes of a transaction are seen in the other regions.", docGlobals, global(
			expect(transact(actions{put(row("a", "1")), put(row("b", "1"))}), ok),
			expect(
				at(ireland, transactGet(actions{get(k, only("pk"), set("ConsistentRead", nil)),
					get(key("b", "1"), only("pk"), set("ConsistentRead", nil))})), `[{pk: "a"} {pk: "b"}]`,
			))),
		newCase("batches and statements",
			"The writes of batches and statements are seen in the other regions.", docGlobals, global(
				expect(batchWrite(actions{put(row("a", "1")), put(row("b", "1"))}), ok),
				expect(at(ireland, get(key("b", "1"), only("pk"))), `{pk: "b"}`))),
		newCase("tokens", "A token stands for a transaction in one region.", docGlobals, global(
			expect(transact(actions{update(k, "ADD n :n", with(attrs{":n": num("1")}))}, token("t")), ok),
			expect(at(ireland, transact(actions{update(k, "ADD n :n", with(attrs{":n": num("1")}))}, token("t"))), ok),
			expect(get(k, only("n")), "{n: 2}"))),
		newCase("apart again", "A former replica hears of nothing more.", docGlobals, global(
			expect(put(row("a", "1")), ok), expect(removeReplica(ireland), removed), expect(put(row("b", "1")), ok),
			expect(at(ireland, createTable(usualTable, usualSchema)), plainRows),
			expect(put(row("c", "1")), ok), expect(at(ireland, scan()), "0 of 0"),
			expect(at(ireland, deleteTable()), "deleted rows"))),
		newCase("TTL deletes everywhere", "A deletion by TTL is seen in all regions.", docGlobals,
			movesClock, needsSweep, global(
				expect(updateTTL("ttl", true), "ttl ttl true"),
				expect(after(func(now int64) request { return put(row("a", "1", "ttl", num(fmt.Sprint(now-10)))) }),
					ok),
				expect(at(ireland, get(k, only("pk"))), `{pk: "a"}`), then(wait(time.Second)), then(sweep()),
				expect(get(k), "nothing"), expect(at(ireland, get(k)), "nothing"))),
	}
}
