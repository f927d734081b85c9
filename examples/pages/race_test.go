//go:build race

package pages

import "flag"

// The race detector makes a check take many times as long, so here a check draws fewer worlds: enough to get
// everywhere.
func init() {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}
