package pagecache

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// withDefaults fills in the defaults and checks the rest.
func withDefaults(c isr.Config) (isr.Config, error) {
	if c.Client == nil || c.Clock == nil || c.Bodies == nil || c.Render == nil || c.Tokens == nil || c.Table == "" {
		return c, errors.New("isr: Config needs Client, Clock, Bodies, Render, Tokens and Table")
	}
	err := cmp.Or(
		byDefault("Lease", &c.Lease, 30*time.Second),
		byDefault("Revalidate", &c.Revalidate, time.Minute),
		byDefault("Retention", &c.Retention, 24*time.Hour),
		byDefault("TTLBuffer", &c.TTLBuffer, time.Hour),
		byDefault("Poll", &c.Poll, time.Second),
	)
	if err != nil {
		return c, err
	}
	if c.Revalidate%time.Second != 0 {
		return c, fmt.Errorf("isr: Config.Revalidate is %v, expected whole seconds: the row holds no fractions",
			c.Revalidate)
	}
	if c.Patience < 0 {
		return c, fmt.Errorf("isr: Config.Patience is %d, expected 0 (for the default) or more", c.Patience)
	}
	if c.Patience == 0 {
		c.Patience = 10
	}
	return c, nil
}

// buffer is TTLBuffer in whole seconds, rounded up.
func buffer(c *isr.Config) EpochSeconds { return Ceil(time.Unix(0, int64(c.TTLBuffer))) }

// pageTTL is the ttl of the rows of a page that is fresh until the given time.
func pageTTL(c *isr.Config, freshUntil EpochSeconds) EpochSeconds {
	return Ceil(freshUntil.Time().Add(c.Retention)) + buffer(c)
}

// byDefault replaces a zero duration by its default, and refuses a negative one.
func byDefault(name string, d *time.Duration, byItself time.Duration) error {
	if *d < 0 {
		return fmt.Errorf("isr: Config.%s is %v, expected 0 (for the default) or more", name, *d)
	}
	if *d == 0 {
		*d = byItself
	}
	return nil
}
