package explore

// AddLine is Add for one file, of which the first line is known.
func (b *Board) AddLine(name, line string, read func() ([]byte, error)) error {
	return b.add(name, read, func() origin { return parseOrigin(line) })
}
