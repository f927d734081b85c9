package s3fake

import (
	"encoding/base64"
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"
)

// maxListed is the maximum number of keys and common prefixes in an answer.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
const maxListed = 1000

// timeFormat is the format of times in XML: whole seconds, with a fraction that is always zero.
const timeFormat = "2006-01-02T15:04:05.000Z"

type listedObject struct {
	Key               string
	LastModified      string
	ETag              string
	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
	Size              int
	Owner             *owner `xml:",omitempty"`
	StorageClass      string
}

type owner struct{ ID string }

// ownerID is the id of the account that also owns ddbfake's tables.
const ownerID = "000000000000"

type commonPrefix struct{ Prefix string }

type listResult struct {
	XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string
	Prefix                string
	Marker                *string `xml:",omitempty"`
	NextMarker            string  `xml:",omitempty"`
	Delimiter             string  `xml:",omitempty"`
	StartAfter            string  `xml:",omitempty"`
	ContinuationToken     string  `xml:",omitempty"`
	NextContinuationToken string  `xml:",omitempty"`
	EncodingType          string  `xml:",omitempty"`
	KeyCount              *int    `xml:",omitempty"`
	MaxKeys               int
	IsTruncated           bool
	Contents              []listedObject
	CommonPrefixes        []commonPrefix
}

// count is the number of keys and common prefixes in the page.
func (l *listResult) count() int { return len(l.Contents) + len(l.CommonPrefixes) }

// listObjects serves ListObjectsV2 and the older ListObjects. Keys are sorted by their UTF-8 bytes.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html
func (s *Store) listObjects(b *bucket, c *Call) (*Answer, *apiError) {
	q, second := c.in.query, c.Operation == "ListObjectsV2"
	if v := q.Get("list-type"); second && v != "2" {
		return nil, invalidArgument("Invalid List Type value in Request", "list-type", v)
	}
	out := &listResult{
		Name: b.name, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), StartAfter: q.Get("start-after"),
		EncodingType: q.Get("encoding-type"),
	}
	var err *apiError
	if out.MaxKeys, err = c.in.count("max-keys", "maxKeys", maxListed); err != nil {
		return nil, err
	}
	encode, err := encoding(out.EncodingType)
	if err != nil {
		return nil, err
	}
	from := listPosition{after: out.StartAfter}
	switch marker := q.Get("marker"); {
	case q.Has("continuation-token"):
		var ok bool
		if from, ok = parseToken(q.Get("continuation-token")); !ok {
			return nil, invalidArgument("The continuation token provided is incorrect", "continuation-token",
				q.Get("continuation-token"))
		}
		out.ContinuationToken = q.Get("continuation-token")
	case !second:
		from = out.position(marker)
	}
	end := out.fill(b, from, q.Get("fetch-owner") == "true" || !second)
	for i := range out.Contents {
		out.Contents[i].Key = encode(out.Contents[i].Key)
	}
	for i := range out.CommonPrefixes {
		out.CommonPrefixes[i].Prefix = encode(out.CommonPrefixes[i].Prefix)
	}
	out.Prefix, out.Delimiter, out.StartAfter = encode(out.Prefix), encode(out.Delimiter), encode(out.StartAfter)
	switch {
	case second:
		out.KeyCount = new(out.count())
		if out.IsTruncated {
			out.NextContinuationToken = end.token()
		}
	default:
		out.Marker = new(encode(q.Get("marker")))
		if out.IsTruncated && out.Delimiter != "" {
			out.NextMarker = encode(end.after + end.past)
		}
	}
	return document(out), nil
}

// listedVersion is an object of a bucket without versions: its only version has the id null.
type listedVersion struct {
	listedObject
	VersionID string `xml:"VersionId"`
	IsLatest  bool
}

type listVersionsResult struct {
	XMLName             xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListVersionsResult"`
	Name                string
	Prefix              string
	KeyMarker           string
	VersionIDMarker     string `xml:"VersionIdMarker"`
	NextKeyMarker       string `xml:",omitempty"`
	NextVersionIDMarker string `xml:"NextVersionIdMarker,omitempty"`
	Delimiter           string `xml:",omitempty"`
	EncodingType        string `xml:",omitempty"`
	MaxKeys             int
	IsTruncated         bool
	Version             []listedVersion
	CommonPrefixes      []commonPrefix
}

