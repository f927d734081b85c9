package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// checkUpdateTable checks everything that needs no table, and returns the table's name.
func checkUpdateTable(in *dynamodb.UpdateTableInput) (string, error) {
	var c constraints
	name := c.table(in.TableName)
	c.updateParameters(in)
	if err := c.err(); err != nil {
		return "", err
	}
	if err := unsupportedOfUpdate(in); err != nil {
		return "", err
	}
	if err := checkCombination(in); err != nil {
		return "", err
	}
	return name, checkIndexUpdates(in)
}

// updateParameters checks the parameters one by one.
func (c *constraints) updateParameters(in *dynamodb.UpdateTableInput) {
	for i, d := range in.AttributeDefinitions {
		c.attributeName(d.AttributeName, member("attributeDefinitions", i, "attributeName"))
		if d.AttributeType == "" {
			c.null(member("attributeDefinitions", i, "attributeType"))
		}
		c.enum(string(d.AttributeType), member("attributeDefinitions", i, "attributeType"), []string{"B", "N", "S"})
	}
	c.enum(string(in.BillingMode), "billingMode", []string{"PROVISIONED", "PAY_PER_REQUEST"})
	c.enum(string(in.TableClass), "tableClass", tableClasses)
	c.replicaUpdates(in)
	if in.ProvisionedThroughput != nil {
		c.throughput(in.ProvisionedThroughput, "")
	}
	c.streamSpecification(in.StreamSpecification)
	c.encryptionType(in.SSESpecification)
	for i, u := range in.GlobalSecondaryIndexUpdates {
		if u.Update != nil {
			at := member("globalSecondaryIndexUpdates", i, "update.")
			c.indexName(u.Update.IndexName, at)
			if p := u.Update.ProvisionedThroughput; p != nil {
				c.throughput(p, at)
			}
		}
		if u.Create != nil {
			s := specOf(u.Create)
			c.index(&s, member("globalSecondaryIndexUpdates", i, "create."))
		}
		if u.Delete != nil {
			c.indexName(u.Delete.IndexName, member("globalSecondaryIndexUpdates", i, "delete."))
		}
	}
}

// unsupportedOfUpdate refuses parameters that the fake does not have.
func unsupportedOfUpdate(in *dynamodb.UpdateTableInput) error {
	type parameter struct {
		name  string
		given bool
	}
	parameters := []parameter{
		{"VectorIndexUpdates", in.VectorIndexUpdates != nil},
		{"GlobalTableSettingsReplicationMode", in.GlobalTableSettingsReplicationMode != ""},
		{"DisassociationProtectionEnabled", in.DisassociationProtectionEnabled != nil},
	}
	for _, p := range parameters {
		if p.given {
			return &UnsupportedError{Operation: "UpdateTable", Parameter: p.name}
		}
	}
	return nil
}

// nothingToUpdate is the answer to a request without a change. The service's text lists members that its documentation
// does not have.
const nothingToUpdate = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
	"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, " +
	"ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput " +
	"or TableClass is required"

// checkCombination checks which changes may come together.
func checkCombination(in *dynamodb.UpdateTableInput) error {
	units := in.ProvisionedThroughput != nil || in.BillingMode != ""
	indexes := len(in.GlobalSecondaryIndexUpdates) > 0
	class, protection := in.TableClass != "", in.DeletionProtectionEnabled != nil
	streams, encryption := in.StreamSpecification != nil, changesEncryption(in.SSESpecification)
	ceiling, warmth := limitsThroughput(in.OnDemandThroughput), warms(in.WarmThroughput)
	replicas := len(in.ReplicaUpdates) > 0 // clients without replicas may send an empty list
	changes := 0
	for _, given := range []bool{units, indexes, class, protection, streams, encryption, ceiling, warmth, replicas} {
		if given {
			changes++
		}
	}
	switch {
	case changes == 0:
		return invalid(nothingToUpdate)
	// We do not know what the service does with these members, and to ignore them would be wrong.
	case !replicas && in.MultiRegionConsistency != "":
		return &UnsupportedError{Operation: "UpdateTable", Parameter: "MultiRegionConsistency"}
	case !replicas && len(in.GlobalTableWitnessUpdates) > 0:
		return &UnsupportedError{Operation: "UpdateTable", Parameter: "GlobalTableWitnessUpdates"}
	case replicas && changes > 1 && asksForStrong(in):
		return invalid("Requests that modify replicas or witnesses must not also modify other fields")
	case replicas && changes > 1:
		return badParameter("Replica modification must be the only operation in the request")
	case encryption && changes > 1:
		return badParameter("Server-Side Encryption modification must be the only operation in the request")
	case class && changes > 1:
		return badParameter("TableClass modification must be the only operation in the request")
	case protection && changes > 1:
		return badParameter("DeletionProtection modification must be the only operation in the request")
	case ceiling && (streams || indexes || warmth || in.ProvisionedThroughput != nil && in.BillingMode == ""):
		return badParameter("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
	case warmth && changes > 1:
		return badParameter("WarmThroughput must be the only operation in the request")
	}
	if err := checkEncryption(in.SSESpecification); err != nil {
		return err
	}
	if streams {
		if err := checkStreamUpdate(in); err != nil {
			return err
		}
	}
	p := in.ProvisionedThroughput
	switch {
	case p == nil:
		return nil
	case in.BillingMode == types.BillingModePayPerRequest:
		return badParameter(
			"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
		)
	case *p.ReadCapacityUnits > maxUnits:
		return invalid("Given value %d for ReadCapacityUnits is out of bounds", *p.ReadCapacityUnits)
	case *p.WriteCapacityUnits > maxUnits:
		return invalid("Given value %d for WriteCapacityUnits is out of bounds", *p.WriteCapacityUnits)
	}
	return nil
}

// checkIndexUpdates checks the form of the changes of indexes.
func checkIndexUpdates(in *dynamodb.UpdateTableInput) error {
	names := map[string]bool{}
	for i := range in.GlobalSecondaryIndexUpdates {
		u := &in.GlobalSecondaryIndexUpdates[i]
		switch n := given(u.Update) + given(u.Create) + given(u.Delete); {
		case n == 0:
			return badParameter("One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, " +
				"GlobalSecondaryIndexUpdate.Delete must not be null")
		case n > 1:
			return badParameter(
				"Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
			)
		}
		name := indexOfUpdate(u)
		if names[name] {
			return badParameter("Only one global secondary index update per index is allowed simultaneously. Index: %s",
				name)
		}
		names[name] = true
		if in.ProvisionedThroughput != nil && u.Update == nil {
			return badParameter("You cannot create or delete index while updating table IOPS")
		}
	}
	return nil
}

func indexOfUpdate(u *types.GlobalSecondaryIndexUpdate) string {
	switch {
	case u.Update != nil:
		return *u.Update.IndexName
	case u.Create != nil:
		return *u.Create.IndexName
	}
	return *u.Delete.IndexName
}
