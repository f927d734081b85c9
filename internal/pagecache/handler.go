package pagecache

import "github.com/isr-sim/isr-sim/scenario/isr"

// AsHandler turns what New and NewOn return into what a Protocol's New returns: a failed one is no Handler at all, not
// one that holds a nil *Cache.
func AsHandler(c *Cache, err error) (isr.Handler, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}
