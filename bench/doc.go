// Package bench compares the speed of the doors of ddbfake with that of the peers that a Go team would use instead:
// DynamoDB Local, dynalite and minidyn. It is a module of its own, so that none of them becomes a dependency of
// isr-sim.
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
// transactions the LOCK rows are put back, which is not measured. Two passes in a row write different values, so that
// every write changes its row.
//
// BenchmarkDoor calls isr-sim's Go door and minidyn's client in the process. BenchmarkSDK calls through the client of
// the SDK: DynamoDB Local over one connection, isr-sim's SDK door, and a transport with canned answers, whose time is
// the cost of the SDK itself. BenchmarkHTTP sends the bytes of the SDK's own requests over eight kept connections to
// servers that run as processes of their own, and reports the processor time that the server has used for one request
// (cpu-ns/req). Two of the servers only give canned answers: their times are the costs of net/http and of fasthttp, on
// which isr-sim serve is built. BenchmarkStart, BenchmarkMemory and BenchmarkSnapshot look at isr-sim alone.
//
// # How
//
// cmd/speed starts the servers, warms up the ones that compile while they run, and runs the benchmarks several times,
// in rounds, so that a disturbance of some seconds hits both sides of a ratio. The median over the rounds counts.
// Everything runs on one CPU. Without cmd/speed, `go test -bench .` measures what needs no server, and skips the rest.
//
// The output of the benchmarks is left in .cache/bench/output.txt, for benchstat -col /by.
//
// # Fidelity
//
// Package bench compares speed only. TestSameWork asserts that each side does the same work: the answers, and the rows
// that are left. The report says, below the figures, what
// the peers do not do.
package bench
