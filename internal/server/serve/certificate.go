package serve

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

// NewCertificate makes a certificate for this machine, for the service's own host names, and for other names or
// addresses by which clients call the server. It is self-signed: a client that trusts its text trusts only this server.
// Its private key is never written to a file.
func NewCertificate(names []string) (certificate *tls.Certificate, text []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	made := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "isr-sim serve"},
		// The clock of a program under test may be years off.
		NotBefore:             time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // some clients trust only those
		MaxPathLenZero:        true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		DNSNames: append([]string{"localhost", "*.localhost", "*.s3.localhost"},
			hostname.ServiceNames()...),
	}
	for _, name := range names {
		name = hostname.Of(name)
		if address, err := netip.ParseAddr(name); err == nil {
			made.IPAddresses = append(made.IPAddresses, address.AsSlice())
		} else {
			made.DNSNames = append(made.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, text, nil
}

// AutoTLS is the value of --tls without a file name.
const AutoTLS = "auto"

// certificate makes the certificate of a server on the given sockets, and writes its text to a file. AutoTLS names the
// file after the first socket. Without --tls the certificate is nil.
func (c *Settings) certificate(sockets []net.Listener) (*tls.Certificate, string, error) {
	if c.TLS == "" {
		return nil, "", nil
	}
	file, err := c.certificateFile(sockets[0].Addr())
	if err != nil {
		return nil, "", err
	}
	names := slices.Clone(c.AllowHosts)
	for _, socket := range sockets {
		if host, _, err := net.SplitHostPort(Reachable(socket.Addr())); err == nil && !hostname.Loopback(host) {
			names = append(names, host)
		}
	}
	certificate, text, err := NewCertificate(names)
	if err != nil {
		return nil, "", mistake.New(fmt.Errorf("--tls: %w", err),
			"--allow-host takes the name of a host, without a port")
	}
	if err := atomicfile.Write(file, text, 0o644); err != nil {
		return nil, "", mistake.New(fmt.Errorf("--tls: %w", err), "--tls=FILE names a file in a folder that is there")
	}
	return certificate, file, nil
}

// certificateFile returns the file for the certificate. It refuses a file that exists and is not a certificate.
func (c *Settings) certificateFile(at net.Addr) (string, error) {
	file := c.TLS
	if file == AutoTLS {
		folder, err := os.UserCacheDir()
		if err == nil {
			folder = filepath.Join(folder, "isr-sim")
			err = os.MkdirAll(folder, 0o700)
		}
		if err != nil {
			return "", mistake.New(fmt.Errorf("--tls: the certificate has no place: %w", err), "--tls=FILE names one")
		}
		_, port, _ := net.SplitHostPort(at.String())
		file = filepath.Join(folder, "serve-"+port+".pem")
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return "", mistake.New(fmt.Errorf("--tls: %w", err), "")
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file, nil
	case err != nil:
		return "", mistake.New(fmt.Errorf("--tls: %w", err), "")
	case !bytes.HasPrefix(text, []byte("-----BEGIN CERTIFICATE-----")):
		return "", mistake.New(
			fmt.Errorf("--tls: found %s, which is no certificate, expected a file that is not there", file), "",
		)
	default:
		return file, nil
	}
}
