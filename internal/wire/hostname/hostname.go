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

// OfNetwork stands, in a list of names, for all that no public name server answers for: those of one label, as the
// services of a compose file have, and those under internal, local and test. Only the network of this machine can have
// them lead here.
//
// Source: https://www.rfc-editor.org/rfc/rfc6761#section-6.2
// Source: https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en (internal)
const OfNetwork = "NAME-OF-THE-NETWORK"

func ofNetwork(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host != "" && (last == host || slices.Contains([]string{"internal", "local", "test"}, last))
}

// Local reports whether a Host header names this machine: as an IP address, as localhost or by one of names, of
// which OfService and OfNetwork stand for several. An address
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
			return name == OfService && service.MatchString(host) || name == OfNetwork && ofNetwork(host) || Of(name) == host
		})
}
