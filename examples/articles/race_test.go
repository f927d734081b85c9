//go:build race

package articles

import "flag"

// The race detector makes a check take many times as long: it draws fewer worlds, enough to get everywhere.
func init() {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}
