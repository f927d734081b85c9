package conformance

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Pages of the lab of AWS's controller for Kubernetes: its observations of backups and restores at the service.
const (
	labBackup   = quirks + "backup.md"
	labRestore  = quirks + "table-restore.md"
	labIndexes  = quirks + "table-indexes.md"
	labRecovery = quirks + "table-subresources.md"
	labShapes   = quirks + "details/DDB-TABLE-457.md"
)

const (
	backupMissing  = "BackupNotFoundException: Backup not found: arn/rows/backup/"
	deniedToOthers = "AccessDeniedException: Access is denied"
	plainRows      = "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
	plainCopy      = "table copy (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
)

func backupCases() []Case {
	const one = "backup one USER AVAILABLE"
	indexed := map[string]schema{
		usualTable: "pk S, sk S | gsi: g S -> INCLUDE v | lsi: pk S, n N -> KEYS_ONLY | stream: NEW_IMAGE",
	}
	described := "; " + strings.ReplaceAll(plainRows, " S ", " ")
	named := func(name, rule string, backup any, want string) Case {
		return newCase(name, rule, labShapes, needsBackups, expect(backUp("", set("BackupName", backup)), want))
	}
	arn := func(name, rule, source, arn, want string) Case {
		return newCase(name, rule, source, noTables, needsBackups,
			expect(describeBackup(1, set("BackupArn", arn)), want))
	}
	const (
		pattern = "Value '%' at 'backupName' failed to satisfy constraint: Member must satisfy regular expression " +
			"pattern: [a-zA-Z0-9_.-]+"
		short = "Value '%' at 'backupName' failed to satisfy constraint: Member must have length greater than " +
			"or equal to 3"
		long = "Value '%' at 'backupName' failed to satisfy constraint: Member must have length less than or " +
			"equal to 255"
	)
	with := func(text, value string) string { return strings.Replace(text, "%", value, 1) }
	n255 := strings.Repeat("n", 255)
	return []Case{
		newCase("create", "A backup is made at once, and described with its table.", api("CreateBackup"), needsBackups,
			expect(backUp("one"), one), expect(describeBackup(1), one+described)),
		newCase("settings", "A backup has the stream, TTL, encryption and indexes of its table.",
			labBackup+"#ddb-backup-009", inTables(indexed), needsBackups,
			expect(updateTTL("ttl", true), "ttl ttl true"),
			expect(updateTable(set("SSESpecification", &types.SSESpecification{Enabled: aws.Bool(true)})),
				"updating rows"),
			expect(backUp("one"), one),
			expect(describeBackup(1), one+described+"; gsi (g HASH) INCLUDE v; lsi (pk HASH, n RANGE) KEYS_ONLY; "+
				"stream true NEW_IMAGE; encrypted ENABLED KMS some key; ttl ENABLED ttl")),
		newCase("settings of then", "A backup keeps the settings of its time.", labBackup+"#ddb-backup-021", noTables,
			needsBackups, expect(createTable(usualTable, usualSchema, set("BillingMode", "PROVISIONED"),
				set("ProvisionedThroughput", units(5, 5))),
				"table rows (pk S HASH, sk S RANGE) PROVISIONED 5/5"),
			expect(backUp("one"), one),
			expect(updateTable(set("ProvisionedThroughput", units(20, 15))), "updating rows"),
			expect(describeBackup(1), one+"; table rows (pk HASH, sk RANGE) PROVISIONED 5/5"),
			expect(deleteTable(), "deleted rows")),
		newCase("one name twice", "Names of backups need not differ.", labBackup+"#ddb-backup-011", needsBackups,
			expect(backUp("one"), one), expect(backUp("one"), one), expect(backUp("one"), one),
			expect(listBackups(), "[one one one]"), expect(deleteBackup(2), "backup one USER DELETED"),
			expect(listBackups(), "[one one]"), expect(describeBackup(3), one+described),
			expect(describeBackup(2), backupMissing+"#2")),
		newCase("delete", "A backup that was deleted is gone at once.", labBackup+"#ddb-backup-005", needsBackups,
			expect(backUp("one"), one), expect(deleteBackup(1), "backup one USER DELETED"),
			expect(describeBackup(1), backupMissing+"#1"), expect(deleteBackup(1), backupMissing+"#1"),
			expect(listBackups(), "[]")),
		newCase("outlives its table", "A backup is there when its table is gone.", labBackup+"#ddb-backup-007",
			needsBackups, expect(backUp("one"), one), expect(deleteTable(), "deleted rows"),
			expect(describeBackup(1), one+described), expect(listBackups(), "[one]")),
		newCase("another table of the name",
			"Backups are listed by the name of their table, whichever table of that name it was.",
			labBackup+"#ddb-backup-016", noTables, needsBackups,
			expect(createTable(usualTable, "pk S, sk S"), plainRows), expect(backUp("one"), one),
			expect(deleteTable(), "deleted rows"), expect(createTable(usualTable, "pk S"),
				"table rows (pk S HASH) PAY_PER_REQUEST 0/0"),
			expect(backUp("two"), "backup two USER AVAILABLE"),
			expect(listBackups(), "[one two]"),
			expect(describeBackup(1), one+described),
			expect(describeBackup(2), "backup two USER AVAILABLE; table rows (pk HASH) PAY_PER_REQUEST 0/0"),
			expect(deleteTable(), "deleted rows")),
		newCase("by ARN", "The table may be named by its ARN.", api("CreateBackup"), needsBackups,
			expect(func(w *world) any { return backUp("one", set("TableName", *w.arnOf(usualTable)))(w) }, one),
			expect(func(w *world) any { return listBackups(set("TableName", *w.arnOf(usualTable)))(w) }, "[one]")),
		newCase("no table", "The table exists.", labBackup+"#ddb-backup-001", noTables, needsBackups,
			expect(backUp("one", on("missing")), "TableNotFoundException: Table not found: missing"),
			expect(listBackups(on("missing")), "[]")),

		named("empty name", "A name has three characters at least.", "", broken(with(pattern, ""), with(short, ""))),
		named("short name", "A name has three characters at least.", "ab", broken(with(short, "ab"))),
		named("long name", "A name has 255 characters at most.", n255+"n", broken(with(long, n255+"n"))),
		named("longest name", "A name has 255 characters at most.", n255, "backup "+n255+" USER AVAILABLE"),
		named("characters of a name", "A name has letters, digits, underscores, hyphens and full stops.", "aZ9_.-",
			"backup aZ9_.- USER AVAILABLE"),
		named("another character", "A name has only certain characters.", "on e", broken(with(pattern, "on e"))),
		named("no name", "A name is required.", nil,
			broken("Value null at 'backupName' failed to satisfy constraint: Member must not be null")),

		newCase("no ARN", "An ARN is required.", api("DescribeBackup"), noTables, needsBackups,
			expect(describeBackup(1, set("BackupArn", nil)),
				broken("Value null at 'backupArn' failed to satisfy constraint: Member must not be null")),
			expect(deleteBackup(1, set("BackupArn", nil)),
				broken("Value null at 'backupArn' failed to satisfy constraint: Member must not be null"))),
		newCase("no backup", "The backup exists.", labBackup+"#ddb-backup-012", needsBackups,
			expect(describeBackup(1), backupMissing+"01489173575360-00000000"),
			expect(deleteBackup(1), backupMissing+"01489173575360-00000000")),
		newCase("the ARN of its table", "The ARN of a table is none of a backup.", labBackup+"#ddb-backup-012",
			needsBackups, expect(func(w *world) any {
				return describeBackup(1, set("BackupArn", *w.arnOf(usualTable)))(w)
			}, invalid("Invalid Backup ARN"))),
		newCase("another region in the ARN", "The region in an ARN does not matter.", labBackup+"#ddb-backup-012",
			needsBackups, expect(backUp("one"), one),
			expect(func(w *world) any {
				return describeBackup(1, set("BackupArn", inRegion(w.backup(1), "eu-west-1")))(w)
			}, one+described),
			expect(func(w *world) any {
				return deleteBackup(1, set("BackupArn", inRegion(w.backup(1), "eu-west-1")))(w)
			}, "backup one USER DELETED"),
			expect(listBackups(), "[]")),
		arn("an empty ARN", "An ARN has its parts.", labShapes, "", invalid("Invalid Backup ARN")),
		arn("no ARN at all", "An ARN has its parts.", labBackup+"#ddb-backup-012", strings.Repeat("b", 48),
			invalid("Invalid Backup ARN")),
		arn("another account", "The ARN of another account is denied.", labBackup+"#ddb-backup-012",
			"arn:aws:dynamodb:us-east-1:123456789012:table/rows/backup/01489173575360-b308cd7d", deniedToOthers),
		newCase("another service", "An ARN names the service.", labBackup+"#ddb-backup-012", needsBackups,
			expect(func(w *world) any {
				return describeBackup(1, set("BackupArn", strings.Replace(w.backup(1), ":dynamodb:", ":backup:", 1)))(w)
			}, invalid("Invalid Request: BackupArn is not valid"))),
		newCase("another partition", "An ARN names the partition.", labBackup+"#ddb-backup-012", needsBackups,
			expect(func(w *world) any {
				return describeBackup(1, set("BackupArn", strings.Replace(w.backup(1), "arn:aws:", "arn:aws-cn:", 1)))(
					w,
				)
			}, invalid("Invalid Request: BackupArn is not valid"))),

		newCase("list types", "Users' backups are listed unless others are asked for.", labBackup+"#ddb-backup-014",
			needsBackups, expect(backUp("one"), one),
			expect(listBackups(), "[one]"), expect(listBackups(set("BackupType", "USER")), "[one]"),
			expect(listBackups(set("BackupType", "ALL")), "[one]"),
			expect(listBackups(set("BackupType", "SYSTEM")), "[]"),
			expect(listBackups(set("BackupType", "AWS_BACKUP")), "[]")),
		newCase("list pages", "A page has as many backups as its limit, and goes on after the last of the former one.",
			labBackup+"#ddb-backup-027", needsBackups, expect(backUp("one"), one),
			expect(backUp("two"), "backup two USER AVAILABLE"), expect(backUp("three"), "backup three USER AVAILABLE"),
			expect(listBackups(limit(2)), "[one two]; last #2"),
			expect(listBackups(limit(2), startingAfterBackup(2, "")), "[three]"),
			expect(listBackups(limit(3)), "[one two three]"), expect(listBackups(limit(100)), "[one two three]"),
			expect(listBackups(startingAfterBackup(3, "")), "[]")),
		newCase("list after one that is gone", "A page goes on after a backup that was deleted.",
			labBackup+"#ddb-backup-014", needsBackups,
			expect(backUp("one"), one), expect(backUp("two"), "backup two USER AVAILABLE"),
			expect(backUp("three"), "backup three USER AVAILABLE"),
			expect(deleteBackup(2), "backup two USER DELETED"),
			expect(listBackups(startingAfterBackup(2, "")), "[three]")),
		newCase("list limits", "A page has 1 to 100 backups.", labBackup+"#ddb-backup-014", needsBackups,
			expect(listBackups(limit(0)), broken(
				"Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
			)),
			expect(listBackups(limit(101)), broken(
				"Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100",
			))),
		newCase("list from another region", "A list goes on in its region.", labBackup+"#ddb-backup-012", needsBackups,
			expect(backUp("one"), one), expect(listBackups(startingAfterBackup(1, "eu-west-1")),
				invalid("Invalid Request: The supplied ExclusiveStartBackupArn does not match the region"))),
		newCase("list by time", "The lower bound of time is part of the range, and the upper is not.",
			labBackup+"#ddb-backup-014", movesClock, needsBackups,
			expect(backUp("one"), one), then(wait(time.Second)), expect(backUp("two"), "backup two USER AVAILABLE"),
			then(wait(time.Second)), expect(backUp("three"), "backup three USER AVAILABLE"),
			expect(created(time.Second, 2*time.Second), "[two]"),
			expect(created(time.Second-time.Millisecond, 2*time.Second+time.Millisecond), "[two three]"),
			expect(created(time.Second+time.Millisecond, time.Hour), "[three]"),
			expect(created(time.Second, time.Second), "[]")),
		newCase("list backwards", "The lower bound of time is not above the upper one.", labBackup+"#ddb-backup-014",
			movesClock, needsBackups, expect(created(time.Second, 0),
				badParameter("Time range lower bound must be less than or equal to upper bound"))),
		newCase("list all tables", "Without a table all backups are listed, and each names its table.",
			api("ListBackups"), runsAlone, inTables(map[string]schema{usualTable: usualSchema, "more": "id S"}),
			needsBackups, expect(backUp("one"), one), expect(backUp("two", on("more")), "backup two USER AVAILABLE"),
			expect(listBackups(noName()), "[one two]"), expect(listBackups(on("more")), "[two]")),
	}
}

