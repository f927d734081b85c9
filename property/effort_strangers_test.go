package property

import "github.com/isr-sim/isr-sim/scenario/isr"

// Strangers are the stores that TestEffort measures beside the mutants; they have
// no summary, and need a client of the SDK.
var Strangers func() []isr.Protocol
