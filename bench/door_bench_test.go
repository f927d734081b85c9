package bench

import (
	"testing"

	minidyn "github.com/truora/minidyn/aws-v2/client"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// inProcess are the fakes that a Go program calls without a socket and without JSON.
var inProcess = []struct {
	name string
	open func() client
}{
	{"isr-sim", func() client { return ddbfake.New(ddbfake.Options{}).As("benchmark") }},
	{"minidyn", func() client { return minidyn.NewClient() }},
}

// BenchmarkDoor compares fakes in the process.
func BenchmarkDoor(b *testing.B) {
	for _, op := range operations() {
		for _, side := range inProcess {
			b.Run("op="+op.name+"/by="+side.name, func(b *testing.B) {
				c := filled(b, side.open())
				measure(b, c, c, op)
			})
		}
	}
}
