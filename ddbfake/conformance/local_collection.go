package conformance

const noMetrics = "Local does not measure item collections"

// localCollections is what DynamoDB Local 3.3.1 answers instead of DynamoDB
// about item collections.
var localCollections = map[place]deviation{
	{"collection/put", 1}:                      {ok, noMetrics},
	{"collection/update", 1}:                   {ok, noMetrics},
	{"collection/update", 2}:                   {`{pk: "p", sk: "b", v: 1}`, noMetrics},
	{"collection/delete", 1}:                   {`{n: 1, pk: "p", sk: "a"}`, noMetrics},
	{"collection/number", 1}:                   {ok, noMetrics},
	{"collection/batch", 1}:                    {ok, noMetrics},
	{"collection/transaction", 1}:              {ok, noMetrics},
	{"collection/capacity and collections", 1}: {ok + "; 2 units", noMetrics},
}
