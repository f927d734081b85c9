// Package server groups the packages of `isr-sim serve`: the listener with its limits, the control API below
// /_isr-sim/, and the requests that a test holds.
package server
