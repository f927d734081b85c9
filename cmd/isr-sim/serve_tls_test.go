package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Without a name, the certificate is in the user's cache folder, under the port of the server.
func TestCertificateFile(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where the cache folder is elsewhere
	c := &serveCommand{tls: tlsAuto}
	for range 2 { // the file of a former run may be there
		certificate, file, err := c.certificate(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443})
		if err != nil || certificate == nil {
			t.Fatal(err)
		}
		within, err := filepath.Rel(cache, file)
		if err != nil || filepath.Base(file) != "serve-8443.pem" || !filepath.IsLocal(within) {
			t.Errorf("got %s in %s, %v", file, cache, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if certificate, file, err := new(serveCommand).certificate(nil); certificate != nil || file != "" || err != nil {
		t.Errorf("without --tls: got %v, %q, %v", certificate, file, err)
	}
}
