package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/serve"
)

// tlsAuto is --tls without a file.
const tlsAuto = "auto"

// certificate makes the certificate of a server at an address, and writes its text to a file; nil without --tls.
func (c *serveCommand) certificate(at net.Addr) (*tls.Certificate, string, error) {
	if c.tls == "" {
		return nil, "", nil
	}
	file, err := c.certificateFile(at)
	if err != nil {
		return nil, "", err
	}
	names := c.allowHosts
	if host, _, err := net.SplitHostPort(serve.Reachable(at)); err == nil && !serve.Loopback(host) {
		names = append([]string{host}, names...)
	}
	certificate, text, err := serve.NewCertificate(names)
	if err != nil {
		return nil, "", usage(fmt.Errorf("--tls: %w", err), "--allow-host takes the name of a host, without a port")
	}
	if err := atomicfile.Write(file, text, 0o644); err != nil {
		return nil, "", usage(fmt.Errorf("--tls: %w", err), "--tls=FILE names a file in a folder that is there")
	}
	return certificate, file, nil
}

// certificateFile is where the certificate is written: never in place of another file.
func (c *serveCommand) certificateFile(at net.Addr) (string, error) {
	file := c.tls
	if file == tlsAuto {
		folder, err := os.UserCacheDir()
		if err == nil {
			folder = filepath.Join(folder, "isr-sim")
			err = os.MkdirAll(folder, 0o700)
		}
		if err != nil {
			return "", usage(fmt.Errorf("--tls: the certificate has no place: %w", err), "--tls=FILE names one")
		}
		_, port, _ := net.SplitHostPort(at.String())
		file = filepath.Join(folder, "serve-"+port+".pem")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return "", usage(fmt.Errorf("--tls: %w", err), "")
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file, nil
	case err != nil:
		return "", usage(fmt.Errorf("--tls: %w", err), "")
	case !bytes.HasPrefix(text, []byte("-----BEGIN CERTIFICATE-----")):
		return "", usage(fmt.Errorf("--tls: found %s, which is no certificate, expected a file that is not there", file), "")
	default:
		return file, nil
	}
}
