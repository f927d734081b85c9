// Package show has the output for people and machines: the record of a run, pages and pictures of it, words on a
// terminal, and results as JSON, JUnit, SARIF and Markdown. It judges nothing.
package show
