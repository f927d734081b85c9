package good

// A test may visit a map in any order: it fails or passes, and prints nothing that is compared.
func inATest(m map[string]int) (sum int) {
	for _, n := range m {
		sum += n
	}
	return sum
}
