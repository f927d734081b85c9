/*
Package ddbfake is a DynamoDB in the process of the test: one engine, driven by an injected clock, that answers like
the service, down to the messages.

# What

A [DB] holds tables. Three doors lead to it and give the same answers:

  - [DB.As], the Go door: methods with the signatures of *dynamodb.Client, without JSON;
  - [DB.Client], the SDK door: a real *dynamodb.Client over an in-process transport, for code that wants the SDK
    itself;
  - [DB.Handler], the HTTP door: the DynamoDB JSON 1.0 protocol, for every other language.

[DB.StreamsClient] is the SDK door for DynamoDB Streams; the other two doors serve both APIs. A stream is a view of the
change log, and holds no data of its own.

All doors serve calls as [DB.Do] does, one [Call] at a time. A test also sees and does things that the service does not
offer: it reads rows ([DB.Items]) and every change with its author ([DB.Changes]), chooses when TTL deletes ([Lag],
[DB.Sweep]), injects faults ([DB.Inject]), and keeps, restores and compares states ([DB.Snapshot], [DB.Restore],
[DB.Hash]).

Tables are separate per region ([Call.Region], [Door.In], the Region of an SDK client, the credential scope on the
wire). Methods of the DB take the names of tables in [DefaultRegion], and the ARNs of any tables. An UpdateTable with
ReplicaUpdates makes a table a global one, with a replica in each of several regions. Conditions are judged where the
request is sent, transactions are atomic there only, and the last writer of a row wins. The replicas are the same at any
moment, unless [DB.SetRegionLag] delays writes; then [DB.Replicate] lets them arrive when a test says so.

In a test, [Start] makes a DB that prints its latest requests and its rows if the test fails, and [DB.Put] writes the
rows to begin with. In a bubble of testing/synctest nothing waits in real time, and no goroutine is left behind.

There is no fault that makes a call slow. The engine never waits: a call takes effect when it reaches Do. Delays
belong before it, where a simulator chooses the order of calls or a test holds one back.

	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	client := db.Client()            // or db.As("alice"), or db.Handler()
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{ ... })
	store := yourpkg.NewStore(client)
	db.Inject(ddbfake.Fault{Kind: ddbfake.FaultResponseLost, Op: "PutItem"})
	err = store.Acquire(ctx, "key")  // the lock is taken, but err does not say so
	clock.Advance(time.Hour)
	db.SweepExpired()                // TTL deletes what has expired

# Determinism

The same calls in the same order give the same answers, the same change log and the same hash, in every process. The
clock gives the only time; nothing is random; no result depends on the order of a map. Calls take effect one at a time,
in the order in which they reach Do: a test that needs an order among goroutines has to make it. Options.Conflicts gives
this up: the answers then depend on the calls that overlap in real time.

# Fidelity

Errors carry DynamoDB's exception names and messages, and several errors have the same order as at the service:
parameter constraints, all of them listed; then expressions; then the table's existence; then the key and the item; then
the condition. Rules cite their AWS source. Where AWS documents a rule but not its text, the text is the one that its
clients report. Places where the fake differs on purpose say "Deviation:" in their documentation: tables, streams and
TTL settings are ready at once, and so are the records of a stream; descriptions count rows exactly. A Scan returns
partitions in the service's own order, which AWS does not promise, so no test should.

# Limits

[Operations] lists the supported operations. Everything else, imports and some parameters of tables for example, is
refused with an [UnsupportedError]; nothing is ignored. Backups are part of a DB's state, so a [Snapshot] has them. A
dump, which [DB.Load] reads and isr-sim serve keeps in a file, has neither backups nor the past of a table. A stream has
one open shard, which rolls over every four hours and splits only at the control API, where the service has one for each
partition; records that Options.KeepChanges has dropped count as trimmed, like records that are too old. A transaction
meets a conflict only under Options.Conflicts or by a fault, and an eventually consistent read is behind only under
Options.ReplicaLag or by a fault. Global tables are paid per request; settings of a replica's indexes are refused. One
DB is one account. The change log grows until a Restore cuts it back, unless Options.KeepChanges bounds it.
*/
package ddbfake
