package control

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Guard refuses what a web page in a browser may have sent: requests with an
// Origin header, and those whose Host is neither an IP address nor localhost
// nor one of names. The answer is status 403. See the package documentation
// for why.
func Guard(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An empty Origin is no browser's, and a header all the same.
		if origin, ok := r.Header["Origin"]; ok {
			refuse(w, &failure{
				status:   http.StatusForbidden,
				Message:  "a request with an Origin header is a browser's, and no page is a client here",
				Found:    strings.Join(origin, ", "),
				Expected: "no Origin header",
				Hint:     "send requests from a test or with curl",
			})
			return
		}
		if !Known(r.Host, names...) {
			refuse(w, &failure{
				status:   http.StatusForbidden,
				Message:  "this server does not go by that name",
				Found:    hostname(r.Host),
				Expected: strings.Join(append([]string{"an IP address", "localhost"}, names...), " or "),
				Hint:     "use the address that isr-sim serve printed, or start it with --allow-host for this name",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname returns a Host header without its port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// Known reports whether Guard lets pass a request with this Host header: nobody
// but we can have made such a name lead here. An address needs no name server,
// and localhost asks none.
//
// Source: https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func Known(host string, names ...string) bool {
	host = hostname(host)
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		slices.ContainsFunc(names, func(name string) bool { return hostname(name) == host })
}
