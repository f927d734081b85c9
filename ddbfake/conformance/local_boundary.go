package conformance

// localBoundaries is what DynamoDB Local 3.3.1 answers instead of DynamoDB
// about limits of expressions and of names, and about some orders of errors.
var localBoundaries = map[place]deviation{
	{"boundary/255 bytes of a key's name", 2}:              {"ValidationException: Names of key attributes and attributes projected into an index must be between 1 and 255 characters, inclusive", ownWords},
	{"boundary/2 KB of a partition key in a condition", 2}: {"0 of 0", lenient},
	{"boundary/100 reads", 2}:                              {"ValidationException: Member must have length less than or equal to 100", ownWords},
	{"boundary/255 bytes of a value's placeholder", 2}:     {"ValidationException: ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;", noSize},
	{"boundary/4 KB of a projection", 2}:                   {"ValidationException: Invalid ProjectionExpression: Expression size has exceeded the maximum allowed size;", noSize},
	{"boundary/4 KB of an update", 2}:                      {"ValidationException: Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;", noSize},
	{"precedence/query", 1}:                                {`ValidationException: Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "= "`, "Local checks expressions first"},
	{"precedence/query", 2}:                                {localNoTable, tableFirst},
	{"precedence/query", 3}:                                {localNoTable, ownWords},
	{"precedence/query", 4}:                                {"ValidationException: Query condition missed key schema element", startLast},
	{"precedence/query", 5}:                                {"ValidationException: Query condition missed key schema element", ownWords},
	{"precedence/query", 6}:                                {"ValidationException: Exclusive Start Key must have same size as table's key schema", ownWords},
	{"precedence/transaction of reads", 1}:                 {`ValidationException: Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`, lenient},
	{"precedence/transaction of reads", 2}:                 {localNoTable, tableFirst},
	{"precedence/transaction of reads", 3}:                 {"TransactionCanceledException: The number of conditions on the keys is invalid", "Local looks at one read after the other"},
	{"precedence/transaction of reads", 4}:                 {"TransactionCanceledException: The number of conditions on the keys is invalid", ownWords},
	{"precedence/batch of writes", 1}:                      {localNotNumber, lenient},
	{"precedence/batch of writes", 2}:                      {localNotNumber, ownWords},
	{"precedence/batch of writes", 3}:                      {localNoTable, ownWords},
	{"precedence/batch of writes", 5}:                      {localKeyMissing, ownWords},
}

const noSize = "Local does not say how long it is here"
