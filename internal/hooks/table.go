package hooks

// TableName is the name of the one table of every scenario.
const TableName = "isr-cache"

// NoTTL is the attribute by which TTL deletes rows of a table without TTL.
const NoTTL = "-"
