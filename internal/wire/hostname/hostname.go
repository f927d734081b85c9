// Package hostname tells names of this machine from others in the Host headers of requests.
//
// A page in a browser can send requests to this machine under a name of its own site, if its name server says so. Such
// a name is refused.
package hostname

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Of returns a Host header without its port, in lower case.
func Of(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// Local reports whether a Host header names this machine: as an IP address, as localhost or by one of names, of
// which OfService stands for several. An address
// needs no name server, and localhost asks none, so that only this machine's user can have made them lead here.
//
// Source: https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func Local(host string, names ...string) bool {
	host = Of(host)
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		slices.ContainsFunc(names, func(name string) bool {
			return name == OfService && service.MatchString(host) || Of(name) == host
		})
}
