package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// checkStreamUpdate checks the StreamSpecification of an UpdateTable, and the parameters that come with it.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-442.md
// (the texts)
// Source:
// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-streams-encryption-class.md
// (DDB-TABLE-382)
func checkStreamUpdate(in *dynamodb.UpdateTableInput) error {
	enable, view := *in.StreamSpecification.StreamEnabled, in.StreamSpecification.StreamViewType != ""
	switch {
	case enable && !view:
		return badParameter("If stream is being enabled then UpdateViewType is required")
	case !enable && view:
		return badParameter("If stream is being disabled, then UpdateViewType must not be specified")
	case in.ProvisionedThroughput != nil || in.BillingMode == types.BillingModeProvisioned:
		return badParameter("You cannot modify stream status while updating table IOPS")
	}
	for i := range in.GlobalSecondaryIndexUpdates {
		if in.GlobalSecondaryIndexUpdates[i].Update == nil {
			return badParameter("You cannot create or delete index while changing stream status")
		}
	}
	return nil
}

// checkStream checks the change of the stream against the table. A change to the present settings is refused, too.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateTable.html#DDB-UpdateTable-request-StreamSpecification
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/details/DDB-TABLE-050.md
// (the texts)
func (u *tableUpdate) checkStream() error {
	if u.in.StreamSpecification == nil {
		return nil
	}
	enable, enabled := *u.in.StreamSpecification.StreamEnabled, u.table.stream != nil && u.table.stream.enabled()
	switch {
	case !enable && u.table.members != nil && !u.table.strong:
		// Source:
		// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md#ddb-table-222
		return badParameter("Disabling Stream is not allowed for a Global Table replica.")
	case enable && enabled:
		return invalid("Table already has an enabled stream: TableName: %s", u.table.name)
	case !enable && !enabled:
		return invalid("Table has no stream to disable: TableName: %s", u.table.name)
	}
	return nil
}

// updateStream does the change of the stream.
func (db *DB) updateStream(u *tableUpdate) {
	switch s := u.in.StreamSpecification; {
	case s == nil:
	case *s.StreamEnabled:
		db.enableStream(u.table, s.StreamViewType, u.now)
	default:
		db.disableStream(u.table, u.now)
	}
}
