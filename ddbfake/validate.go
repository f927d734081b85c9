package ddbfake

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// constraints collects the parameter constraints that a request breaks. The service checks constraints before anything
// else, and lists all that are broken, but at most ten.
type constraints struct {
	broken []string
	alone  string // if not empty, the only one to report
}

func (c *constraints) add(value, member, rule string) {
	c.broken = append(c.broken, "Value "+value+" at '"+member+"' failed to satisfy constraint: "+rule)
}

// null reports a missing required member.
func (c *constraints) null(member string) { c.add("null", member, "Member must not be null") }

// length reports that a member's length is out of bounds: it must be "greater" or "less" than or equal to the limit.
func (c *constraints) length(value, member, relation string, limit int) {
	c.add("'"+value+"'", member, "Member must have length "+relation+" than or equal to "+strconv.Itoa(limit))
}

// requiredText checks that a member is present, and its length.
func (c *constraints) requiredText(value *string, member string, least, most int) {
	if value == nil {
		c.null(member)
	}
	c.optionalText(value, member, least, most)
}

// optionalText checks the length of a member, if it is given.
func (c *constraints) optionalText(value *string, member string, least, most int) {
	switch {
	case value == nil:
	case len(*value) < least:
		c.length(*value, member, "greater", least)
	case len(*value) > most:
		c.length(*value, member, "less", most)
	}
}

// limit checks a Limit and returns it, or the maximum if it is absent.
func (c *constraints) limit(limit *int32, most int) int {
	if limit == nil {
		return most
	}
	c.between(limit, "limit", 1, most)
	return int(*limit)
}

// pattern reports that a member does not match its pattern.
func (c *constraints) pattern(value, member, pattern string) {
	c.add("'"+value+"'", member, "Member must satisfy regular expression pattern: "+pattern)
}

// enum checks that a member, if given, has one of the values.
func (c *constraints) enum(value, member string, set []string) {
	if value == "" || slices.Contains(set, value) {
		return
	}
	c.add("'"+value+"'", member, "Member must satisfy enum value set: ["+strings.Join(set, ", ")+"]")
}

// err returns a ValidationException with all broken constraints; nil if there are none.
func (c *constraints) err() error {
	n := len(c.broken)
	switch {
	case c.alone != "":
		return invalid("%s", envelope+c.alone)
	case n == 0:
		return nil
	}
	plural := ""
	if n > 1 {
		plural = "s"
	}
	const listed = 10
	return invalid("%d validation error%s detected: %s", min(n, listed), plural,
		strings.Join(c.broken[:min(n, listed)], "; "))
}

// The enumerations that more than one operation checks, in the order in which the service prints them.
var (
	returnConsumedCapacityValues      = []string{"INDEXES", "TOTAL", "NONE"}
	returnItemCollectionMetricsValues = []string{"SIZE", "NONE"}
	returnValuesValues                = []string{"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"}
	returnValuesOnFailureValues       = []string{"ALL_OLD", "NONE"}
)

func (c *constraints) returnConsumedCapacity(v types.ReturnConsumedCapacity) {
	c.enum(string(v), "returnConsumedCapacity", returnConsumedCapacityValues)
}

func (c *constraints) returnItemCollectionMetrics(v types.ReturnItemCollectionMetrics) {
	c.enum(string(v), "returnItemCollectionMetrics", returnItemCollectionMetricsValues)
}

// returnValues checks the ReturnValues of an operation that writes one item. A whole request, which has its item or
// key, gets the service's newer text, which includes UPDATE_NEW.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/registry/splits.json (31 of 33 regions)
func (c *constraints) returnValues(v types.ReturnValue, whole bool) {
	if whole && !knownReturnValues(v) {
		c.broken = append(c.broken, badReturnValues)
		return
	}
	c.enum(string(v), "returnValues", returnValuesValues)
}

func knownReturnValues(v types.ReturnValue) bool {
	return v == "" || slices.Contains(returnValuesValues, string(v))
}

const badReturnValues = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, " +
	"ALL_NEW, UPDATE_NEW, NONE]"

