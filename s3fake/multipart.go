package s3fake

import (
	"cmp"
	"crypto/md5" //nolint:gosec // an ETag is an MD5
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/btree"
)

const (
	// maxParts is the maximum part number.
	//
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
	maxParts = 10_000
	// minPartBytes is the minimum size of a part, except the last one.
	//
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
	minPartBytes = 5 << 20
)

// upload is an object that is uploaded in parts. An upload in a bucket is never modified, so that snapshots can share
// it.
type upload struct {
	key, id   string
	begun     time.Time
	header    http.Header // which a GetObject returns
	algorithm *algorithm
	named     bool // the client has chosen the algorithm
	composite bool // the object's checksum is computed from the parts' checksums
	parts     btree.Map[int, *part]
	overtaken bool // the key was put or deleted after the upload began

	// completed and answer are set once the upload has become an object.
	completed []namedPart
	answer    *Answer
}

type part struct {
	body     []byte
	etag     string
	modified time.Time
	checksum string
}

// namedPart is a part in the list of a CompleteMultipartUpload.
type namedPart struct {
	number   int
	etag     string
	checksum map[string]string // by the algorithm
}

// uploadKey returns a key that sorts the uploads of a bucket by object key, then by the time at which they began.
func uploadKey(key, id string) string { return key + "\x00" + id }

func (b *bucket) uploadOf(c *Call) (*upload, *apiError) {
	id := c.in.query.Get("uploadId")
	u, ok := b.uploads.Get(uploadKey(c.Keys[0], id))
	if !ok || u.answer != nil && c.Operation != "CompleteMultipartUpload" {
		return nil, noSuchUpload(id)
	}
	return u, nil
}

// createUpload serves CreateMultipartUpload.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html
func (s *Store) createUpload(b *bucket, c *Call) (*Answer, *apiError) {
	kept, err := metadata(c.in.header)
	if err != nil {
		return nil, err
	}
	s.uploads++
	u := &upload{key: c.Keys[0], id: fmt.Sprintf("%016x", s.uploads), begun: s.now(), header: kept}
	if err := u.choose(c.in.header.Get("X-Amz-Checksum-Algorithm"),
		c.in.header.Get("X-Amz-Checksum-Type")); err != nil {
		return nil, err
	}
	b.uploads.Set(uploadKey(u.key, u.id), u)
	answer := document(struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ InitiateMultipartUploadResult"`
		Bucket, Key, UploadId string
	}{Bucket: b.name, Key: u.key, UploadId: u.id})
	answer.header["X-Amz-Server-Side-Encryption"] = []string{"AES256"}
	if u.named {
		answer.header["X-Amz-Checksum-Algorithm"] = []string{u.algorithm.name}
		answer.header["X-Amz-Checksum-Type"] = []string{checksumType(u.composite)}
	}
	return answer, nil
}

// choose sets the algorithm of the upload's checksums, and the type of the object's checksum.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
func (u *upload) choose(name, kind string) *apiError {
	if name == "" && kind != "" {
		return invalidRequest(
			"The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
		)
	}
	var err *apiError
	if u.algorithm, err = algorithmNamed(name, algorithms[len(algorithms)-1]); err != nil {
		return err
	}
	u.named, u.composite = name != "", u.algorithm.name != "CRC64NVME"
	if kind == "" {
		return nil
	}
	u.composite = kind == checksumType(true)
	switch {
	case kind != checksumType(u.composite):
		return invalidRequest("Value for x-amz-checksum-type header is invalid.")
	case u.composite && u.algorithm.name == "CRC64NVME", !u.composite && strings.HasPrefix(u.algorithm.name, "SHA"):
		return invalidRequest("The " + kind + " checksum type cannot be used with the " +
			strings.ToLower(u.algorithm.name) +
			" checksum algorithm.")
	}
	return nil
}

