package s3fake

import (
	"encoding/xml"
	"strconv"
	"strings"
)

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

// listUploads serves ListMultipartUploads. Uploads are sorted by key, and those of the same key by the time at which
// they began. Uploads of keys with a common prefix are one entry.
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

// count reads a parameter that is a number, such as the largest number of entries of a list. It returns at most the
// number most, and exactly most if the parameter is not given.
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
