package control

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string
)

// page is the page of the server. pagePolicy is its content security policy: the page runs only its own style and
// script, and sends requests only to this server.
var page, pagePolicy = func() (string, string) {
	text := strings.NewReplacer("{{style}}", pageStyle, "{{script}}", pageScript).Replace(pageHTML)
	policy := []string{
		"default-src 'none'", "connect-src 'self'", "style-src " + digest(pageStyle),
		"script-src " + digest(pageScript), "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
	}
	return text, strings.Join(policy, "; ")
}()

// digest returns the hash by which a policy allows a style or a script.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// wantsPage reports whether a request comes from a browser that will display the answer, rather than from curl or an
// SDK, which accept anything.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// html is an answer that is the page.
type html struct{}

func (html) answer(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	w.WriteHeader(http.StatusOK)
	// A failed write means that the caller is gone.
	_, _ = w.Write([]byte(page))
}
