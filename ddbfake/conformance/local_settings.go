package conformance

// Why DynamoDB Local differs in the settings of tables.
const (
	noEncryption = "Local reads the specification and knows nothing of encryption"
	noWarmth     = "Local knows nothing of warm throughput"
	bothCeilings = "Local wants both ceilings"

	localNothing = "ValidationException: Nothing to update"
	localUnits   = "ValidationException: Table read and write throughput must be at least 1, and cannot be null"
	localFails   = "InternalFailure: The request processing has failed because of an unknown error, exception or failure."
	localPlain   = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
)

// localSettings is what DynamoDB Local 3.3.1 answers instead of DynamoDB about the
// settings of tables.
var localSettings = map[place]deviation{
	{"table_settings/encrypted", 1}:                      {localPlain, noEncryption},
	{"table_settings/encrypted", 2}:                      {localPlain, noEncryption},
	{"table_settings/encrypted by type", 1}:              {localPlain, noEncryption},
	{"table_settings/change encryption", 1}:              {localNothing, noEncryption},
	{"table_settings/change encryption", 2}:              {localNothing, noEncryption},
	{"table_settings/change encryption", 3}:              {localPlain, noEncryption},
	{"table_settings/change encryption", 4}:              {localNothing, noEncryption},
	{"table_settings/encryption alone", 1}:               {"updating rows", lenient},
	{"table_settings/encryption of no type", 1}:          {localPlain, lenient},
	{"table_settings/encryption by AES256", 1}:           {localPlain, lenient},
	{"table_settings/a key without a type", 1}:           {localPlain, lenient},
	{"table_settings/a type of nothing", 1}:              {localPlain, lenient},
	{"table_settings/a key for nothing", 1}:              {localPlain, lenient},
	{"table_settings/ceiling of one", 1}:                 {localUnits, bothCeilings},
	{"table_settings/ceiling of one", 2}:                 {localNoTable, bothCeilings},
	{"table_settings/ceiling of one", 3}:                 {localUnits, bothCeilings},
	{"table_settings/ceiling of one", 4}:                 {localNoTable, bothCeilings},
	{"table_settings/change a ceiling", 2}:               {localFails, bothCeilings},
	{"table_settings/change a ceiling", 3}:               {localPlain + "; at most 20/15", bothCeilings},
	{"table_settings/change a ceiling", 4}:               {localFails, bothCeilings},
	{"table_settings/change a ceiling", 5}:               {localPlain + "; at most 20/15", bothCeilings},
	{"table_settings/change a ceiling", 6}:               {localFails, bothCeilings},
	{"table_settings/change a ceiling", 7}:               {localPlain + "; at most 20/15", bothCeilings},
	{"table_settings/ceiling and billing", 5}:            {"updating rows", lenient},
	{"table_settings/ceiling of what is provisioned", 1}: {"table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5", lenient},
	{"table_settings/ceiling of nothing", 1}:             {localPlain, lenient},
	{"table_settings/ceiling with something else", 1}:    {"updating rows", lenient},
	{"table_settings/warm", 1}:                           {localPlain, noWarmth},
	{"table_settings/warm", 2}:                           {localPlain, noWarmth},
	{"table_settings/too cold", 1}:                       {localPlain, lenient},
	{"table_settings/colder than provisioned", 1}:        {"table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5", lenient},
	{"table_settings/warmer", 1}:                         {localNothing, noWarmth},
	{"table_settings/warmer", 2}:                         {localPlain, noWarmth},
	{"table_settings/warmer", 3}:                         {localNothing, noWarmth},
}
