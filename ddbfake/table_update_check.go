package ddbfake

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
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

// unsupportedOfUpdate refuses unsupported parameters.
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

// nothingToUpdate is the error for a request without a change. The service's text lists members that are not
// documented.
const nothingToUpdate = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, " +
	"GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, " +
	"ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput " +
	"or TableClass is required"

// checkCombination checks which changes may occur in one request.
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
	// It is unknown what the service does with these members, and to ignore them would be wrong.
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

// encryption is the ARN of the key that encrypts a table at rest; "" stands for the key that AWS owns, which is never
// described. Nothing is really encrypted.
//
// Deviation: there is no KMS. Every named key exists and may be used, each alias stands for another key, and a table
// may change its key any number of times.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.howitworks.html
type encryption string

// encrypts reports whether a specification asks for a KMS key. An empty specification asks for nothing.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-044.md
func encrypts(s *types.SSESpecification) bool {
	return s != nil && (aws.ToBool(s.Enabled) || s.Enabled == nil && s.SSEType != "")
}

// changesEncryption reports whether a specification sets anything.
func changesEncryption(s *types.SSESpecification) bool {
	return s != nil && (s.Enabled != nil || s.SSEType != "" || s.KMSMasterKeyId != nil)
}

// encryptionType checks the parameter SSEType.
func (c *constraints) encryptionType(s *types.SSESpecification) {
	if s != nil {
		c.enum(string(s.SSEType), "sSESpecification.sSEType", []string{"AES256", "KMS"})
	}
}

// checkEncryption checks the combination of members.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SSESpecification.html
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-streams-encryption-class.md
// (DDB-TABLE-031, DDB-TABLE-036: the texts)
func checkEncryption(s *types.SSESpecification) error {
	if s == nil {
		return nil
	}
	disabled := s.Enabled != nil && !*s.Enabled
	switch {
	case disabled && s.SSEType != "":
		return badParameter("SSEType can not be specified if Enabled is false")
	case disabled && s.KMSMasterKeyId != nil:
		return badParameter("KMSMasterKeyId can not be specified if Enabled is false")
	case s.SSEType == types.SSETypeAes256:
		return badParameter("SSEType AES256 is not supported")
	case s.KMSMasterKeyId != nil && s.SSEType != types.SSETypeKms:
		return badParameter("SSEType KMS is required if KMSMasterKeyId is specified")
	}
	return nil
}

// newEncryption returns the encryption that a specification asks for in a region.
func newEncryption(s *types.SSESpecification, region string) encryption {
	if !encrypts(s) {
		return ""
	}
	const managed = "alias/aws/dynamodb"
	key := aws.ToString(s.KMSMasterKeyId)
	if strings.HasPrefix(key, "arn:") && strings.Contains(key, ":key/") {
		return encryption(key)
	}
	if _, alias, ok := strings.Cut(key, ":alias/"); ok {
		key = "alias/" + alias
	}
	if key == "" {
		key = managed
	}
	if strings.HasPrefix(key, "alias/") {
		id := fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
		key = id[:8] + "-" + id[8:12] + "-4" + id[13:16] + "-8" + id[17:20] + "-" + id[20:32]
	}
	return encryption("arn:aws:kms:" + region + ":" + account + ":key/" + key)
}

// checkChange refuses a change to the present encryption.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-streams-encryption-class.md
// (DDB-TABLE-078)
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-throughput-billing.md
// (DDB-TABLE-047)
func (e encryption) checkChange(s *types.SSESpecification) error {
	switch {
	case !changesEncryption(s):
		return nil
	case !encrypts(s) && e == "":
		return badParameter("Table is already encrypted by default")
	case encrypts(s) && e != "" && aws.ToString(s.KMSMasterKeyId) == string(e):
		return badParameter("Table is already encrypted with given KMSMasterKeyId. " +
			"Use KMSMasterKeyId parameter if you want to change Master Key")
	}
	return nil
}

// describe returns the description of an encryption; nil for the key that AWS owns.
//
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-streams-encryption-class.md
// (DDB-TABLE-027)
func (e encryption) describe() *types.SSEDescription {
	if e == "" {
		return nil
	}
	return &types.SSEDescription{
		Status: types.SSEStatusEnabled, SSEType: types.SSETypeKms, KMSMasterKeyArn: aws.String(string(e)),
	}
}

// changing describes a table whose encryption is being changed from e.
func (e encryption) changing() *types.SSEDescription {
	d := e.describe()
	if d == nil {
		d = new(types.SSEDescription)
	}
	d.Status = types.SSEStatusUpdating
	return d
}
