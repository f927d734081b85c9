// Package wire is the wing of HTTP details that the doors of the fakes share: hosts, bodies, signatures and the seam to a
// server that is not net/http's.
package wire
