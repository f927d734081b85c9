package differential

// localLegacy are the known differences about legacy parameters.
var localLegacy = []*Known{
	{
		Path: "error", Fake: v + bad + "Duplicate value in attribute name: .*",
		Local: v + "Cannot have two attributes with the same name", Reason: ownWords, Source: dynalite + "getItem.js",
	},
	{
		Operations: "UpdateItem", Path: "error", Fake: v + bad +
			"((DELETE action with value|ADD action) is not supported for the type .*|Only DELETE action is allowed .*)",
		Local: v + bad + "(DELETE action with value|ADD action) is not supported for the type " +
			".*|ConditionalCheckFailedException: .*", Reason: ownWords, Source: dynalite + "updateItem.js",
	},
	{
		Path: "error",
		Fake: constraint +
			".*'(expected|keyConditions|queryFilter|scanFilter|attributeUpdates|conditionalOperator)[^']*' failed " +
			".* enum value set: .*",
		Local: v + "(Member must satisfy enum value set: .*|Comparison type does not exist in " +
			"DynamoDB|ConditionalOperator can(not| only) be used .*)|ConditionalCheckFailedException: .*|" + internal,
		Reason: ownWords, Source: dynalite + "updateItem.js",
	},
	{
		Operations: "Query Scan", Path: "error", Fake: constraint + ".*'conditionalOperator' failed .*", Local: "ok",
		Reason: lenient, Source: dynalite + "query.js",
	},
	{
		Operations: "UpdateItem", Path: "error", Fake: v + bad + "Cannot update attribute .*",
		Local:  "ConditionalCheckFailedException: .*|" + v + "Type mismatch for attribute to update",
		When:   func(r Request) bool { return isLegacy(r.Body) },
		Reason: "Local judges the condition, and the item's attributes, first", Source: dynalite + "updateItem.js",
	},
	{
		Operations: "GetItem BatchGetItem Query Scan", Path: "error", Fake: constraint + ".*attributesToGet' failed .*",
		Local: "ok|" + v + "Must specify the AttributesToGet .*", Reason: lenient, Source: dynalite + "query.js",
	},
	{
		Operations: "Query", Path: "error", Fake: v + "Conditions can be of length 1 or 2 only",
		Local: v + "Conditions must be at least length 1", Reason: ownWords, Source: dynalite + "query.js",
	},
	{
		Operations: "UpdateItem", Path: "error", Fake: "ok", Local: v + "Input collection contains duplicates",
		Diverges: true, When: func(r Request) bool { return isLegacy(r.Body) },
		Reason: "Local refuses to add a number that the set has in another form, such as 0.10 and 0.1",
		Source: docTypes,
	},
}
