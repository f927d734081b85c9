package nodes

// Ahead says whether a process has begun the actor's next incarnation.
func (g *Program) Ahead(actor string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ahead(actor) >= 0
}
