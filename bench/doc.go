// Package bench compares the speed of the doors of ddbfake with that of the peers that a Go team would use instead:
// DynamoDB Local, dynalite and minidyn. It is a separate module, so that none of them becomes a dependency of isr-sim.
//
//	bash bench/run           # everything in one run on one core: writes docs/COMPARISON.md
//	bash bench/run --check   # and exits 1 if a target is missed
//	bash bench/run --smoke   # each benchmark once, judges and writes nothing
//
// # What is measured
//
// The benchmarks make the four requests of recipe A (package isr), on a table of 1,000 rows, META and LOCK of 500
// pages: the read of META, the put that acquires a lease, the update that refreshes it, and the transaction that
// publishes, which puts META and deletes LOCK. All of them succeed. A pass goes over all pages; before a pass of
// transactions the LOCK rows are put back, which is not measured. Successive passes write different values, so that
// every write changes its row.
//
// BenchmarkDoor calls isr-sim's Go door and minidyn's client in process. BenchmarkSDK calls through the client of the
// SDK: DynamoDB Local over one connection, isr-sim's SDK door, and a transport with canned answers, whose time is the
// cost of the SDK itself. BenchmarkHTTP sends the bytes of the SDK's own requests over eight persistent connections to
// servers in separate processes, and reports the server's processor time per request (cpu-ns/req). Two of the servers
// only give canned answers: their times are the costs of net/http and of fasthttp, on which isr-sim serve is built.
// BenchmarkStart, BenchmarkMemory and BenchmarkSnapshot measure only isr-sim.
//
// # How
//
// cmd/speed starts the servers, warms up those with a just-in-time compiler, and runs the benchmarks several times, in
// rounds, so that a disturbance of some seconds affects both sides of a ratio. The median over the rounds counts.
// Everything runs on one CPU. Without cmd/speed, `go test -bench .` measures what needs no server, and skips the rest.
//
// The output of the benchmarks stays in .cache/bench/output.txt, for benchstat -col /by.
//
// # Fidelity
//
// Package bench compares only speed. TestSameWork asserts that each side does the same work: it compares the answers
// and the remaining rows. The report lists, below the figures, what the peers do not do.
package bench
