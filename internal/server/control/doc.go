/*
Package control is the control API of a DynamoDB fake that runs as a server. Through it a test in any language reads
and moves the clock, sets TTL lag and faults, keeps and restores states, and reads rows and the change log, all with
JSON over HTTP.

# What

[Handler] serves it over a [ddbfake.DB] and the [Clock] that the DB runs on. The command `isr-sim serve` mounts it
under [Prefix], next to [ddbfake.DB.Handler]:

	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	mux := control.Mux(db.Handler(), control.Handler(db, control.Options{Clock: clock}))
	server := httptest.NewServer(control.Guard(mux))
	// curl --json '{"advance":"90s"}' $URL/_isr-sim/clock

The resources, below /_isr-sim:

	GET    /                the resources; to a browser, a page that shows and moves the server's state
	GET    /clock           {"now":"2040-01-01T00:00:00Z","epochSeconds":2208988800,"mode":"manual"}
	POST   /clock           {"advance":"90s"} or {"set":"2040-01-01T01:00:00Z"}: as GET
	GET    /ttl-lag         {"ttlLag":"manual"}
	POST   /ttl-lag         {"ttlLag":"fixed 10m"}: as GET
	GET    /replica-lag     {"replicaLag":"0s"}
	POST   /replica-lag     {"replicaLag":"2s"}: as GET
	GET    /region-lag      {"regionLag":"at-once"}: of global tables
	POST   /region-lag      {"regionLag":"fixed 1s"}: as GET
	GET    /faults          {"faults":["throttled op=PutItem times=2"]}: those that wait
	POST   /faults          {"faults":["response-lost op=UpdateItem"]}: added, all or none; as GET
	DELETE /faults          all dropped; as GET
	GET    /s3/faults       {"faults":["throttled op=PutObject"]}: those of the S3 fake that wait
	POST   /s3/faults       {"faults":["response-lost op=PutObject key=a/*"]}: added, all or none; as GET
	DELETE /s3/faults       all dropped; as GET
	GET    /snapshot        {"snapshots":["empty"]}
	POST   /snapshot        {"name":"empty"}: the state is kept under a name; as GET
	DELETE /snapshot        all dropped; as GET
	POST   /restore         {"name":"empty"}: the state is that one again
	GET    /dump?table=NAME {"tables":[{"region":"us-east-1","name":"cache","settings":{...},"items":[{"pk":{"S":"a"}}]}]}
	POST   /load            what GET /dump answers: loaded, all or none; {"tables":["cache"]}
	POST   /save            {"saved":"db.json"}: the file of serve --data
	GET    /tables          {"tables":[{"address":"cache","keys":["pk"],"ttl":"expires_at","rows":12,...}]}
	GET    /rows?table=NAME {"table":"cache","found":12,"rows":[{"item":{...},"due":null,"deletion":null}]}
	GET    /changes?since=N {"changes":[...],"last":7}: those with a seq above N
	GET    /held            {"held":[{"id":1,"actor":"alice",...}],"neverReleased":[],"neverReleasedCount":0}
	POST   /held            {"count":2,"within":"10s"}: waits until that many are held; as GET
	POST   /release         {"ids":[2,1]}, {"actor":"alice"} or {"all":true}: they take effect, in this order
	POST   /drop            {"ids":[1],"lose":"request"}: no effect; "response": effect, but no answer
	GET    /history         {"events":0,"violations":0,"doubts":0}
	POST   /history         {"kind":"asked","actor":"alice","key":"/home"}, or a list: what clients saw; as GET
	GET    /metrics         {"metrics":[{"name":"ThrottledRequests","region":"us-east-1","dimensions":{...},"sum":2}]}
	POST   /replicate       {"changed":2}: what is under way to other regions arrives
	POST   /roll            {"table":"cache","split":false}: {"open":["shardId-..."]}; its stream gets new shards
	POST   /sweep           {"deleted":2}: TTL deletes what has expired
	GET    /violations      {"checked":["stale-writer"],"changes":7,"violations":0,"doubts":0,"found":[]}

docs/SERVE.md shows each with curl.

# Errors

An error is one JSON object: "error" is a sentence, "found" the value that was sent, "expected" the values that would
have been right, and "hint" the way to mend it. Empty members are left out. The status is 400 for a request that
cannot be read, 403 for one that a browser or a foreign name brought, 404 for a missing resource, table or snapshot,
405 for a method, 409 for a request that the present state does not allow, 413 for a body over 1 MB (16 MB to /load),
and 415 for a body that does not call itself JSON. A request that is refused changes nothing.

# Browsers

The API has no password: every program that reaches it may use it. A web page in the browser of a developer must not
reach it. [Guard] refuses

  - every request with an Origin header, which a browser adds to the requests of a page to another site, and to every
    POST and DELETE: no page is a client here (CSRF) except the server's own, whose origin is the host that it asks;
  - every request with Sec-Fetch-Site: cross-site, which a browser adds where there is no Origin: to the image, script
    or frame of a page of another site, and to a link on it;
  - every request whose Host is a name other than localhost or one that was allowed: if an attacker's name resolves to
    this machine, a browser takes the attacker's page and this server for one site, but the requests carry that name
    (DNS rebinding).

A body must also say Content-Type: application/json. A page cannot send such a body elsewhere without asking first,
and this API does not answer such a question.

# Determinism

Answers are the same bytes for the same state: tables and rows are sorted by name and key, members by name. No request
of this API is a call of the service: it has no number, no fault hits it, and it is not in the change log. The log has
only the deletions by TTL that such a request causes. Nothing here reads real time.

# Limits

Answers of rows and changes are written as they are made, from a snapshot, so that their length takes no memory. Each
waits until [Options].Room has memory for it, and ends when its client has gone.

Time does not go back, except that a restore sets a [Resetter] to the time of its snapshot. At most [MaxSnapshots]
states are kept, and [MaxFaults] faults wait. The change log is kept in memory until a restore cuts it, or as far as
[ddbfake.Options].KeepChanges says: a client that sees "last" fall below its N starts again from 0, and one that sees
a seq above N+1 first has missed those between.
*/
package control
