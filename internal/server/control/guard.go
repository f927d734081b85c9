package control

import (
	"net/http"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

// CrossSite is a value of the Sec-Fetch-Site header. With this value a browser says that a page of another site made it
// send the request, or that the user followed a link on such a page. Guard needs it, because a browser may send no
// Origin when it asks for an image, a script or a frame.
//
// Source: https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
const CrossSite = "cross-site"

// Guard refuses requests that a foreign web page in a browser may have sent: those with an Origin header, those that
// say CrossSite, and those whose Host is neither an IP address nor localhost nor one of names. It answers with status
// 403. The page of this server may use the control API: its Origin names the same host as the Host header. The package
// documentation says why requests are refused.
func Guard(next http.Handler, names ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Browsers send no empty Origin, but an empty one counts as a header, too.
		if origin, ok := r.Header["Origin"]; ok && !(owns(r.URL.Path) && own(origin, r.Host)) {
			refuse(w, &failure{
				status:   http.StatusForbidden,
				Message:  "a request with an Origin header is a browser's, and no foreign page is a client here",
				Found:    strings.Join(origin, ", "),
				Expected: "no Origin header",
				Hint:     "send requests from a test or with curl",
			})
			return
		}
		if slices.Contains(r.Header["Sec-Fetch-Site"], CrossSite) {
			refuse(w, &failure{
				status: http.StatusForbidden,
				Message: "a page of another site made a browser send this request, and no foreign page is a " +
					"client here",
				Found:    "Sec-Fetch-Site: " + CrossSite,
				Expected: "a request of a program, or of this server's own page",
				Hint:     "to see the server's page, type its address into the browser",
			})
			return
		}
		if !hostname.Local(r.Host, names...) {
			refuse(w, &failure{
				status:   http.StatusForbidden,
				Message:  "this server does not go by that name",
				Found:    hostname.Of(r.Host),
				Expected: strings.Join(append([]string{"an IP address", "localhost"}, names...), " or "),
				Hint:     "use the address that isr-sim serve printed, or start it with --allow-host for this name",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// own reports whether an Origin header names the server that the request goes to. The check of Host decides which names
// are the server's.
func own(origin []string, host string) bool {
	if len(origin) != 1 || host == "" {
		return false
	}
	return origin[0] == "http://"+host || origin[0] == "https://"+host
}