// created lists the backups between two times after the case began.
func created(from, to time.Duration) request {
	return func(w *world) any {
		return listBackups(set("TimeRangeLowerBound", aws.Time(w.began.Add(from))),
			set("TimeRangeUpperBound", aws.Time(w.began.Add(to))))(w)
	}
}

func restoreCases() []Case {
	const (
		one       = "backup one USER AVAILABLE"
		restoring = "; restoring from #1 of arn/rows"
		noMatch   = " does not match a secondary index that existed in the source table and cannot be created " +
			"during the restore operation"
		refusal = "Invalid Request: "
		five    = " (pk S HASH, sk S RANGE) PROVISIONED 5/5; gsi (g S HASH) INCLUDE v 5/5; lsi (pk S HASH, n " +
			"N RANGE) ALL"
		bare = " (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0"
	)
	const both schema = "pk S, sk S | gsi: g S -> INCLUDE v | lsi: pk S, n N -> ALL"
	gsiUnits := each(func(x *types.GlobalSecondaryIndex) { x.ProvisionedThroughput = units(5, 5) })
	provisioned := func(parts ...part) part {
		return setup(func(c *Case) {
			noTables(c)
			needsBackups(c)
			expect(createTable(usualTable, both, set("BillingMode", "PROVISIONED"),
				set("ProvisionedThroughput", units(5, 5)), gsiUnits),
				"table rows"+five).addTo(c)
			expect(backUp("one"), one).addTo(c)
			for _, p := range parts {
				p.addTo(c)
			}
			expect(deleteTable(), "deleted rows").addTo(c)
		})
	}
	becomes := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, provisioned(
			expect(restore(1, "copy", options...), "table copy"+want+restoring),
			expect(describeTable(on("copy")), "table copy"+want)))
	}
	refused := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, provisioned(expect(restore(1, "copy", options...), want),
			expect(describeTable(on("copy")),
				"ResourceNotFoundException: Requested resource not found: Table: copy not found")))
	}
	// onDemand is a case about a table that is paid per request.
	onDemand := func(name, rule, source, want string, options ...option) Case {
		return newCase(name, rule, source, inTables(map[string]schema{usualTable: "pk S, sk S | gsi: g S -> ALL"}),
			needsBackups, expect(backUp("one"), one), expect(restore(1, "copy", options...), want))
	}
	billing := func(mode string) option { return set("BillingModeOverride", mode) }
	unitsOfCopy := func(read, write int64) option { return set("ProvisionedThroughputOverride", units(read, write)) }
	most := func(read, write int64) option {
		return set("OnDemandThroughputOverride",
			&types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(read), MaxWriteRequestUnits: aws.Int64(write)})
	}
	encrypted := func(on bool) option {
		return set("SSESpecificationOverride", &types.SSESpecification{Enabled: aws.Bool(on)})
	}
	const gsi, lsi = "gsi: g S -> INCLUDE v", "lsi: pk S, n N -> ALL"
	member := func(value, name, rule string) string {
		return "Value " + value + " at '" + name + "' failed to satisfy constraint: Member must " + rule
	}
	null := func(name string) string { return member("null", name, "not be null") }
	return []Case{
		newCase("rows", "A restored table has the rows of the backup, and not those that came later.",
			api("RestoreTableFromBackup"), needsBackups,
			holding(row("a", "1", "v", 1), row("a", "2", "v", 1)),
			expect(backUp("one"), one),
			expect(put(row("a", "1", "v", 2)), ok), expect(remove(row("a", "2")), ok), expect(put(row("a", "3")), ok),
			expect(restore(1, "copy"), plainCopy+restoring),
			expect(describeTable(on("copy")), plainCopy),
			expect(scan(on("copy")), `2 of 2: {pk: "a", sk: "1", v: 1} {pk: "a", sk: "2", v: 1}`),
			expect(scan(), `2 of 2: {pk: "a", sk: "1", v: 2} {pk: "a", sk: "3"}`)),
		newCase("tables of one backup", "Tables of one backup are independent of it and of each other.",
			api("RestoreTableFromBackup"), needsBackups,
			holding(row("a", "1", "v", 1)),
			expect(backUp("one"), one),
			expect(restore(1, "copy"), plainCopy+restoring), expect(put(row("a", "1", "v", 2), on("copy")), ok),
			expect(restore(1, "more"), strings.Replace(plainCopy, "copy", "more", 1)+restoring),
			expect(remove(row("a", "1"), on("more")), ok),
			expect(scan(on("copy")), `1 of 1: {pk: "a", sk: "1", v: 2}`), expect(scan(on("more")), "0 of 0"),
			expect(scan(), `1 of 1: {pk: "a", sk: "1", v: 1}`),
			expect(deleteTable(on("copy")), "deleted copy"),
			expect(restore(1, "copy"), plainCopy+restoring),
			expect(scan(on("copy")), `1 of 1: {pk: "a", sk: "1", v: 1}`)),
		newCase("the table itself", "A table that was deleted is restored under its name.", labBackup+"#ddb-backup-016",
			needsBackups, holding(row("a", "1")),
			expect(backUp("one"), one), expect(deleteTable(), "deleted rows"),
			expect(restore(1, usualTable), plainRows+restoring), expect(scan(), `1 of 1: {pk: "a", sk: "1"}`)),
		newCase("left behind",
			"A restored table has no stream, TTL, tags, recovery or protection, and the usual class.",
			labRestore+"#ddb-table-215", inTables(map[string]schema{usualTable: "pk S, sk S | stream: NEW_IMAGE"}),
			needsBackups, expect(updateTTL("ttl", true), "ttl ttl true"), expect(tagTable(tags("k", "v")), ok),
			expect(recovery(true), "point in time ENABLED for 35 days"),
			expect(updateTable(set("DeletionProtectionEnabled", true)), "updating rows"),
			expect(updateTable(set("TableClass", "STANDARD_INFREQUENT_ACCESS")), "updating rows"),
			expect(backUp("one"), one), expect(restore(1, "copy"), plainCopy+restoring),
			expect(describeTable(on("copy")), plainCopy), expect(describeTTL(on("copy")), "ttl DISABLED"),
			expect(listTags(onARN("copy")), "[]"), expect(deleteTable(on("copy")), "deleted copy"),
			expect(updateTable(set("DeletionProtectionEnabled", false)), "updating rows")),
		newCase("rows that had a ttl", "Rows of a restored table live on, until TTL is turned on there.", docRestores,
			movesClock, needsSweep, needsBackups, expect(updateTTL("ttl", true), "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "1", "ttl", int(now)+60)) }), ok),
			expect(put(row("a", "2")), ok), expect(backUp("one"), one), then(wait(time.Hour)), then(sweep()),
			expect(scan(only("sk")), `1 of 1: {sk: "2"}`),
			expect(restore(1, "copy"), plainCopy+restoring), then(sweep()),
			expect(scan(on("copy"), only("sk")), `2 of 2: {sk: "1"} {sk: "2"}`),
			expect(updateTTL("ttl", true, on("copy")), "ttl ttl true"), then(sweep()),
			expect(scan(on("copy"), only("sk")), `1 of 1: {sk: "2"}`)),
		newCase("no stream of the past", "A stream of a restored table begins with it, and without its rows.",
			docStreams, readsStreams, needsBackups, holding(row("a", "1")),
			expect(backUp("one"), one), expect(restore(1, "copy"), plainCopy+restoring),
			expect(updateTable(on("copy"), enabling("KEYS_ONLY")), "updating copy"),
			expect(put(row("a", "2"), on("copy")), ok),
			expect(readStream(0), "1 records; more\n- "+`INSERT {pk: "a", sk: "2"}`)),

		becomes("units", "A restored table has the units of the backup.", labBackup+"#ddb-backup-021", five),
		becomes("units of the table", "The units of a restored table can be chosen, and those of its indexes stay.",
			labIndexes+"#ddb-table-281",
			strings.Replace(five, "PROVISIONED 5/5", "PROVISIONED 7/6", 1), unitsOfCopy(7, 6)),
		becomes("units of an index", "The units of a restored index can be chosen.", labIndexes+"#ddb-table-281",
			strings.Replace(five, "v 5/5", "v 8/9", 1), keptGlobals(gsi+" at 8/9")),
		becomes("on demand", "A restored table can be paid per request, with its indexes.", labIndexes+"#ddb-table-281",
			bare+"; gsi (g S HASH) INCLUDE v; lsi (pk S HASH, n N RANGE) ALL", billing("PAY_PER_REQUEST")),
		becomes("on demand with a ceiling", "A restored table that is paid per request can have a ceiling.",
			labIndexes+"#ddb-table-281",
			bare+"; gsi (g S HASH) INCLUDE v; lsi (pk S HASH, n N RANGE) ALL; at most 50/40",
			billing("PAY_PER_REQUEST"), most(50, 40)),
		becomes("no indexes", "An empty list of indexes leaves them all out.", labRestore+"#ddb-table-279",
			" (pk S HASH, sk S RANGE) PROVISIONED 5/5", keptGlobals(), keptLocals()),
		becomes("no global index", "Either kind of index can be left out.", labRestore+"#ddb-table-279",
			" (pk S HASH, sk S RANGE) PROVISIONED 5/5; lsi (pk S HASH, n N RANGE) ALL", keptGlobals()),
		becomes("other names", "An index can get another name.", labIndexes+"#ddb-table-280",
			" (pk S HASH, sk S RANGE) PROVISIONED 5/5; g-2 (g S HASH) INCLUDE v 5/5; l-2 (pk S HASH, n N RANGE) ALL",
			keptGlobals("g-2: g S -> INCLUDE v at 5/5"), keptLocals("l-2: pk S, n N -> ALL")),
		becomes("encrypted", "A restored table can be encrypted.", api("RestoreTableFromBackup"),
			five+"; encrypted ENABLED KMS some key", encrypted(true)),
		newCase("query a restored index", "A restored index has the rows of the table.", labIndexes+"#ddb-table-281",
			inTables(map[string]schema{usualTable: "pk S, sk S | gsi: g S -> ALL | more: m S -> ALL"}), needsBackups,
			holding(row("a", "1", "g", "x", "m", "y"), row("a", "2", "g", "x"), row("a", "3")),
			expect(backUp("one"), one), expect(remove(row("a", "1")), ok),
			expect(restore(1, "copy", keptGlobals("other: g S -> ALL")), plainCopy+"; other (g S HASH) ALL"+restoring),
			expect(query("g = :g", on("copy"), index("other"), eventually(), with(attrs{":g": "x"}), only("sk")),
				`2 of 2: {sk: "1"} {sk: "2"}`),
			expect(put(row("a", "2", "g", "y"), on("copy")), ok),
			expect(query("g = :g", on("copy"), index("other"), eventually(), with(attrs{":g": "x"}), only("sk")),
				`1 of 1: {sk: "1"}`),
			expect(put(row("a", "4", "m", 1), on("copy")), ok), // no index has it as a key any more
			expect(query("g = :g", index("gsi"), eventually(), with(attrs{":g": "x"}), only("sk")),
				`1 of 1: {sk: "2"}`)),
		newCase("a ceiling that was", "A restored table has the ceiling of the backup, unless another is chosen.",
			labRestore+"#ddb-table-215", noTables, needsBackups,
			expect(createTable(usualTable, usualSchema, set("OnDemandThroughput",
				&types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(100), MaxWriteRequestUnits: aws.Int64(50)})),
				plainRows+"; at most 100/50"),
			expect(backUp("one"), one), expect(restore(1, "copy"), plainCopy+"; at most 100/50"+restoring),
			expect(restore(1, "more", most(7, 8)),
				strings.Replace(plainCopy, "copy", "more", 1)+"; at most 7/8"+restoring),
			expect(deleteTable(), "deleted rows")),
		newCase("encrypted as it was", "A restored table has the key of the backup, unless another is chosen.",
			labRestore+"#ddb-table-215", noTables, needsBackups,
			expect(createTable(usualTable, usualSchema, set("SSESpecification",
				&types.SSESpecification{Enabled: aws.Bool(true)})), plainRows+"; encrypted ENABLED KMS some key"),
			expect(backUp("one"), one), expect(restore(1, "copy"),
				plainCopy+"; encrypted ENABLED KMS some key"+restoring),
			expect(restore(1, "more", encrypted(false)), strings.Replace(plainCopy, "copy", "more", 1)+restoring),
			expect(deleteTable(), "deleted rows")),

		refused("provisioned without units", "A table that is to be provisioned has units.",
			labRestore+"#ddb-table-273",
			invalid(refusal+"Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"),
			billing("PROVISIONED")),
		refused("units on demand", "A table that is to be paid per request has no units.", labShapes,
			invalid(refusal+"Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST"),
			billing("PAY_PER_REQUEST"), unitsOfCopy(5, 5)),
		refused("an index without units", "An index of a provisioned table has units.", labIndexes+"#ddb-table-280",
			invalid(refusal+"Must specify provisioned throughput for index gsi"), keptGlobals(gsi)),
		refused("an index with units on demand", "An index of a table that is to be paid per request has no units.",
			labIndexes+"#ddb-table-280", invalid(refusal+
				"Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST for index gsi"),
			billing("PAY_PER_REQUEST"), keptGlobals(gsi+" at 5/5")),
		refused("a ceiling of units", "A provisioned table has no ceiling.", labIndexes+"#ddb-table-280",
			invalid(refusal+
				"Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is "+
				"PAY_PER_REQUEST"), most(5, 5)),
		refused("another key", "A new index cannot be had.", labIndexes+"#ddb-table-280",
			invalid(refusal+"Index gsi"+noMatch), keptGlobals("gsi: q S -> INCLUDE v at 5/5")),
		refused("another projection", "An index with another projection is a new one.", labIndexes+"#ddb-table-280",
			invalid(refusal+"Index gsi"+noMatch), keptGlobals("gsi: g S -> ALL at 5/5")),
		refused("another local index", "A new local index cannot be had.", labIndexes+"#ddb-table-280",
			invalid(refusal+"Index lsi"+noMatch), keptLocals("lsi: pk S, m N -> ALL")),
		refused("a local index as a global one", "An index stays of its kind.", labIndexes+"#ddb-table-280",
			invalid(refusal+"Index lsi"+noMatch), keptGlobals(lsi+" at 5/5")),
		onDemand("units of a table on demand", "A table that is paid per request has no units.",
			labRestore+"#ddb-table-273", invalid(refusal+
				"Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"), unitsOfCopy(5, 5)),
		onDemand("no ceiling at all", "A ceiling is one at least.", labShapes,
			invalid(refusal+"Requested MaxReadRequestUnits for OnDemandThroughput is outside of valid range"),
			most(0, 0)),
		onDemand("provisioned", "A table that was paid per request can be provisioned, with all of its indexes.",
			labRestore+"#ddb-table-273", "table copy (pk S HASH, sk S RANGE) PROVISIONED 7/7; gsi (g S HASH) ALL 3/3"+
				restoring, billing("PROVISIONED"), unitsOfCopy(7, 7), keptGlobals("gsi: g S -> ALL at 3/3")),

		refused("a billing mode that is none", "There are two billing modes.", labShapes,
			broken(member("'BOGUS'", "billingModeOverride", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]")),
			billing("BOGUS")),
		refused("units without numbers", "Units are numbers.", labShapes,
			broken(null("provisionedThroughputOverride.writeCapacityUnits"),
				null("provisionedThroughputOverride.readCapacityUnits")),
			set("ProvisionedThroughputOverride", &types.ProvisionedThroughput{})),
		refused("an index without anything", "An index has a name, a key and a projection.", labShapes,
			broken(null("globalSecondaryIndexOverride.1.member.indexName"),
				null("globalSecondaryIndexOverride.1.member.keySchema"),
				null("globalSecondaryIndexOverride.1.member.projection")),
			set("GlobalSecondaryIndexOverride", []types.GlobalSecondaryIndex{{}})),
		refused("a local index without anything", "A local index has a name, a key and a projection.", labShapes,
			broken(null("localSecondaryIndexOverride.1.member.indexName"),
				null("localSecondaryIndexOverride.1.member.keySchema"),
				null("localSecondaryIndexOverride.1.member.projection")),
			set("LocalSecondaryIndexOverride", []types.LocalSecondaryIndex{{}})),
		refused("a key of no length", "A key has a name.", labShapes,
			broken(member("''", "sSESpecificationOverride.kMSMasterKeyId", "have length greater than or equal to 1")),
			set("SSESpecificationOverride",
				&types.SSESpecification{Enabled: aws.Bool(true), SSEType: "KMS", KMSMasterKeyId: aws.String("")})),
		refused("no name", "The new table has a name.", api("RestoreTableFromBackup"), broken(null("targetTableName")),
			set("TargetTableName", nil)),
		refused("short name", "The new table's name has three characters at least.", labShapes,
			invalid("TableName must be at least 3 characters long and at most 255 characters long"),
			set("TargetTableName", "")),
		refused("characters of the name", "The new table's name has only certain characters.",
			labRestore+"#ddb-table-100",
			broken(member("'bad name!'", "targetTableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")),
			set("TargetTableName", "bad name!")),

		newCase("over a table", "A table of the name must not be there.", labRestore+"#ddb-table-219", needsBackups,
			expect(backUp("one"), one),
			expect(restore(1, usualTable), "TableAlreadyExistsException: Table already exists: rows")),
		newCase("no backup", "The backup exists.", labRestore+"#ddb-table-273", needsBackups,
			expect(restore(1, "copy"), backupMissing+"01489173575360-00000000")),
		newCase("backup that was deleted", "The backup still exists.", labBackup+"#ddb-backup-005", needsBackups,
			expect(backUp("one"), one), expect(deleteBackup(1), "backup one USER DELETED"),
			expect(restore(1, "copy"), backupMissing+"#1")),
		newCase("from a table", "The ARN of a table is none of a backup.", labRestore+"#ddb-table-273", needsBackups,
			expect(func(w *world) any { return restore(1, "copy", set("BackupArn", *w.arnOf(usualTable)))(w) },
				invalid("Invalid Backup ARN"))),
		newCase("from another account", "A backup of another account is denied.", labRestore+"#ddb-table-273", noTables,
			needsBackups,
			expect(restore(1, "copy", set("BackupArn",
				"arn:aws:dynamodb:us-east-1:123456789012:table/rows/backup/01489173575360-b308cd7d")), deniedToOthers)),
		newCase("from another region", "A table that is restored from another region needs a key.",
			labRestore+"#ddb-table-274", needsBackups,
			expect(backUp("one"), one),
			expect(func(w *world) any {
				return restore(1, "copy", set("BackupArn", inRegion(w.backup(1), "eu-west-1")))(w)
			},
				invalid(refusal+"sseSpecificationOverride must be provided for cross-region restores"))),
	}
}

