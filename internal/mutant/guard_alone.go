package mutant

import (
	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// guardAlone is recipe A under one guard.
func guardAlone(name, summary string, g isr.Guards) isr.Protocol {
	return isr.Protocol{Name: name, Summary: summary, Breaks: "stale-writer", New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Guards = g
		return pagecache.AsHandler(pagecache.New(cfg))
	}}
}
