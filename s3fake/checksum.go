package s3fake

import (
	"crypto/md5"  //nolint:gosec // Content-MD5
	"crypto/sha1" //nolint:gosec // one of the algorithms of the API
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// checksum is the checksum of an object.
type checksum struct {
	algorithm *algorithm
	value     string // in base64
	composite bool   // it is the checksum of the checksums of the parts
}

type algorithm struct {
	name, header string
	new          func() hash.Hash
}

// algorithms are the algorithms that a request may name. The last one is the default.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
var algorithms = []*algorithm{
	{"CRC32", "X-Amz-Checksum-Crc32", func() hash.Hash { return crc32.NewIEEE() }},
	{"CRC32C", "X-Amz-Checksum-Crc32c", func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }},
	{"SHA1", "X-Amz-Checksum-Sha1", sha1.New},
	{"SHA256", "X-Amz-Checksum-Sha256", sha256.New},
	{"CRC64NVME", "X-Amz-Checksum-Crc64nvme", func() hash.Hash { return crc64.New(nvme) }},
}

// nvme has the polynomial of CRC-64/NVME, in reversed bits.
//
// Source: https://reveng.sourceforge.io/crc-catalogue/all.htm#crc.cat.crc-64-nvme
var nvme = crc64.MakeTable(0x9a6c9329ac4bc9b5)

func checksumHeaders() []string {
	headers := []string{"X-Amz-Checksum-Algorithm"}
	for _, a := range algorithms {
		headers = append(headers, a.header)
	}
	return headers
}

func (a *algorithm) sum(body []byte) string {
	h := a.new()
	h.Write(body)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// write puts the checksum into the headers of an answer.
func (c checksum) write(h http.Header) {
	h[c.algorithm.header] = []string{c.value}
	h["X-Amz-Checksum-Type"] = []string{checksumType(c.composite)}
}

func checksumType(composite bool) string {
	if composite {
		return "COMPOSITE"
	}
	return "FULL_OBJECT"
}

// MarshalXML writes a checksum as an element with the name of its algorithm.
func (c checksum) MarshalXML(e *xml.Encoder, _ xml.StartElement) error {
	return e.EncodeElement(c.value, xml.StartElement{Name: xml.Name{Local: "Checksum" + c.algorithm.name}})
}

// algorithmNamed returns the algorithm with a name, or otherwise if the name is "".
func algorithmNamed(name string, otherwise *algorithm) (*algorithm, *apiError) {
	if name == "" {
		return otherwise, nil
	}
	for _, a := range algorithms {
		if strings.EqualFold(a.name, name) {
			return a, nil
		}
	}
	return nil, invalidRequest("Checksum algorithm provided is unsupported. " +
		"Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]")
}

// name returns the algorithm's name.
func (c checksum) name() string { return c.algorithm.name }

// named returns the checksum that a request carries, in a header or in the trailer of its body.
func (in *input) named() (found checksum, err *apiError) {
	for _, a := range algorithms {
		value := in.header.Get(a.header)
		if value == "" {
			value = in.trailer.Get(a.header)
		}
		if value == "" {
			continue
		}
		if found.algorithm != nil {
			return found, invalidRequest(
				"Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.",
			)
		}
		found = checksum{algorithm: a, value: value}
	}
	return found, nil
}

// integrityNamed reports whether a request has a checksum of its body. A DeleteObjects must have one.
func integrityNamed(in *input) bool {
	found, err := in.named()
	return err != nil || found.algorithm != nil || in.header.Get("Content-Md5") != ""
}

// verify compares a body with all that the request says about it. It returns the checksum to keep.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
func verify(in *input) (checksum, *apiError) {
	found, err := in.named()
	if err != nil {
		return found, err
	}
	if text := in.header.Get("Content-Md5"); text != "" {
		want, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(want) != md5.Size {
			return found, errInvalidDigest
		}
		if got := md5.Sum(in.body); string(want) != string(got[:]) {
			return found, badDigest("The Content-MD5 you specified did not match what we received.")
		}
	}
	if want := in.header.Get("X-Amz-Content-Sha256"); len(want) == hex.EncodedLen(sha256.Size) {
		if got := sha256.Sum256(in.body); !strings.EqualFold(want, hex.EncodeToString(got[:])) {
			return found, &apiError{
				status: http.StatusBadRequest, code: "XAmzContentSHA256Mismatch",
				message: "The provided 'x-amz-content-sha256' header does not match what was computed.",
			}
		}
	}
	if found.algorithm == nil {
		last := algorithms[len(algorithms)-1]
		return checksum{algorithm: last, value: last.sum(in.body)}, nil
	}
	sum, decodeErr := base64.StdEncoding.DecodeString(found.value)
	switch {
	case decodeErr != nil || len(sum) != found.algorithm.new().Size():
		return found, invalidRequest("Value for " + strings.ToLower(found.algorithm.header) + " header is invalid.")
	case found.algorithm.sum(in.body) != found.value:
		return found, badDigest("The " + found.algorithm.name + " you specified did not match the calculated checksum.")
	}
	return found, nil
}

// Fingerprint returns the fingerprint of all that later answers can depend on: buckets, objects with their dates and
// headers, and uploads in progress. It ignores the log and the faults.
func (s *Store) Fingerprint() uint64 {
	var sum fingerprint.Hash
	s.mu.Lock()
	defer s.mu.Unlock()
	//isrsim:unordered a sum has no order
	for _, b := range s.buckets {
		of := fingerprint.Hash(1).Text(b.name)
		sum += of.Text(b.region).Number(uint64(b.created.UnixNano()))
		b.objects.Scan(func(key string, o *object) bool {
			sum += printOf(of.Text(key), o.header).Text(string(o.body)).Text(o.etag).
				Number(uint64(o.modified.UnixNano())).
				Text(o.checksum.print()).Text(fmt.Sprint(o.parts))
			return true
		})
		b.uploads.Scan(func(name string, u *upload) bool {
			h := printOf(of.Number(1).Text(name), u.header).Number(uint64(u.begun.UnixNano())).
				Text(checksum{algorithm: u.algorithm, composite: u.composite}.print()).
				Text(fmt.Sprint(u.named, u.overtaken, u.completed))
			u.parts.Scan(func(n int, p *part) bool {
				h = h.Number(uint64(n)).Text(string(p.body)).Text(p.etag).Number(uint64(p.modified.UnixNano())).
					Text(p.checksum)
				return true
			})
			if u.answer != nil {
				h = printOf(h.Number(uint64(u.answer.Status)), u.answer.header).Text(string(u.answer.body))
			}
			sum += h
			return true
		})
	}
	return uint64(sum.Number(uint64(s.uploads)))
}

// String is the buckets with their objects and uploads in progress. It leaves out dates, and what follows from a body.
func (s *Store) String() string {
	var b strings.Builder
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		fmt.Fprintln(&b, "bucket", name)
		s.buckets[name].objects.Scan(func(key string, o *object) bool {
			fmt.Fprintf(&b, "%s %v %s\n", key, o.header, o.body)
			return true
		})
		s.buckets[name].uploads.Scan(func(_ string, u *upload) bool {
			fmt.Fprintln(&b, "upload", u.key, u.header, u.parts.Len())
			return true
		})
	}
	return b.String()
}