// uploadPart serves UploadPart. A part replaces an earlier part with the same number.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html
func (s *Store) uploadPart(b *bucket, c *Call) (*Answer, *apiError) {
	u, err := b.uploadOf(c)
	if err != nil {
		return nil, err
	}
	sum, err := verify(c.in)
	if err != nil {
		return nil, err
	}
	if found, _ := c.in.named(); u.named && found.algorithm != u.algorithm && (found.algorithm != nil || u.composite) {
		actual := "null"
		if found.algorithm != nil {
			actual = strings.ToLower(found.algorithm.name)
		}
		return nil, invalidRequest("Checksum Type mismatch occurred, expected checksum Type: " +
			strings.ToLower(u.algorithm.name) +
			", actual checksum Type: " + actual)
	}
	p, err := s.keepPart(b, u, c, c.in.body)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Etag": {p.etag}, "X-Amz-Server-Side-Encryption": {"AES256"}}
	h[sum.algorithm.header] = []string{sum.value}
	return &Answer{Status: http.StatusOK, header: h}, nil
}

func (s *Store) keepPart(b *bucket, u *upload, c *Call, body []byte) (*part, *apiError) {
	n, err := partNumber(c.in.query.Get("partNumber"))
	if err != nil {
		return nil, err
	}
	p := &part{body: body, etag: etagOf(md5.Sum(body), ""), modified: s.now(), checksum: u.algorithm.sum(body)}
	more := *u
	more.parts = *u.parts.Copy()
	more.parts.Set(n, p)
	b.uploads.Set(uploadKey(u.key, u.id), &more)
	return p, nil
}

// overtake marks the uploads of a key that are in progress: the key was put or deleted.
func (b *bucket) overtake(key string) {
	var underWay []*upload
	b.uploads.Ascend(uploadKey(key, ""), func(_ string, u *upload) bool {
		if u.key == key && u.answer == nil && !u.overtaken {
			underWay = append(underWay, u)
		}
		return u.key == key
	})
	for _, u := range underWay {
		more := *u
		more.parts, more.overtaken = *u.parts.Copy(), true
		b.uploads.Set(uploadKey(u.key, u.id), &more)
	}
}

func partNumber(text string) (int, *apiError) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxParts {
		return 0, invalidArgument("Part number must be an integer between 1 and 10000, inclusive", "partNumber", text)
	}
	return n, nil
}

func etagOf(digest [md5.Size]byte, suffix string) string {
	return `"` + hex.EncodeToString(digest[:]) + suffix + `"`
}

// abortUpload serves AbortMultipartUpload.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html
func (s *Store) abortUpload(b *bucket, c *Call) (*Answer, *apiError) {
	u, err := b.uploadOf(c)
	if err != nil {
		return nil, err
	}
	b.uploads.Delete(uploadKey(u.key, u.id))
	return &Answer{Status: http.StatusNoContent, header: http.Header{}}, nil
}

// parseParts reads the body of a CompleteMultipartUpload. It stops at the first part beyond the limit.
func parseParts(body []byte) (parts []namedPart, err *apiError) {
	var one namedPart
	err = walkXML(body, "CompleteMultipartUpload", func(path, text string) *apiError {
		switch field, _ := strings.CutPrefix(path, "CompleteMultipartUpload/Part/"); field {
		case "PartNumber":
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return errMalformedXML
			}
			one.number = n
		case "ETag":
			one.etag = strings.TrimSpace(text)
		case "CompleteMultipartUpload/Part":
			if one.number == 0 || one.etag == "" || len(parts) == maxParts {
				return errMalformedXML
			}
			parts = append(parts, one)
			one = namedPart{}
		default:
			if name, ok := strings.CutPrefix(field, "Checksum"); ok {
				if one.checksum == nil {
					one.checksum = map[string]string{}
				}
				one.checksum[name] = text
			}
		}
		return nil
	})
	if err == nil && len(parts) == 0 {
		err = errMalformedXML
	}
	return parts, err
}

