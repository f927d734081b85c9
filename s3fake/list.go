package s3fake

import (
	"encoding/base64"
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"
)

// maxListed is the most keys and common prefixes of an answer.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
const maxListed = 1000

// timeFormat is that of times in XML: whole seconds, with a fraction that is always zero.
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

// ownerID is the id of the account, which is that of ddbfake's tables.
const ownerID = "000000000000"

type commonPrefix struct{ Prefix string }

type listResult struct {
	XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string
	Prefix                string
	Delimiter             string `xml:",omitempty"`
	StartAfter            string `xml:",omitempty"`
	ContinuationToken     string `xml:",omitempty"`
	NextContinuationToken string `xml:",omitempty"`
	EncodingType          string `xml:",omitempty"`
	KeyCount              int
	MaxKeys               int
	IsTruncated           bool
	Contents              []listedObject
	CommonPrefixes        []commonPrefix
}

// listObjects serves ListObjectsV2. Keys are sorted by their UTF-8 bytes.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
func (s *Store) listObjects(b *bucket, c *Call) (*Answer, *apiError) {
	q := c.in.query
	if v := q.Get("list-type"); v != "2" {
		return nil, invalidArgument("Invalid List Type value in Request", "list-type", v)
	}
	out := &listResult{
		Name: b.name, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), StartAfter: q.Get("start-after"),
		EncodingType: q.Get("encoding-type"), MaxKeys: maxListed,
	}
	if q.Has("max-keys") {
		n, err := strconv.ParseInt(q.Get("max-keys"), 10, 32)
		if err != nil || n < 0 {
			return nil, invalidArgument("Argument maxKeys must be an integer between 0 and 2147483647", "maxKeys", q.Get("max-keys"))
		}
		out.MaxKeys = min(int(n), maxListed)
	}
	encode := func(s string) string { return s }
	switch out.EncodingType {
	case "":
	case "url":
		encode = func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "%2F", "/") }
	default:
		return nil, invalidArgument("Invalid Encoding Method specified in Request", "encoding-type", out.EncodingType)
	}
	from := listPosition{after: out.StartAfter}
	if q.Has("continuation-token") {
		var ok bool
		if from, ok = parseToken(q.Get("continuation-token")); !ok {
			return nil, invalidArgument("The continuation token provided is incorrect", "continuation-token", q.Get("continuation-token"))
		}
		out.ContinuationToken = q.Get("continuation-token")
	}
	out.fill(b, from, q.Get("fetch-owner") == "true")
	for i := range out.Contents {
		out.Contents[i].Key = encode(out.Contents[i].Key)
	}
	for i := range out.CommonPrefixes {
		out.CommonPrefixes[i].Prefix = encode(out.CommonPrefixes[i].Prefix)
	}
	out.Prefix, out.Delimiter, out.StartAfter = encode(out.Prefix), encode(out.Delimiter), encode(out.StartAfter)
	return document(out), nil
}

// listPosition is where a list goes on: after a key, or after all keys with a prefix.
type listPosition struct{ after, past string }

// fill collects one page.
func (l *listResult) fill(b *bucket, from listPosition, owned bool) {
	if l.MaxKeys == 0 {
		return
	}
	at := b.objects.Iter()
	for found := at.Seek(max(l.Prefix, from.after, from.past)); found; found = at.Next() {
		key, o := at.Key(), at.Value()
		if !strings.HasPrefix(key, l.Prefix) {
			return // sorted: no later key has it
		}
		if key == from.after || from.past != "" && strings.HasPrefix(key, from.past) {
			continue
		}
		if l.KeyCount == l.MaxKeys {
			l.IsTruncated, l.NextContinuationToken = true, from.token()
			return
		}
		l.KeyCount++
		if i := strings.Index(key[len(l.Prefix):], l.Delimiter); l.Delimiter != "" && i >= 0 {
			from = listPosition{past: key[:len(l.Prefix)+i+len(l.Delimiter)]}
			l.CommonPrefixes = append(l.CommonPrefixes, commonPrefix{from.past})
			continue
		}
		from = listPosition{after: key}
		entry := listedObject{
			Key: key, LastModified: o.modified.Format(timeFormat), ETag: o.etag, Size: len(o.body), StorageClass: "STANDARD",
			ChecksumAlgorithm: o.checksum.name(), ChecksumType: "FULL_OBJECT",
		}
		if owned {
			entry.Owner = &owner{ownerID}
		}
		l.Contents = append(l.Contents, entry)
	}
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