func recoveryCases() []Case {
	const (
		on35      = "point in time ENABLED for 35 days"
		off       = "point in time DISABLED for 0 days"
		restoring = "; restoring from its past of arn/rows"
		refusal   = "Invalid Request: "
		period    = "pointInTimeRecoverySpecification.recoveryPeriodInDays"
		value     = "Value '%' at '" + period + "' failed to satisfy constraint: Member must have value "
	)
	outside := func(at, from, to string) string {
		return "InvalidRestoreTimeException: RestoreDateTime 'start+" + at +
			"' must be within EarliestRestorableDateTime 'start+" + from +
			"' and LatestRestorableDateTime 'start+" + to + "'"
	}
	bad := func(n, rule string) string { return broken(strings.Replace(value, "%", n, 1) + rule) }
	copied := func(after time.Duration, want string) []part {
		return []part{
			expect(restoreAt(after, "copy"), plainCopy+restoring), expect(scan(on("copy")), want),
			expect(deleteTable(on("copy")), "deleted copy"),
		}
	}
	warm := func(_ *world, in any) {
		if in, ok := in.(*dynamodb.RestoreTableToPointInTimeInput); ok {
			in.GlobalSecondaryIndexOverride[0].WarmThroughput = &types.WarmThroughput{
				ReadUnitsPerSecond: aws.Int64(13000),
			}
		}
	}
	system := "backup rows$DeletedTableBackup SYSTEM AVAILABLE until start+"
	unavailable := "PointInTimeRecoveryUnavailableException: Point in time recovery is not enabled for table 'rows'"
	return []Case{
		newCase("days", "The period is 1 to 35 days.", labRecovery+"#ddb-table-084", needsBackups,
			expect(recovery(true, days(0)), bad("0", "greater than or equal to 1")),
			expect(recovery(true, days(-1)), bad("-1", "greater than or equal to 1")),
			expect(recovery(true, days(36)), bad("36", "less than or equal to 35")),
			expect(recovery(false, days(0)), bad("0", "greater than or equal to 1")),
			expect(recovery(true, days(1)), "point in time ENABLED for 1 days"),
			expect(recovery(true, days(35)), on35)),
		newCase("days of nothing", "Recovery that is turned off has no period.", labRecovery+"#ddb-table-084",
			needsBackups, expect(recovery(false, days(7)),
				invalid(refusal+"Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."))),
		newCase("days are forgotten", "Recovery that was turned off begins with the usual period.",
			labRecovery+"#ddb-table-084", needsBackups,
			expect(recovery(true, days(7)), "point in time ENABLED for 7 days"), expect(recovery(false), off),
			expect(recovery(true), on35)),
		newCase("window",
			"A table can be restored to any second since recovery was turned on, but for the last five minutes.",
			labRestore+"#ddb-table-086", movesClock, needsBackups,
			then(wait(time.Minute)), expect(recovery(true), on35), expect(window(), "from start+1m0s to start+1m0s"),
			then(wait(5*time.Minute)), expect(window(), "from start+1m0s to start+1m0s"),
			then(wait(time.Second)), expect(window(), "from start+1m0s to start+1m1s"),
			then(wait(time.Hour)), expect(window(), "from start+1m0s to start+1h1m1s")),
		newCase("window of days", "A table can be restored as far back as the period says.",
			api("PointInTimeRecoverySpecification"), movesClock, needsBackups,
			expect(recovery(true, days(2)), "point in time ENABLED for 2 days"), then(wait(72*time.Hour)),
			expect(window(), "from start+24h0m0s to start+71h55m0s"),
			expect(recovery(true, days(1)), "point in time ENABLED for 1 days"),
			expect(window(), "from start+48h0m0s to start+71h55m0s")),
		newCase("window of a new beginning", "Recovery that was off begins anew.", docRestores, movesClock,
			needsBackups, expect(recovery(true), on35), then(wait(time.Hour)), expect(recovery(false), off),
			expect(recovery(true), on35), expect(window(), "from start+1h0m0s to start+1h0m0s"),
			expect(restoreAt(30*time.Minute, "copy"), outside("30m0s", "1h0m0s", "1h0m0s"))),

		newCase("to the second", "A table is restored as it was at that second.", api("RestoreTableToPointInTime"),
			movesClock, needsBackups, expect(put(row("a", "1", "v", 1)), ok), expect(recovery(true), on35),
			then(wait(time.Second)), expect(put(row("a", "1", "v", 2)), ok), expect(put(row("a", "2")), ok),
			then(wait(time.Second)), expect(remove(row("a", "1")), ok),
			then(wait(time.Second)), expect(put(row("a", "1", "v", 4)), ok), then(wait(time.Hour))).
			and(copied(0, `1 of 1: {pk: "a", sk: "1", v: 1}`)...).
			and(copied(time.Second, `2 of 2: {pk: "a", sk: "1", v: 2} {pk: "a", sk: "2"}`)...).
			and(copied(2*time.Second, `1 of 1: {pk: "a", sk: "2"}`)...).
			and(copied(3*time.Second, `2 of 2: {pk: "a", sk: "1", v: 4} {pk: "a", sk: "2"}`)...).
			and(copied(time.Minute, `2 of 2: {pk: "a", sk: "1", v: 4} {pk: "a", sk: "2"}`)...).
			and(expect(scan(), `2 of 2: {pk: "a", sk: "1", v: 4} {pk: "a", sk: "2"}`)),
		newCase("transactions are whole", "A restored table has all writes of a transaction or none.",
			api("RestoreTableToPointInTime"), movesClock, needsBackups,
			holding(row("a", "1", "v", 1)), expect(recovery(true), on35), then(wait(time.Minute)),
			expect(transact(actions{remove(row("a", "1")), put(row("b", "1")), put(row("b", "2"))}),
				ok), then(wait(time.Hour))).
			and(copied(59*time.Second, `1 of 1: {pk: "a", sk: "1", v: 1}`)...).
			and(copied(60*time.Second, `2 of 2: {pk: "b", sk: "1"} {pk: "b", sk: "2"}`)...),
		newCase("rows that TTL deleted", "A row that TTL deleted later is there.", docTTLExpired, movesClock,
			needsSweep, needsBackups, expect(updateTTL("ttl", true), "ttl ttl true"), expect(recovery(true), on35),
			expect(after(func(now int64) request { return put(row("a", "1", "ttl", int(now)+60)) }), ok),
			then(wait(2*time.Minute)), then(sweep()),
			expect(scan(), "0 of 0"), then(wait(time.Hour)),
			expect(restoreAt(time.Minute, "copy"), plainCopy+restoring),
			expect(scan(on("copy"), only("sk")), `1 of 1: {sk: "1"}`),
			expect(restoreAt(2*time.Minute, "more"), strings.Replace(plainCopy, "copy", "more", 1)+restoring),
			expect(scan(on("more")), "0 of 0")),
		newCase("latest", "The latest time is five minutes ago.", api("PointInTimeRecoveryDescription"), movesClock,
			needsBackups, expect(recovery(true), on35), then(wait(time.Minute)), expect(put(row("a", "1")), ok),
			then(wait(4*time.Minute)), expect(put(row("a", "2")), ok),
			then(wait(2*time.Minute)), expect(restoreLatest("copy"), plainCopy+restoring),
			expect(scan(on("copy")), `1 of 1: {pk: "a", sk: "1"}`)),
		newCase("latest at once", "A table can be restored at once when recovery is on.", labRestore+"#ddb-table-086",
			needsBackups, expect(recovery(true), on35), expect(restoreLatest("copy"), plainCopy+restoring),
			expect(describeTable(on("copy")), plainCopy)),
		newCase("settings of now", "A restored table has the present settings of its source, and rows of its past.",
			docRestores, movesClock, needsBackups, holding(row("a", "1", "g", "x")), expect(recovery(true), on35),
			then(wait(time.Minute)), expect(put(row("a", "2", "g", "x")), ok),
			expect(updateTable(adding("gsi: g S -> ALL")), "updating rows"), then(wait(time.Hour)),
			expect(restoreAt(0, "copy"), plainCopy+"; gsi (g S HASH) ALL"+restoring),
			expect(query("g = :g", on("copy"), index("gsi"), eventually(), with(attrs{":g": "x"}), only("sk")),
				`1 of 1: {sk: "1"}`)),
		newCase("left behind", "A restored table has no stream, TTL, tags, recovery or protection.",
			labRestore+"#ddb-table-215", inTables(map[string]schema{usualTable: "pk S, sk S | stream: NEW_IMAGE"}),
			needsBackups, expect(updateTTL("ttl", true), "ttl ttl true"), expect(tagTable(tags("k", "v")), ok),
			expect(recovery(true), on35), expect(updateTable(set("DeletionProtectionEnabled", true)), "updating rows"),
			expect(restoreLatest("copy"), plainCopy+restoring), expect(describeTable(on("copy")), plainCopy),
			expect(describeTTL(on("copy")), "ttl DISABLED"),
			expect(listTags(onARN("copy")), "[]"), expect(deleteTable(on("copy")), "deleted copy"),
			expect(listBackups(on("copy"), set("BackupType", "SYSTEM")), "[]"),
			expect(updateTable(set("DeletionProtectionEnabled", false)), "updating rows")),
		newCase("settings to choose", "The settings of a table that is restored to a time can be chosen.",
			api("RestoreTableToPointInTime"), inTables(map[string]schema{usualTable: "pk S, sk S | gsi: g S -> ALL"}),
			needsBackups, expect(recovery(true), on35),
			expect(restoreLatest("copy", set("BillingModeOverride", "PROVISIONED"),
				set("ProvisionedThroughputOverride", units(3, 4)), keptGlobals()),
				"table copy (pk S HASH, sk S RANGE) PROVISIONED 3/4"+restoring)),
		newCase("a warm index", "The warmth of an index cannot be chosen.", api("RestoreTableToPointInTime"),
			inTables(map[string]schema{usualTable: "pk S, sk S | gsi: g S -> ALL"}), needsBackups,
			expect(recovery(true), on35), expect(restoreLatest("copy", keptGlobals("gsi: g S -> ALL"), warm),
				invalid(refusal+"WarmThroughput is not supported for index gsi"))),
		newCase("by ARN", "The source may be named by its ARN.", api("RestoreTableToPointInTime"), needsBackups,
			expect(recovery(true), on35),
			expect(restoreLatest("copy", sourceARN(usualTable, "")), plainCopy+restoring)),

		newCase("too early and too late", "The time is within the window.", labRestore+"#ddb-table-272", movesClock,
			needsBackups, then(wait(time.Hour)), expect(recovery(true), on35), then(wait(time.Hour)),
			expect(restoreAt(time.Hour-time.Second, "copy"), outside("59m59s", "1h0m0s", "1h55m0s")),
			expect(restoreAt(115*time.Minute+time.Second, "copy"), outside("1h55m1s", "1h0m0s", "1h55m0s")),
			expect(restoreAt(3*time.Hour, "copy"), outside("3h0m0s", "1h0m0s", "1h55m0s")),
			expect(describeTable(on("copy")),
				"ResourceNotFoundException: Requested resource not found: Table: copy not found"),
			expect(restoreAt(115*time.Minute, "copy"), plainCopy+restoring)),
		newCase("off", "Recovery is on.", labRestore+"#ddb-table-272", needsBackups,
			expect(restoreLatest("copy"), unavailable)),
		newCase("two times", "There is one time.", labRestore+"#ddb-table-100", needsBackups,
			expect(restoreLatest("copy", set("RestoreDateTime", aws.Time(time.Unix(0, 0)))), invalid(refusal+
				"Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. "+
				"Please specify either RestoreDateTime time or UseLatestRestorableTime"))),
		newCase("no time", "There is a time.", labRestore+"#ddb-table-100", needsBackups,
			expect(restoreLatest("copy", set("UseLatestRestorableTime", false)), invalid(
				refusal+"Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
			)),
			expect(restoreLatest("copy", set("UseLatestRestorableTime", nil)), invalid(
				refusal+"Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
			))),
		newCase("no source", "There is a source.", labRestore+"#ddb-table-272", needsBackups,
			expect(restoreLatest("copy", set("SourceTableName", nil)),
				invalid("The parameter 'TableName' is required but was not present in the request"))),
		newCase("two sources", "There is one source.", labRestore+"#ddb-table-272", needsBackups,
			expect(func(w *world) any { return restoreLatest("copy", set("SourceTableArn", *w.arnOf(usualTable)))(w) },
				invalid(refusal+"Must provide exactly one of: sourceTableArn, sourceTableName"))),
		newCase("missing source", "The source exists.", labRestore+"#ddb-table-100", needsBackups,
			expect(func(w *world) any {
				return restoreLatest(usualTable, set("SourceTableName", w.name("missing")))(w)
			}, "TableNotFoundException: Table not found: missing"),
			expect(restoreLatest("copy", sourceARN("missing", "")),
				"TableNotFoundException: Table not found: missing")),
		newCase("source that is no ARN", "An ARN begins like one.", quirks+"details/DDB-TABLE-442.md", needsBackups,
			expect(restoreLatest("copy", set("SourceTableName", nil), set("SourceTableArn", "rows")),
				badParameter("ARNs must start with 'arn:': rows"))),
		newCase("source of another kind", "The ARN names a table.", labRestore+"#ddb-table-272", needsBackups,
			expect(restoreLatest("copy", set("SourceTableName", nil), set("SourceTableArn", "arn:aws:s3:::bucket")),
				invalid("sourceTableArn is not a valid ARN"))),
		newCase("source of another account", "The source is of the same account.", labRestore+"#ddb-table-272",
			needsBackups, expect(restoreLatest("copy", set("SourceTableName", nil),
				set("SourceTableArn", "arn:aws:dynamodb:us-east-1:123456789012:table/rows")),
				invalid("This action is only supported by accounts that match the resource owner\u2019s account."))),
		newCase("source in another region", "A table that is restored from another region needs a key.",
			labRestore+"#ddb-table-274", needsBackups,
			expect(restoreLatest("copy", sourceARN(usualTable, "eu-west-1")),
				invalid(refusal+"sseSpecificationOverride must be provided for cross-region restores"))),
		newCase("order of checks",
			"The form comes first, then the source, whether recovery is on, the time, and the new name.",
			labRestore+"#ddb-table-100", movesClock, needsBackups,
			expect(restoreLatest("bad name!"), broken(
				"Value 'bad name!' at 'targetTableName' failed to satisfy constraint: Member must satisfy "+
					"regular expression pattern: [a-zA-Z0-9_.-]+",
			)),
			expect(restoreAt(-time.Hour, usualTable), unavailable),
			expect(recovery(true), on35),
			expect(restoreAt(-time.Hour, usualTable), outside("-1h0m0s", "0s", "0s")),
			expect(restoreLatest(usualTable), "TableAlreadyExistsException: Table already exists: rows")),

		newCase("deleted table", "A table with recovery leaves a backup for 35 days, which nobody deletes.",
			labBackup+"#ddb-backup-015", movesClock, needsBackups,
			holding(row("a", "1")), expect(recovery(true), on35), then(wait(time.Second)),
			expect(deleteTable(), "deleted rows"), expect(listBackups(), "[]"),
			expect(listBackups(set("BackupType", "SYSTEM")), "[rows$DeletedTableBackup]"),
			expect(listBackups(set("BackupType", "ALL")), "[rows$DeletedTableBackup]"),
			expect(describeBackup(1), system+"840h0m1s; "+strings.ReplaceAll(plainRows, " S ", " ")),
			expect(deleteBackup(1), invalid(
				refusal+
					"User is not allowed to delete the system backup with arn arn/rows/backup/#1. It will "+
					"automatically expire on start+840h0m1s",
			)),
			expect(restore(1, usualTable), plainRows+"; restoring from #1 of arn/rows"),
			expect(scan(), `1 of 1: {pk: "a", sk: "1"}`),
			then(wait(35*24*time.Hour-time.Second)),
			expect(listBackups(set("BackupType", "SYSTEM")), "[rows$DeletedTableBackup]"),
			then(wait(time.Second)), expect(listBackups(set("BackupType", "SYSTEM")), "[]"),
			expect(describeBackup(1), backupMissing+"#1"), expect(restore(1, "copy"), backupMissing+"#1")),
		newCase("deleted table with indexes", "The backup of a deleted table does not show the settings, and has them.",
			labBackup+"#ddb-backup-015", movesClock, needsBackups,
			inTables(map[string]schema{usualTable: "pk S, sk S | gsi: g S -> ALL | stream: NEW_IMAGE"}),
			holding(row("a", "1", "g", "x")), expect(recovery(true), on35), expect(deleteTable(), "deleted rows"),
			expect(listBackups(set("BackupType", "SYSTEM")), "[rows$DeletedTableBackup]"),
			expect(describeBackup(1), system+"840h0m0s; "+strings.ReplaceAll(plainRows, " S ", " ")),
			expect(restore(1, "copy"), plainCopy+"; gsi (g S HASH) ALL; restoring from #1 of arn/rows"),
			expect(query("g = :g", on("copy"), index("gsi"), eventually(), with(attrs{":g": "x"}), only("sk")),
				`1 of 1: {sk: "1"}`)),
		newCase("deleted table without recovery", "A table without recovery leaves no backup.",
			labBackup+"#ddb-backup-015", needsBackups,
			expect(recovery(true), on35), expect(recovery(false), off), expect(deleteTable(), "deleted rows"),
			expect(listBackups(set("BackupType", "ALL")), "[]")),
	}
}