// completeUpload serves CompleteMultipartUpload: the object is stored whole or not at all. A repetition of the request
// gets the same answer. Even if its condition holds, the request conflicts if the key has changed since the upload
// began, even back to what it was.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
// Source: https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py (409,
// recorded at the service)
//
// Deviation: AWS's page says NoSuchUpload for a completed upload; people who completed an upload twice at the service
// saw it succeed (https://github.com/minio/minio/issues/13318, https://github.com/adobe/S3Mock/issues/2586).
func (s *Store) completeUpload(b *bucket, c *Call) (*Answer, *apiError) {
	u, err := b.uploadOf(c)
	if err != nil {
		return nil, err
	}
	if u.answer != nil {
		same := func(x, y namedPart) bool { return x.number == y.number && x.etag == y.etag }
		if !slices.EqualFunc(u.completed, c.in.parts, same) {
			return nil, noSuchUpload(u.id)
		}
		return u.answer, nil
	}
	old, _ := b.objects.Get(u.key)
	if err := writable(old, u.key, c.in.header); err != nil {
		return nil, err
	}
	if u.overtaken && c.conditional() {
		return nil, conflict(c)
	}
	o, err := u.assemble(c.in.parts)
	if err == nil {
		err = verifyWhole(o, c.in)
	}
	if err != nil {
		return nil, err
	}
	o.modified = s.now()
	b.set(u.key, o)
	answer := document(struct {
		XMLName                     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUploadResult"`
		Location, Bucket, Key, ETag string
		Checksum                    checksum
		ChecksumType                string
	}{
		Location: "http://" + b.name + ".s3.amazonaws.com/" + u.key, Bucket: b.name, Key: u.key, ETag: o.etag,
		Checksum: o.checksum, ChecksumType: checksumType(o.checksum.composite),
	})
	answer.header["X-Amz-Server-Side-Encryption"] = []string{"AES256"}
	b.uploads.Set(uploadKey(u.key, u.id), &upload{key: u.key, id: u.id, completed: c.in.parts, answer: answer})
	return answer, nil
}

func (u *upload) assemble(named []namedPart) (*object, *apiError) {
	o := &object{header: u.header}
	var digests, sums []byte
	if !slices.IsSortedFunc(named, func(x, y namedPart) int { return cmp.Or(x.number-y.number, -1) }) {
		return nil, errPartOrder
	}
	for i, n := range named {
		p, ok := u.parts.Get(n.number)
		if !ok || !matches(n.etag, p.etag) {
			return nil, invalidPart(u.id, n)
		}
		sum, summed := n.checksum[u.algorithm.name]
		switch {
		case summed && sum != p.checksum:
			return nil, invalidPart(u.id, n)
		case !summed && u.composite:
			return nil,
				invalidRequest(fmt.Sprintf("The upload was created using a %s checksum. The complete request "+
					"must include the checksum for each part. It was missing for part %d in the request.",
					strings.ToLower(u.algorithm.name), n.number))
		case i < len(named)-1 && len(p.body) < minPartBytes:
			return nil, entityTooSmall(n, len(p.body))
		}
		digest, _ := hex.DecodeString(strings.Trim(p.etag, `"`))
		raw, _ := base64.StdEncoding.DecodeString(p.checksum)
		digests, sums = append(digests, digest...), append(sums, raw...)
		o.parts = append(o.parts, len(p.body))
	}
	size := 0
	for _, n := range o.parts {
		size += n
	}
	o.body = make([]byte, 0, size)
	for _, n := range named {
		p, _ := u.parts.Get(n.number)
		o.body = append(o.body, p.body...)
	}
	suffix := "-" + strconv.Itoa(len(named))
	o.etag = etagOf(md5.Sum(digests), suffix)
	o.checksum = checksum{algorithm: u.algorithm, composite: u.composite}
	if u.composite {
		o.checksum.value = u.algorithm.sum(sums) + suffix
	} else {
		o.checksum.value = u.algorithm.sum(o.body)
	}
	return o, nil
}

// verifyWhole compares an object with all that its CompleteMultipartUpload says about it.
func verifyWhole(o *object, in *input) *apiError {
	if size := in.header.Get("X-Amz-Mp-Object-Size"); size != "" && size != strconv.Itoa(len(o.body)) {
		return invalidRequest(fmt.Sprintf("The provided 'x-amz-mp-object-size' header value %s does not match what "+
			"was computed: %d",
			size, len(o.body)))
	}
	if kind := in.header.Get("X-Amz-Checksum-Type"); kind != "" && kind != checksumType(o.checksum.composite) {
		return invalidRequest("The upload was created using the " + checksumType(o.checksum.composite) +
			" checksum mode. The complete request must use the same checksum mode.")
	}
	found, err := in.named()
	switch {
	case err != nil:
		return err
	case found.algorithm == nil:
		return nil
	}
	value, _, _ := strings.Cut(o.checksum.value, "-")
	if given, _, _ := strings.Cut(found.value, "-"); found.algorithm != o.checksum.algorithm || given != value {
		return badDigest("The " + strings.ToLower(found.algorithm.name) +
			" you specified did not match the calculated checksum.")
	}
	return nil
}
