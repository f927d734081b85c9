package ddbfake

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// encryption is the ARN of the key that encrypts a table at rest; "" stands for the key that AWS owns, which is never
// described. Nothing is encrypted.
//
// Deviation: there is no KMS. Every key that is named exists and may be used, each alias stands for a key of its own,
// and a table may change its key as often as it likes.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.howitworks.html
type encryption string

// encrypts reports whether a specification asks for a key of KMS. A specification without any member asks for nothing.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-044.md
func encrypts(s *types.SSESpecification) bool {
	return s != nil && (aws.ToBool(s.Enabled) || s.Enabled == nil && s.SSEType != "")
}

// changesEncryption reports whether a specification has a member.
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

// checkChange refuses a change that asks for the present encryption.
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
