package fakeclock

// Waiters returns how many timers, running tickers, sleepers and contexts wait on this clock and its nodes.
func (c *Clock) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queue.len()
}
