// Package wire groups the HTTP details that the doors of the fakes share: hosts, bodies, signatures, and the interface
// to a server other than net/http's.
package wire
