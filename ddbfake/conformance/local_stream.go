package conformance

// Answers that DynamoDB Local gives in several cases about streams.
const (
	localNoShard     = "ResourceNotFoundException: Shard does not exist"
	localNoStream    = "ResourceNotFoundException: Stream does not exist"
	localNoSetting   = "ValidationException: Stream StreamEnabled was null"
	localInternal    = "InternalFailure: The request processing has failed because of an unknown error, exception or failure."
	localStreamOn    = "ValidationException: Table already has an enabled stream"
	localStreamOff   = "ValidationException: Table has no stream to disable"
	localViewMissing = "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or empty when enabling streams."
	localViewGiven   = "ValidationException: Invalid StreamViewType: Stream StreamEnabled was false but a StreamViewType was present."
)

// Why it differs there.
const (
	fails   = "Local fails"
	noPages = "Local counts records, not bytes"
)

// localStreams is what DynamoDB Local 3.3.1 answers about streams instead of
// DynamoDB. What it makes of a deletion by TTL no case sees, because its clock
// is the machine's: a record without userIdentity, of an unknown event.
var localStreams = map[place]deviation{
	{"stream_read/describe limit", 3}:               {"ValidationException: One or more parameter values were invalid: Limit cannot be greater than the maximum: 100", ownWords},
	{"stream_read/describe short ARN", 1}:           {"ResourceNotFoundException: Requested resource not found: Stream: bumble not found", lenient},
	{"stream_read/describe short ARN", 2}:           {"ValidationException: Invalid StreamArn", ownWords},
	{"stream_read/describe what is no ARN", 1}:      {"ResourceNotFoundException: Requested resource not found: Stream: sdfadfsdfnlfkajakfgjalksfgklasjklasdjfklasdfasdfgasf not found", lenient},
	{"stream_read/describe what is no ARN", 2}:      {"ResourceNotFoundException: Requested resource not found: Stream: arn/rows not found", lenient},
	{"stream_read/iterator of a missing shard", 1}:  {localNoShard, ownWords},
	{"stream_read/iterator of a missing shard", 2}:  {localNoShard, ownWords},
	{"stream_read/iterator of a missing stream", 2}: {localNoStream, ownWords},
	{"stream_read/iterator of a short shard", 1}:    {localNoShard, lenient},
	{"stream_read/iterator of a short shard", 2}:    {"ValidationException: No ShardId specified.", ownWords},
	{"stream_read/iterator of what is no ARN", 2}:   {localNoStream, lenient},
	{"stream_read/large pages", 8}: {`3 records; more
- INSERT {pk: "a", sk: "1"} new {pk: "a", sk: "1", x: "xxxxxxxx"...390000}
- INSERT {pk: "a", sk: "2"} new {pk: "a", sk: "2", x: "xxxxxxxx"...390000}
- INSERT {pk: "a", sk: "3"} new {pk: "a", sk: "3", x: "xxxxxxxx"...390000}`, noPages},
	{"stream_read/large pages", 9}:               {"0 records; more", noPages},
	{"stream_read/limit over 1,000", 3}:          {"ValidationException: One or more parameter values were invalid: Limit should be less than or equal to 1000", ownWords},
	{"stream_read/list after what is no ARN", 1}: {"streams of []", lenient},
	{"stream_read/list limit", 2}:                {"ValidationException: One or more parameter values were invalid: Limit cannot be greater than the maximum allowed size: 100", ownWords},
	{"stream_read/no iterator", 2}:               {"ValidationException: Invalid ShardIterator", ownWords},
	{"stream_read/no iterator", 3}:               {"ValidationException: Invalid ShardIterator", ownWords},
	{"stream_read/no number", 2}:                 {localInternal, fails},
	{"stream_read/no such type", 1}:              {localInternal, fails},
	{"stream_read/no such type", 2}:              {localNoShard, lenient},
	{"stream_table/a view alone", 1}:             {localNoSetting, ownWords},
	{"stream_table/disable again", 2}:            {localStreamOff, ownWords},
	{"stream_table/disable nothing", 1}:          {localStreamOff, ownWords},
	{"stream_table/disable with a view", 1}:      {localViewGiven, ownWords},
	{"stream_table/enable again", 1}:             {localStreamOn, ownWords},
	{"stream_table/enable again", 2}:             {localStreamOn, ownWords},
	{"stream_table/no such view", 1}:             {"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true UNKNOWN_TO_SDK_VERSION; latest stream", lenient},
	{"stream_table/nothing said", 1}:             {localNoSetting, ownWords},
	{"stream_table/off with a view", 1}:          {localViewGiven, ownWords},
	{"stream_table/on without a view", 1}:        {localViewMissing, ownWords},
	{"stream_table/update says nothing", 1}:      {localNoSetting, ownWords},
	{"stream_table/update to no such view", 1}:   {"updating rows", lenient},
	{"stream_table/update to no such view", 2}:   {"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true UNKNOWN_TO_SDK_VERSION; latest stream", lenient},
	{"stream_table/update without a view", 1}:    {localViewMissing, ownWords},
	{"stream_table/with a class", 1}:             {"updating rows", lenient},
	{"stream_table/with a class", 2}:             {"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true KEYS_ONLY; latest stream", lenient},
	{"stream_table/with an index", 1}:            {"updating rows", lenient},
	{"stream_table/with an index", 2}:            {"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; gsi (g S HASH) ALL; stream true KEYS_ONLY; latest stream", lenient},
	{"stream_table/with protection", 1}:          {"updating rows", lenient},
	{"stream_table/with protection", 2}:          {"table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0; stream true KEYS_ONLY; latest stream", lenient},
	{"stream_table/with throughput", 2}:          {"ValidationException: Cannot change IOPS and Streams at the same time.", ownWords},
}
