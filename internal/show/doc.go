// Package show is the wing of what a person or a machine reads in the end: the record of a run, pages and pictures of it,
// words on a terminal, and results as JSON, JUnit, SARIF and Markdown. It judges nothing.
package show
