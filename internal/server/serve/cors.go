package serve

import (
	"net/http"
	"slices"
)

// cors lets the pages of some origins use what is behind it: it answers what their browsers ask before, and takes the
// headers away by which control.Guard knows a page. With no origins it does nothing.
//
// Source: https://fetch.spec.whatwg.org/#http-cors-protocol
func cors(next http.Handler, origins []string) http.Handler {
	if len(origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header["Origin"]
		if len(origin) != 1 || !slices.Contains(origins, origin[0]) {
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin[0])
		h.Set("Access-Control-Expose-Headers", "x-amzn-RequestId, x-amz-crc32, Date")
		h.Add("Vary", "Origin")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		delete(r.Header, "Origin")
		delete(r.Header, "Sec-Fetch-Site")
		next.ServeHTTP(w, r)
	})
}
