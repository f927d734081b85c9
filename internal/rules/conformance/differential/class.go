package differential

import (
	"regexp"
	"sync"
)

// class is a class of errors.
type class struct {
	name    string
	pattern *regexp.Regexp
}

// classes are the errors of operations on data, by mistake. A run must meet each of them, and no others.
var classes = sync.OnceValue(func() []class {
	inExpression := `(?:Invalid \w+Expression: )?` // statements do not say it
	list := []class{}
	for _, c := range [][2]string{
		{"condition failed", `ConditionalCheckFailedException: .*`},
		{"transaction cancelled: condition", `TransactionCanceledException: .*ConditionalCheckFailed.*`},
		{"transaction cancelled: not valid", `TransactionCanceledException: .*ValidationError.*`},
		{"transaction cancelled: item that is there", `TransactionCanceledException: .*DuplicateItem.*`},
		{"transaction cancelled: no such table", `TransactionCanceledException: .*ResourceNotFound.*`},
		{"item that is there", `DuplicateItemException: .*`},
		{"token of another transaction", `IdempotentParameterMismatchException: .*`},
		{"no such table", `ResourceNotFoundException: .*`},
		{"JSON of another type", `SerializationException: .*`},

		{"constraint: name",
			v + `\d+ validation errors? detected: .*(regular expression pattern|Map keys must satisfy).*`},
		{"constraint: null", v + `\d+ validation errors? detected: Value null at .*`},
		{"constraint: enumeration", v + `\d+ validation errors? detected: .*enum value set.*`},
		{"constraint: length",
			v + `\d+ validation errors? detected: .*(Member must have length|Map value must satisfy).*`},
		{"constraint: value", v + `\d+ validation errors? detected: .*Member must have value.*`},

		{"key that does not match", v + `The provided key element does not match the schema`},
		{"item without its key", v + `.*Missing the key .*`},
		{"item with a key of another type", v + `.*Type mismatch for key .*`},
		{"index key of another type", v + `.*Type mismatch for Index Key .*`},
		{"empty key", v + `One or more parameter values (are not valid|were invalid).*cannot contain an empty .*`},
		{"long key", v + `.*(Size of hashkey has exceeded .*|secondary index key beyond allowed size limits)`},
		{"update of a key", v + `.*Cannot update attribute .*`},
		{"path into a key", v + `Key attributes must be scalars; .*`},

		{"text that is no number", v + `.*The parameter cannot be converted to a numeric value.*`},
		{"too many digits", v + `.*Attempting to store more than 38 significant digits.*`},
		{"number too large", v + `.*Number overflow.*`},
		{"number too small", v + `.*Number underflow.*`},
		{"empty set", v + `.*(set  may not be empty|sets should not be empty).*`},
		{"duplicate in a set", v + `.*Input collection .*contains duplicates.*`},
		{"value of two types", v + `.*more than one datatypes set.*`},
		{"value of no type", v + `.*Supplied AttributeValue is empty.*`},
		{"null that is false", v + `.*Null attribute value types must have the value of true.*`},
		{"large item", v + `Item size .*has exceeded the maximum allowed size`},
		{"deep item", v + `.*Nesting Levels have exceeded supported limits.*`},

		{"empty expression", v + inExpression + `The expression can not be empty;`},
		{"long expression", v + inExpression + `Expression size has exceeded .*`},
		{"many operators", v + inExpression + `The expression contains too many operators; .*`},
		{"syntax", v + inExpression + `Syntax error; .*`},
		{"redundant parentheses", v + inExpression + `The expression has redundant parentheses;`},
		{"reserved word", v + inExpression + `Attribute name is a reserved keyword; .*`},
		{"undefined name", v + inExpression + `An expression attribute name used .* is not defined; .*`},
		{"undefined value", v + inExpression + `An expression attribute value used .* is not defined; .*`},
		{"unused name", v + `Value provided in ExpressionAttributeNames unused in expressions: .*`},
		{"unused value", v + `Value provided in ExpressionAttributeValues unused in expressions: .*`},
		{"name of a name", v + `ExpressionAttribute(Names|Values) contains invalid key: .*`},
		{"no names", v + `ExpressionAttributeNames must not be empty`},
		{"no values", v + `ExpressionAttributeValues must not be empty`},
		{"names without an expression",
			v + `ExpressionAttribute(Names|Values) can only be specified when using expressions.*`},
		{"unknown function", v + inExpression + `Invalid function name; .*`},
		{"function out of place", v + inExpression + `The function is not allowed .*`},
		{"number of operands", v + inExpression + `Incorrect number of operands .*`},
		{"type of an operand", v + inExpression + `Incorrect operand type .*`},
		{"value as a path", v + inExpression + `Operator or function requires a document path; .*`},
		{"type that is none", v + inExpression + `Invalid attribute type name found; .*`},
		{"one operand twice", v + inExpression + `The first operand must be distinct .*`},
		{"bounds of two types", v + inExpression + `The BETWEEN operator requires same data type .*`},
		{"bounds upside down", v + inExpression + `The BETWEEN operator requires upper bound .*`},
		{"deep path", v + inExpression + `The document path has too many nesting levels; .*`},
		{"one section twice", v + inExpression + `The "\w+" section can only be used once .*`},
		{"paths that overlap", v + inExpression + `Two document paths overlap .*`},
		{"paths that conflict", v + inExpression + `Two document paths conflict .*`},

		{"operand that is not there",
			v + `The provided expression refers to an attribute that does not exist in the item`},
		{"path that leads nowhere", v + `The document path provided in the update expression is invalid for update`},
		{"operand of another type", v +
			`(An operand in the update expression has an incorrect data type|Type mismatch for attribute to update)`},

		{"key condition: attribute",
			v + `(Query condition missed key schema element.*|Conditions can be of length 1 or 2 only)`},
		{"key condition: value",
			v + `(.*Condition parameter type does not match schema type|(Invalid KeyConditionExpression: )?KeyConditionExpressions .*)`},
		{"filter by a key", v + `Filter Expression can only contain non-primary key attributes: .*`},
		{"no such index", v + `The table does not have the specified index: .*`},
		{"consistent read of a global index", v + `Consistent reads are not supported on global secondary indexes`},
		{"not in the index", v + `.*does not project .*`},
		{"selection of an index", v + `.*Select type ALL_ATTRIBUTES is not supported .*`},
		{"selection",
			v + `(Cannot specify the (ProjectionExpression|AttributesToGet) .*|Must specify the AttributesToGet .*|ALL_PROJECTED_ATTRIBUTES can be used only .*)`},
		{"starting key", v + `The provided starting key .*`},
		{"segments", v + `The (Segment|TotalSegments) parameter is .*`},
		{"return values", v + `ReturnValues can only be ALL_OLD or NONE`},

		{"statement: syntax", v + `Statement wasn't well formed, can't be processed: .*`},
		{"statement: clause",
			v + `(Aliasing is not supported|Unsupported (clause|operation|operator).*|RETURNING is not supported in INSERT)`},
		{"statement: RETURNING",
			v + `(Invalid returning clause: .*|RETURNING clause is not supported in ExecuteTransaction\.)`},
		{"statement: source",
			v + `(FROM clause may only contain .*|A path may contain at most .*|Path component cannot be .*|This operation is not supported on an index)`},
		{"statement: index",
			v + `(The table does not have the specified index|PartiQL statements cannot be executed on .*|Reads on indices are not supported within transactions\.)`},
		{"statement: consistent read of a global index",
			v + `Strongly consistent read is not supported on Global Secondary Indexes`},
		{"statement: path", v + `(Unexpected path component at .*|Duplicate identifiers in select clause: .*)`},
		{"statement: function",
			v + `(Unrecognized function: .*|(The (first|second) argument to )?SET_(ADD|DELETE) must .*)`},
		{"statement: literal",
			v + `(Unsupported data type.*|Empty bags are not supported|Duplicate keys in tuple\. .*)`},
		{"statement: parameters", v + `Number of parameters in request and statement don't match\.`},
		{"statement: key of another type", v + `Key attribute's data type should match .*`},
		{"statement: no whole key",
			v + `(Where clause does not contain a mandatory equality .*|Multiple conditions on same key .*)`},
		{"statement: more than a key", v + `Select statements within \w+ must specify .*`},
		{"statement: branches",
			v + `(Overlapping conditions with range keys .*|Too many decomposed read operations .*)`},
		{"statement: order",
			v + `(Must have .* ORDER BY clause.*|Attribute \S+ in ORDER BY clause must be part of the primary key)`},
		{"statement: token", v + `(Invalid NextToken|NextToken does not match request)`},
		{"statement: values of IN", v + `The IN operator is provided with too many operands; .*`},
		{"statement: EXISTS", v + `EXISTS.*`},
		{"statements: reads and writes",
			v + `(ExecuteTransaction API does not support both read and write .*|Read and write requests together .*)`},

		{"legacy: and expressions", v + `Can not use both expression and non-expression parameters .*`},
		{"legacy: number of values", v + `.*Invalid number of argument\(s\) .*`},
		{"legacy: type of a value",
			v + `.*(ComparisonOperator \w+ is not valid for .*|AttributeValues inside AttributeValueList must be of same type|The BETWEEN condition was provided a range .*)`},
		{"legacy: operator", v + `ConditionalOperator can.*`},
		{"legacy: attribute", v + `(.*Duplicate value in attribute name: .*|Empty attribute name)`},
		{"legacy: expectation",
			v + `.*(Value must be provided when Exists .*|Value cannot be used when Exists .*|Exists and ComparisonOperator .*|AttributeValueList can only be used .*|Value or AttributeValueList must .*|Value and AttributeValueList cannot .*)`},
		{"legacy: action",
			v + `.*(Only DELETE action is allowed .*|(DELETE action with value|ADD action) is not supported .*)`},
		{"legacy: filter by a key", v + `QueryFilter can only contain non-primary key attributes: .*`},

		{"table: it is there", `ResourceInUseException: .*`},
		{"table: name", v + `The parameter 'TableName' is required .*`},
		{"table: keys", v +
			`(.*Invalid KeySchema.*|Both the Hash Key and the Range Key element .*|Attribute Name is duplicated: .*)`},
		{"table: definitions",
			v + `.*(Some AttributeDefinitions are not used|Number of attributes in KeySchema|Some index key attributes are not defined|AttributeDefinitions is not specified|Attributes cannot be redefined).*`},
		{"table: projection", v + `.*ProjectionType.*`},
		{"table: units", v + `.*(ReadCapacityUnits|ProvisionedThroughput must be specified).*`},
		{"table: nothing to change",
			v + `(At least one of ProvisionedThroughput, .*|.*One of GlobalSecondaryIndexUpdate.*)`},
		{"table: index that is there", v + `Attempting to create an index which already exists`},
		{"table: stream", v + `(.*UpdateViewType .*|Table (already has an enabled|has no) stream.*)`},
		{"table: two changes", v + `.*You cannot (create or delete index|modify stream status) while .*`},
		{"TTL: setting", v + `TimeToLive.*`},
		{"stream: ARN", v + `Invalid StreamArn`},
		{"stream: number", v + `.*SequenceNumber.*`},
		{"stream: iterator", v + `Invalid ShardIterator`},
		{"long sort key", v + `.*Aggregated size of all range keys .*`},
		{"long name", v + `Attribute name is too large, .*`},

		{"one item twice in a transaction", v + `Transaction request cannot include multiple operations on one item`},
		{"action of two", v + `TransactItems can only contain one of .*`},
		{"action of nothing",
			v + `(Invalid Request: TransactWriteRequest should contain .*|Supplied AttributeValue .*)`},
		{"one key twice in a batch", v + `Provided list of item keys contains duplicates`},
		{"too many in a batch", v + `Too many items requested .*`},
		// The last: several texts begin so.
		{"key condition: operator",
			v + `(Invalid operator used in KeyConditionExpression: .*|Invalid condition in KeyConditionExpression: .*|` + inExpression + `Invalid .*|Query key condition not supported|Attempted conditional constraint is not an indexable operation)`},
	} {
		list = append(list, class{c[0], whole(c[1])})
	}
	return list
})

// whichStatement is how a text names the statement of a transaction.
var whichStatement = regexp.MustCompile(`Validation failed in TransactStatements\[\d+\]: `)

// classOf returns the class of an error, "" if there is none.
func classOf(outcome string) string {
	outcome = whichStatement.ReplaceAllString(outcome, "")
	for _, text := range []string{outcome, withoutEnvelope(outcome)} {
		for _, c := range classes() {
			if c.pattern.MatchString(text) {
				return c.name
			}
		}
	}
	return ""
}
