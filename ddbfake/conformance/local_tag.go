package conformance

import "strings"

const (
	localUnknown   = "UnknownOperationException: An unknown operation was requested."
	localNoTagging = "UnknownOperationException: Tagging is not currently supported in DynamoDB Local."

	notThere = "Local does not have the operation"
)

// localTag is what DynamoDB Local 3.3.1 answers to the operations on tags: it
// has none of them. It creates tables with any tags.
func localTag() map[place]deviation {
	all := map[place]deviation{
		{"tag/create with bad tags", 1}: {"table rows (id S HASH) PAY_PER_REQUEST 0/0", lenient},
		{"tag/create with bad tags", 2}: {"ResourceInUseException: Cannot create preexisting table", "Local did not refuse the table before"},
		{"tag/create with bad tags", 3}: {"table rows (id S HASH) PAY_PER_REQUEST 0/0", "Local did not refuse the table before"},
		{"tag/create with bad tags", 4}: {"ResourceInUseException: Cannot create preexisting table", "Local did not refuse the table before"},
	}
	for _, c := range tagCases() {
		for i := range c.steps {
			if !strings.HasPrefix(c.Name, "create ") {
				all[place{"tag/" + c.Name, i + 1}] = deviation{localNoTagging, notThere}
			}
		}
	}
	return all
}

// localAccount is what DynamoDB Local 3.3.1 answers instead of DynamoDB where
// no table is concerned.
var localAccount = map[place]deviation{
	{"account/endpoints", 1}:              {localUnknown, notThere},
	{"account/backups", 1}:                {localUnknown, notThere},
	{"account/backups of no table", 1}:    {localUnknown, notThere},
	{"account/backups without a name", 1}: {localUnknown, notThere},
}
