package bench

import (
	"testing"
	"time"
)

// share is how many requests one iteration of BenchmarkHTTP makes: a part of a pass.
const share = 100

// BenchmarkHTTP compares what a request costs a server, in processor time of its process.
func BenchmarkHTTP(b *testing.B) {
	for _, op := range operations() {
		for _, name := range serverNames {
			b.Run("op="+op.name+"/by="+name, func(b *testing.B) {
				s := find(b, name)
				if s.Lacks == op.name {
					b.Skip(name, " does not have it")
				}
				s.filled(b)
				measureServer(b, s, op)
			})
		}
	}
	// What every server pays that is built on a library, whatever it does.
	for _, library := range []string{"net-http", "fasthttp"} {
		b.Run("op=get/by="+library, func(b *testing.B) {
			measureServer(b, find(b, library), operations()[0])
		})
	}
}

func measureServer(b *testing.B, s *server, op operation) {
	r, requests, locks := dial(b, s), encode(b, s, op.inputs), encode(b, s, putLocks)
	// used returns the server's time for some requests.
	used := func(requests []*wired) time.Duration {
		began, err := processTime(s.PID)
		if err == nil {
			err = r.sendAll(requests)
		}
		ended, endErr := processTime(s.PID)
		if err != nil || endErr != nil {
			b.Fatal(err, endErr)
		}
		return ended - began
	}
	var total time.Duration
	for i := 0; b.Loop(); i++ {
		at := i * share % len(requests)
		if op.takesLocks && i > 0 && at%pages == 0 {
			b.StopTimer()
			used(locks)
			b.StartTimer()
		}
		total += used(requests[at:][:share])
	}
	if op.takesLocks {
		used(locks)
	}
	b.ReportMetric(float64(total)/float64(b.N*share), "cpu-ns/req")
	b.ReportMetric(float64(b.Elapsed())/float64(b.N*share), "ns/req")
	b.ReportMetric(0, "ns/op") // of an iteration: left out
}
