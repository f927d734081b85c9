package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"time"

	"github.com/isr-sim/isr-sim/internal/hostname"
)

// NewCertificate makes a certificate for this machine, for the service's own host names, and for other names or
// addresses by which clients call the server. It is signed by itself: a client that is given its text trusts this server
// and no other. The key stays in memory.
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
		// A program under test may have a clock that is years off.
		NotBefore:             time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // some clients trust no other certificates
		MaxPathLenZero:        true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		DNSNames:              append([]string{"localhost", "*.localhost"}, hostname.ServiceNames()...),
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
