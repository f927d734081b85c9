package conformance

const (
	localStartType = "ValidationException: Type mismatch for attribute to update"
	filtersRows    = "Local filters the rows of the table"
)

// localScan is what DynamoDB Local 3.3.1 answers to a Scan instead of
// DynamoDB.
var localScan = map[place]deviation{
	{"scan/no table", 1}:                          {localNoTable, ownWords},
	{"scan/no name", 1}:                           {"ValidationException: Value null at 'tableName' failed to satisfy constraint: Member must not be null", ownWords},
	{"scan/limit zero", 1}:                        {"ValidationException: Limit must be greater than or equal to 1", ownWords},
	{"scan/no such selection", 1}:                 {"ValidationException: Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES", ownWords},
	{"scan/no such detail", 1}:                    {`5 of 5: {pk: "p", sk: "a", v: 1} {pk: "p", sk: "b", v: 2} {pk: "p", sk: "c", w: 3} {pk: "q", sk: "a", v: 4} {pk: "r", sk: "z", v: 5}; 1 units, 1 of the table`, lenient},
	{"scan/segment alone", 1}:                     {"ValidationException: If segment is specified, total segment must also be specified", ownWords},
	{"scan/total segments alone", 1}:              {"ValidationException: If total segments is specified, a particular segment must also be specified for this request", ownWords},
	{"scan/segment too large", 1}:                 {"ValidationException: 1 validation error detected: Value '5' at 'segment' failed to satisfy constraint: Member must have value less than or equal to 4", ownWords},
	{"scan/negative segment", 1}:                  {"ValidationException: 1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: Member must have value less than or equal to 3", ownWords},
	{"scan/no segments", 1}:                       {"ValidationException: 1 validation error detected: Value '0' at 'segment' failed to satisfy constraint: Member must have value less than or equal to -1", ownWords},
	{"scan/starting key without its sort key", 1}: {"ValidationException: Exclusive Start Key must have same size as table's key schema", ownWords},
	{"scan/starting key of another type", 1}:      {"ValidationException: Type mismatch for attribute to update", ownWords},
	{"scan/starting key of other names", 1}:       {"ValidationException: The provided starting key is invalid", ownWords},
	{"scan/starting key with a bad number", 1}:    {localNotNumber, ownWords},
	{"scan/starting key in a missing table", 1}:   {localNoTable, ownWords},
	{"scan/starting key before segments", 1}:      {localNotNumber, ownWords},
	{"scan/segments before expressions", 1}:       {"ValidationException: Invalid FilterExpression: The expression can not be empty;", "Local checks expressions first"},
	{"scan/expression before the table", 1}:       {localNoTable, tableFirst},

	{"index_scan/no such index of no table", 1}:                          {localNoTable, ownWords},
	{"index_scan/name of an index", 1}:                                   {"ValidationException: The table does not have the specified index: abc;", ownWords},
	{"index_scan/starting key of another segment", 1}:                    {"ValidationException: Exclusive start key must lie within the segment", ownWords},
	{"index_scan/starting key of another type", 1}:                       {localStartType, ownWords},
	{"index_scan/starting key of another type of a local index", 1}:      {localStartType, ownWords},
	{"index_scan/starting key of another type for the table", 1}:         {localStartType, ownWords},
	{"index_scan/starting key of the table with all attributes", 1}:      {localStartType, "Local checks the starting key first"},
	{"index_scan/starting key that is gone", 1}:                          {`3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`, tied},
	{"index_scan/capacity of fetching", 1}:                               {`3 of 3: {v: "3"} {v: "2"} {v: "1"}; 0.5 units, 0 of the table, 0.5 of lsik`, "Local does not count what it fetches for a scan"},
	{"index_scan/filter on an attribute that a global index has not", 1}: {`2 of 4: {g: "x", pk: "p", sk: "b", v: "2"} {g: "x", pk: "p", sk: "a", v: "1"}`, filtersRows},
	{"index_scan/filter on an attribute that a local index has not", 1}:  {`2 of 3: {n: 1, pk: "p", sk: "b"} {n: 3, pk: "p", sk: "a"}`, filtersRows},
}
