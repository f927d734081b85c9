package conformance

// Frequent answers of DynamoDB Local to legacy parameters, with their reasons.
const (
	localTwice     = "ValidationException: Cannot have two attributes with the same name"
	localOperator  = "ValidationException: Comparison type does not exist in DynamoDB"
	localArguments = "ValidationException: One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator"
	localMissed    = "ValidationException: Query condition missed key schema element"
	localNoAdd     = "ValidationException: One or more parameter values were invalid: ADD action is not supported for the type "
	localNoDelete  = "ValidationException: One or more parameter values were invalid: DELETE action with value is not supported for the type "

	legacyFirst = "Local judges the conditions, or AttributesToGet, before anything else about the parameters"
	startLast   = "Local checks the starting key of a query last"
	asTexts     = "Local compares the elements of a set as texts here"
)

// localLegacy are the answers of DynamoDB Local 3.3.1 to legacy parameters that differ from DynamoDB's.
var localLegacy = map[place]deviation{
	{"legacy_condition/no such operator", 1}: {localInternal, fails},
	{"legacy_condition/no such operator", 2}: {localInternal, fails},
	{"legacy_condition/no such operator", 3}: {localInternal, fails},

	{"legacy_expected/bad number", 1}:                 {localNotNumber, ownWords},
	{"legacy_expected/bad number", 2}:                 {localNotNumber, ownWords},
	{"legacy_expected/bad number", 3}:                 {localNotNumber, ownWords},
	{"legacy_expected/bad number for an operator", 1}: {localNotNumber, ownWords},
	{"legacy_expected/bad number for an operator", 2}: {localNotNumber, ownWords},
	{"legacy_expected/bad number for an operator", 3}: {localNotNumber, ownWords},
	{"legacy_expected/no such operator", 1}:           {localOperator, ownWords},
	{"legacy_expected/no such operator", 2}:           {localOperator, ownWords},
	{"legacy_expected/no such operator", 3}:           {localOperator, ownWords},

	{"legacy_precedence/attributes before the filter in a scan", 1}: {localArguments, legacyFirst},
	{"legacy_precedence/constraints first", 1}:                      {localBadName, ownWords},
	{"legacy_precedence/constraints first", 2}:                      {localBadName, ownWords},
	{"legacy_precedence/constraints first", 3}:                      {localOperator, oneConstraint},
	{"legacy_precedence/constraints first", 4}:                      {"ValidationException: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {ScanFilter} Expression parameters: {ProjectionExpression}", legacyFirst},
	{"legacy_precedence/filter before attributes in a query", 1}:    {localArguments, legacyFirst},
	{"legacy_precedence/filter before attributes in a query", 2}:    {localArguments, legacyFirst},
	{"legacy_precedence/filter before attributes in a query", 3}:    {localArguments, legacyFirst},
	{"legacy_precedence/legacy parameters before the table", 1}:     {localNoTable, tableFirst},
	{"legacy_precedence/legacy parameters before the table", 2}:     {localNoTable, tableFirst},
	{"legacy_precedence/legacy parameters before the table", 3}:     {localNoTable, tableFirst},
	{"legacy_precedence/legacy parameters before the table", 4}:     {localTwice, ownWords},
	{"legacy_precedence/legacy parameters before the table", 5}:     {localNoTable, tableFirst},
	{"legacy_precedence/legacy parameters before the table", 6}:     {localNoTable, tableFirst},
	{"legacy_precedence/legacy parameters before the table", 7}:     {localNoTable, tableFirst},
	{"legacy_precedence/mixed in a get", 1}:                         {localTwice, legacyFirst},
	{"legacy_precedence/mixed in a query", 5}:                       {"ValidationException: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions} Expression parameters: {ProjectionExpression, KeyConditionExpression}", "Local does not count an expression that is empty"},
	{"legacy_precedence/mixed in a scan", 3}:                        {localArguments, legacyFirst},
	{"legacy_precedence/mixed in an update", 4}:                     {localArguments, legacyFirst},
	{"legacy_precedence/names without expressions", 1}:              {localArguments, legacyFirst},
	{"legacy_precedence/names without expressions", 2}:              {localArguments, legacyFirst},
	{"legacy_precedence/names without expressions", 5}:              {localTwice, legacyFirst},
	{"legacy_precedence/the key attribute before the condition", 1}: {"ConditionalCheckFailedException: The conditional request failed", "Local judges the condition first"},
	{"legacy_precedence/the key attribute before the condition", 2}: {localKeyCount, ownWords},
	{"legacy_precedence/the key before legacy parameters", 1}:       {localArguments, legacyFirst},
	{"legacy_precedence/the key before legacy parameters", 2}:       {localNotNumber, ownWords},
	{"legacy_precedence/the key before legacy parameters", 3}:       {localArguments, legacyFirst},
	{"legacy_precedence/the key before legacy parameters", 4}:       {localTwice, legacyFirst},
	{"legacy_precedence/the operator before what it joins", 1}:      {"ValidationException: Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.", legacyFirst},
	{"legacy_precedence/the operator before what it joins", 2}:      {localArguments, legacyFirst},
	{"legacy_precedence/the starting key before key conditions", 1}: {"ValidationException: Only scalar types can be used as Hash Key values", startLast},
	{"legacy_precedence/the starting key before key conditions", 2}: {"ValidationException: Query key condition not supported", startLast},
	{"legacy_precedence/the starting key before key conditions", 3}: {"ValidationException: Query key condition not supported", startLast},
	{"legacy_precedence/the table before the key", 1}:               {localNoTable, ownWords},
	{"legacy_precedence/the table before the key", 2}:               {localNoTable, ownWords},
	{"legacy_precedence/the table before the key", 3}:               {localNoTable, ownWords},
	{"legacy_precedence/updates before what is expected", 1}:        {localArguments, legacyFirst},
	{"legacy_precedence/updates before what is expected", 2}:        {localNotNumber, legacyFirst},
	{"legacy_precedence/values before their number", 1}:             {localNotNumber, ownWords},
	{"legacy_precedence/values before their number", 3}:             {"ValidationException: One or more parameter values were invalid: ComparisonOperator BETWEEN is not valid for L AttributeValue type", "Local looks at the types before it compares them"},

	{"legacy_projection/empty list", 1}: {`{pk: "a", sk: "b", status: 4, x: 1, y.in: 3, y: {in: 2}}`, lenient},
	{"legacy_projection/empty list", 2}: {`2 of 2: {pk: "a", sk: "b", status: 4, x: 1, y.in: 3, y: {in: 2}} {pk: "a", sk: "c", z: 5}`, lenient},
	{"legacy_projection/empty list", 3}: {`2 of 2: {pk: "a", sk: "b", status: 4, x: 1, y.in: 3, y: {in: 2}} {pk: "a", sk: "c", z: 5}`, lenient},
	{"legacy_projection/twice", 1}:      {localTwice, ownWords},
	{"legacy_projection/twice", 3}:      {localTwice, ownWords},
	{"legacy_projection/twice", 4}:      {localTwice, ownWords},

	{"legacy_query/IN", 1}:                           {"ValidationException: Query key condition not supported", ownWords},
	{"legacy_query/NE", 1}:                           {localInternal, fails},
	{"legacy_query/NOT_NULL", 1}:                     {"ValidationException: Only scalar types can be used as Range Key values", ownWords},
	{"legacy_query/NULL", 1}:                         {"ValidationException: Only scalar types can be used as Hash Key values", ownWords},
	{"legacy_query/another attribute", 1}:            {localMissed, ownWords},
	{"legacy_query/bad number", 1}:                   {localNotNumber, ownWords},
	{"legacy_query/filter with no such operator", 1}: {localOperator, ownWords},
	{"legacy_query/global index", 6}:                 {localMissed, ownWords},
	{"legacy_query/global index", 8}:                 {localInternal, fails},
	{"legacy_query/no conditions", 1}:                {"ValidationException: Conditions must be at least length 1", ownWords},
	{"legacy_query/no such operator", 1}:             {localOperator, ownWords},
	{"legacy_query/partition key alone", 1}:          {localMissed, ownWords},

	{"legacy_scan/bad number", 1}:       {localNotNumber, ownWords},
	{"legacy_scan/no operator", 1}:      {localOperator, ownWords},
	{"legacy_scan/no such operator", 1}: {localOperator, ownWords},

	{"legacy_update/DELETE creates nothing", 2}: {`{pk: "a", sk: "b"}`, creates},
	{"legacy_update/bad number", 1}:             {localNotNumber, ownWords},
	{"legacy_update/index keys", 2}:             {"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"legacy_update/no action", 2}:              {`{pk: "a", sk: "b"}`, "Local ignores a change without an action"},
	{"legacy_update/no such action", 1}:         {"ValidationException: Member must satisfy enum value set: [ADD, DELETE, PUT]", ownWords},
	{"legacy_update/numbers of a set", 1}:       {"ValidationException: Input collection contains duplicates", asTexts},
	{"legacy_update/numbers of a set", 2}:       {`{pk: "a", sk: "b", x: <1, 2>, y: <3, 4>}`, asTexts},
	{"legacy_update/value of type B", 1}:        {localNoAdd + "BINARY", ownWords},
	{"legacy_update/value of type B", 2}:        {localNoDelete + "BINARY", ownWords},
	{"legacy_update/value of type BOOL", 1}:     {localNoAdd + "BOOLEAN", ownWords},
	{"legacy_update/value of type BOOL", 2}:     {localNoDelete + "BOOLEAN", ownWords},
	{"legacy_update/value of type L", 1}:        {localNoDelete + "LIST", ownWords},
	{"legacy_update/value of type M", 1}:        {localNoAdd + "MAP", ownWords},
	{"legacy_update/value of type M", 2}:        {localNoDelete + "MAP", ownWords},
	{"legacy_update/value of type N", 1}:        {localNoDelete + "NUMBER", ownWords},
	{"legacy_update/value of type S", 1}:        {localNoAdd + "STRING", ownWords},
	{"legacy_update/value of type S", 2}:        {localNoDelete + "STRING", ownWords},
}