// Keep saves the state that Fingerprint covers, and returns a function that restores it.
func (s *Store) Keep() (back func()) {
	was := s.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	uploads := s.uploads
	return func() {
		s.Restore(was)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.uploads = uploads
	}
}

// Detail returns everything about a call that its sender decides.
func (c *Call) Detail() string {
	in := c.in
	if in == nil {
		return c.String()
	}
	sum := printOf(printOf(printOf(0, in.header), in.trailer), http.Header(in.query)).Text(in.region).
		Text(string(in.body))
	return fmt.Sprintf("%s by %s (%x)", c, c.Actor, uint64(sum))
}

// Fingerprint returns the fingerprint of an answer, as its caller sees it.
func (a *Answer) Fingerprint() uint64 {
	if a == nil {
		return 1
	}
	h := printOf(fingerprint.Hash(0).Number(uint64(a.Status)).Text(a.Code), a.header).Text(string(a.body))
	if a.err != nil {
		h = h.Text(fmt.Sprintf("%+v", *a.err))
	}
	return uint64(h)
}

func (c checksum) print() string {
	name := ""
	if c.algorithm != nil {
		name = c.algorithm.name
	}
	return fmt.Sprint(name, c.value, c.composite)
}

// printOf adds headers, whose order does not matter.
func printOf(h fingerprint.Hash, header http.Header) fingerprint.Hash {
	names := make([]string, 0, len(header))
	//isrsim:unordered sorted below
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		h = h.Text(name).Text(fmt.Sprint(header[name]))
	}
	return h
}
