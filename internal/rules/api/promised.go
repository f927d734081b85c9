package api

// Module is the path of this module.
const Module = "github.com/isr-sim/isr-sim"

// Promised are the packages that docs/INSTALL.md makes a promise about. All others are commands, examples, or
// internal.
var Promised = []string{
	"ddbfake", "ddbfake/attr", "fakeclock", "fixtures", "fixtures/ddblocal", "property", "property/bodies",
	"property/gen", "s3fake", "s3fake/sdk", "scenario", "scenario/history", "scenario/invariant", "scenario/isr",
	"scenario/isr/recipe", "scenario/live",
}

// Commands are the folders of programs and of examples: their packages are not imported.
var Commands = []string{"cmd", "examples"}

// Allowed are the hidden types that a promised package may show all the same, each with its reason. The key is a
// Surface.Hidden.
var Allowed = map[string]string{}

// Before is the number of names that each package exported in commit af11106, before the surface was reviewed.
var Before = map[string]int{
	"ddbfake": 205, "ddbfake/attr": 100, "ddbfake/conformance": 58, "ddbfake/conformance/differential": 59,
	"ddbfake/control": 32, "ddbfake/expr": 94, "fakeclock": 40, "fixtures": 4, "fixtures/ddblocal": 15, "property": 15,
	"scenario": 415, "scenario/concurrent": 24, "scenario/history": 82, "scenario/invariant": 60, "scenario/isr": 212,
	"scenario/isr/mutant": 1, "scenario/live": 36, "scenario/sim": 201,
}
