// Package yamlfile reads values from files in YAML, with the position of each mistake, and describes in the same pass
// what it would accept. A library parses the YAML; this package finds its meaning. No other package of scenarios knows
// the library.
package yamlfile