// written is table for an operation that writes one item. If the request is whole (see returnValues), an empty name is
// reported alone.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/registry/splits.json (31 of 33 regions)
func (c *constraints) written(name *string, whole bool) string {
	if whole && name != nil && *name == "" {
		c.alone =
			"Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
	}
	return c.table(name)
}

// returnValuesOnFailure checks ReturnValuesOnConditionCheckFailure. DynamoDB Local 3.3.1 accepts any value; the service
// does not.
func (c *constraints) returnValuesOnFailure(v types.ReturnValuesOnConditionCheckFailure, parent string) {
	c.enum(string(v), parent+"returnValuesOnConditionCheckFailure", returnValuesOnFailureValues)
}

// Limits on the TableName member, which may be an ARN in every operation but CreateTable.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetItem.html#DDB-GetItem-request-TableName
const (
	minTableName = 3
	maxTableName = 255
	maxTableARN  = 1024
)

// table checks the TableName member of a data operation, together with the other members, and returns the table's name
// or ARN. The service reports mistakes in the order of the members.
//
// Source: https://github.com/architect/dynalite/blob/main/test/putItem.js
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/validation-ordering/updateItem.test.ts
func (c *constraints) table(name *string) string {
	if name != nil && plainTableName(*name) {
		return *name
	}
	c.tableName(name, "tableName")
	if name == nil {
		return ""
	}
	return *name
}

// tableName checks the TableName of an operation with no other member to check, and returns the table's name or ARN.
func tableName(name *string) (string, error) {
	if name != nil && plainTableName(*name) {
		return *name, nil
	}
	var c constraints
	c.tableName(name, "tableName")
	if err := c.err(); err != nil {
		return "", err
	}
	return *name, nil
}

// plainTableName is a quick check that nearly every call passes.
func plainTableName(name string) bool {
	if len(name) < minTableName || len(name) > maxTableName {
		return false
	}
	return nameCharacters(name)
}

// nameCharacters matches the pattern of names.
func nameCharacters(name string) bool {
	for i := range len(name) {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
			c == '.' || c == '-') {
			return false
		}
	}
	return true
}

const tableNamePattern = "[a-zA-Z0-9_.-]+"

// tableName adds the constraints that a table's name or ARN breaks.
func (c *constraints) tableName(name *string, member string) {
	switch {
	case name == nil:
		c.null(member)
	case *name == "":
		c.length("", member, "greater", 1)
	case strings.HasPrefix(*name, "arn:"):
		if len(*name) > maxTableARN {
			c.length(*name, member, "less", maxTableARN)
		} else if !plainTableName(nameInARN(*name)) {
			c.pattern(*name, member, tableNamePattern)
		}
	default:
		c.plainName(*name, member)
	}
}

// plainName adds the constraints that a name breaks in a member that accepts no ARN.
func (c *constraints) plainName(name, member string) {
	if plainTableName(name) {
		return
	}
	if !nameCharacters(name) {
		c.pattern(name, member, tableNamePattern)
	}
	if len(name) < minTableName {
		c.length(name, member, "greater", minTableName)
	}
	if len(name) > maxTableName {
		c.length(name, member, "less", maxTableName)
	}
}

// checkValues refuses a map of attribute values if DynamoDB refuses one of them. If several are bad, it reports the
// first by name.
func checkValues(values map[string]types.AttributeValue) error {
	var failed string
	var failure error
	//isrsim:unordered the failure reported is that of the first name
	for name, v := range values {
		if s, ok := v.(*types.AttributeValueMemberS); ok && s != nil {
			continue
		}
		if _, err := attr.FromSDK(v); err != nil && (failure == nil || name < failed) {
			failed, failure = name, err
		}
	}
	if failure != nil {
		return refused(failure)
	}
	return nil
}

// itemOfSDK converts a whole item.
func itemOfSDK(values map[string]types.AttributeValue) (attr.Item, error) {
	item, err := attr.ItemFromSDK(values)
	if err != nil {
		return nil, refused(err)
	}
	return item, nil
}

// member returns the name of a list's element, as in texts about constraints.
func member(list string, i int, rest string) string {
	return list + "." + strconv.Itoa(i+1) + ".member." + rest
}