// listVersions serves ListObjectVersions, which programs use to empty a bucket: each object is its own latest version.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html
func (s *Store) listVersions(b *bucket, c *Call) (*Answer, *apiError) {
	q := c.in.query
	page, key, version := &listResult{Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter")}, q.Get("key-marker"),
		q.Get("version-id-marker")
	if key == "" && version != "" {
		return nil, invalidArgument("A version-id marker cannot be specified without a key marker.",
			"version-id-marker", version)
	}
	var err *apiError
	if page.MaxKeys, err = c.in.count("max-keys", "maxKeys", maxListed); err != nil {
		return nil, err
	}
	encode, err := encoding(q.Get("encoding-type"))
	if err != nil {
		return nil, err
	}
	end := page.fill(b, page.position(key), true)
	out := &listVersionsResult{
		Name: b.name, Prefix: encode(page.Prefix), KeyMarker: encode(key), VersionIDMarker: version,
		Delimiter: encode(page.Delimiter), EncodingType: q.Get("encoding-type"), MaxKeys: page.MaxKeys,
		IsTruncated: page.IsTruncated,
	}
	if out.IsTruncated {
		out.NextKeyMarker, out.NextVersionIDMarker = encode(end.after+end.past), "null"
	}
	for _, o := range page.Contents {
		o.Key = encode(o.Key)
		out.Version = append(out.Version, listedVersion{listedObject: o, VersionID: "null", IsLatest: true})
	}
	for _, folder := range page.CommonPrefixes {
		out.CommonPrefixes = append(out.CommonPrefixes, commonPrefix{encode(folder.Prefix)})
	}
	return document(out), nil
}

// encoding returns the function that encodes the names in an answer.
func encoding(kind string) (func(string) string, *apiError) {
	switch kind {
	case "":
		return func(s string) string { return s }, nil
	case "url":
		return func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") }, nil
	}
	return nil, invalidArgument("Invalid Encoding Method specified in Request", "encoding-type", kind)
}

// folder returns the common prefix of a key, or "".
func (l *listResult) folder(key string) string {
	rest, ok := strings.CutPrefix(key, l.Prefix)
	if i := strings.Index(rest, l.Delimiter); ok && l.Delimiter != "" && i >= 0 {
		return key[:len(l.Prefix)+i+len(l.Delimiter)]
	}
	return ""
}

// listPosition is where a list continues: after a key, or past all keys with a prefix. The other of the two is "".
type listPosition struct{ after, past string }

// position returns the position of a marker. If the marker lies in a common prefix, the prefix is not listed again; the
// StartAfter of ListObjectsV2 is not a marker.
//
// Source: https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py
// (recorded at the service)
func (l *listResult) position(marker string) listPosition {
	if folder := l.folder(marker); folder != "" {
		return listPosition{past: folder}
	}
	return listPosition{after: marker}
}

// fill collects one page, and returns the position at which the next page begins.
func (l *listResult) fill(b *bucket, from listPosition, owned bool) listPosition {
	if l.MaxKeys == 0 {
		return from
	}
	at := b.objects.Iter()
	for found := at.Seek(max(l.Prefix, from.after, from.past)); found; found = at.Next() {
		key, o := at.Key(), at.Value()
		if !strings.HasPrefix(key, l.Prefix) {
			return from // keys are sorted, so no later key has the prefix
		}
		if key == from.after || from.past != "" && strings.HasPrefix(key, from.past) {
			continue
		}
		if l.count() == l.MaxKeys {
			l.IsTruncated = true
			return from
		}
		if folder := l.folder(key); folder != "" {
			from = listPosition{past: folder}
			l.CommonPrefixes = append(l.CommonPrefixes, commonPrefix{from.past})
			continue
		}
		from = listPosition{after: key}
		entry := listedObject{
			Key: key, LastModified: o.modified.Format(timeFormat), ETag: o.etag, Size: len(o.body),
			StorageClass: "STANDARD", ChecksumAlgorithm: o.checksum.name(),
			ChecksumType: checksumType(o.checksum.composite),
		}
		if owned {
			entry.Owner = &owner{ownerID}
		}
		l.Contents = append(l.Contents, entry)
	}
	return from
}

// token returns the continuation token of a position.
func (p listPosition) token() string {
	text := "k" + p.after
	if p.past != "" {
		text = "p" + p.past
	}
	return base64.URLEncoding.EncodeToString([]byte(text))
}

func parseToken(token string) (p listPosition, ok bool) {
	text, err := base64.URLEncoding.DecodeString(token)
	switch {
	case err != nil || len(text) < 2:
		return p, false
	case text[0] == 'k':
		return listPosition{after: string(text[1:])}, true
	case text[0] == 'p':
		return listPosition{past: string(text[1:])}, true
	}
	return p, false
}

// listParts serves ListParts.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html
func (s *Store) listParts(b *bucket, c *Call) (*Answer, *apiError) {
	u, err := b.uploadOf(c)
	if err != nil {
		return nil, err
	}
	type listed struct {
		PartNumber   int
		LastModified string
		ETag         string
		Size         int
		Checksum     checksum
	}
	out := struct {
		XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListPartsResult"`
		Bucket, Key, UploadId string
		Initiator, Owner      owner
		StorageClass          string
		PartNumberMarker      int
		NextPartNumberMarker  int `xml:",omitempty"`
		MaxParts              int
		IsTruncated           bool
		ChecksumAlgorithm     string
		ChecksumType          string
		Part                  []listed
	}{
		Bucket: b.name, Key: u.key, UploadId: u.id, Initiator: owner{ownerID}, Owner: owner{ownerID},
		StorageClass: "STANDARD", ChecksumAlgorithm: u.algorithm.name, ChecksumType: checksumType(u.composite),
	}
	if out.MaxParts, err = c.in.count("max-parts", "maxParts", maxListed); err != nil {
		return nil, err
	}
	if out.PartNumberMarker, err = c.in.count("part-number-marker", "part-number-marker", maxParts); err != nil {
		return nil, err
	}
	if !c.in.query.Has("part-number-marker") {
		out.PartNumberMarker = 0
	}
	u.parts.Ascend(out.PartNumberMarker+1, func(n int, p *part) bool {
		if len(out.Part) == out.MaxParts {
			out.IsTruncated = true
			return false
		}
		sum := checksum{algorithm: u.algorithm, value: p.checksum}
		out.Part = append(out.Part, listed{n, p.modified.Format(timeFormat), p.etag, len(p.body), sum})
		out.NextPartNumberMarker = n
		return true
	})
	return document(out), nil
}

// listUploads serves ListMultipartUploads. Uploads are sorted by key, then by the time at which they began. Uploads of
// keys with a common prefix are one entry.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html
func (s *Store) listUploads(b *bucket, c *Call) (*Answer, *apiError) {
	type listed struct {
		Key, UploadId     string
		Initiator, Owner  owner
		StorageClass      string
		Initiated         string
		ChecksumAlgorithm string
		ChecksumType      string
	}
	q := c.in.query
	out := struct {
		XMLName            xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListMultipartUploadsResult"`
		Bucket             string
		KeyMarker          string
		UploadIdMarker     string
		NextKeyMarker      string `xml:",omitempty"`
		NextUploadIdMarker string `xml:",omitempty"`
		Prefix             string
		Delimiter          string `xml:",omitempty"`
		EncodingType       string `xml:",omitempty"`
		MaxUploads         int
		IsTruncated        bool
		Upload             []listed
		CommonPrefixes     []commonPrefix
	}{
		Bucket: b.name, KeyMarker: q.Get("key-marker"), UploadIdMarker: q.Get("upload-id-marker"),
		Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), EncodingType: q.Get("encoding-type"),
	}
	encode, err := encoding(out.EncodingType)
	if err == nil {
		out.MaxUploads, err = c.in.count("max-uploads", "maxUploads", maxListed)
	}
	if err != nil {
		return nil, err
	}
	from := out.Prefix
	switch {
	case out.UploadIdMarker != "":
		from = max(from, uploadKey(out.KeyMarker, out.UploadIdMarker+"\x00"))
	case out.KeyMarker != "":
		from = max(from, uploadKey(out.KeyMarker, "\xff"))
	}
	page := &listResult{Prefix: out.Prefix, Delimiter: out.Delimiter}
	passed := page.folder(out.KeyMarker)
	b.uploads.Ascend(from, func(_ string, u *upload) bool {
		folder := page.folder(u.key)
		switch {
		case !strings.HasPrefix(u.key, out.Prefix):
			return false
		case u.answer != nil, folder != "" && folder == passed:
			return true
		case len(out.Upload)+len(out.CommonPrefixes) == out.MaxUploads:
			out.IsTruncated = true
			return false
		case folder != "":
			passed = folder
			out.CommonPrefixes = append(out.CommonPrefixes, commonPrefix{encode(folder)})
			out.NextKeyMarker, out.NextUploadIdMarker = encode(folder), ""
			return true
		}
		out.NextKeyMarker, out.NextUploadIdMarker = encode(u.key), u.id
		out.Upload = append(out.Upload, listed{
			encode(u.key), u.id, owner{ownerID}, owner{ownerID}, "STANDARD", u.begun.Format(timeFormat),
			u.algorithm.name, checksumType(u.composite),
		})
		return true
	})
	if !out.IsTruncated {
		out.NextKeyMarker, out.NextUploadIdMarker = "", ""
	}
	out.KeyMarker, out.Prefix, out.Delimiter = encode(out.KeyMarker), encode(out.Prefix), encode(out.Delimiter)
	return document(out), nil
}

// count reads a numeric parameter, such as the maximum number of entries in a list. The parameter most is the upper
// bound of the result, and the default.
func (in *input) count(parameter, argument string, most int) (int, *apiError) {
	if !in.query.Has(parameter) {
		return most, nil
	}
	text := in.query.Get(parameter)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, invalidArgument("Argument "+argument+" must be an integer between 0 and 2147483647", argument, text)
	}
	return min(int(n), most), nil
}
