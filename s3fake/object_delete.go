package s3fake

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
)

// maxDeletes is the most keys of a DeleteObjects.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
const maxDeletes = 1000

// deleteOne serves DeleteObject. To delete what is not there is a success, unless a condition asks for it.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html
func (s *Store) deleteOne(b *bucket, c *Call) (*Answer, *apiError) {
	key := c.Keys[0]
	old, _ := b.objects.Get(key)
	if err := deletable(old, key, c.in.header.Get("If-Match")); err != nil {
		return nil, err
	}
	b.objects.Delete(key)
	return &Answer{Status: http.StatusNoContent, header: http.Header{}}, nil
}

// deleteObject is the body of a DeleteObjects.
type deleteObject struct {
	XMLName xml.Name `xml:"Delete"`
	Quiet   bool     `xml:"Quiet"`
	Objects []struct {
		Key       string  `xml:"Key"`
		ETag      string  `xml:"ETag"`
		VersionID string  `xml:"VersionId"`
		Modified  *string `xml:"LastModifiedTime"`
		Size      *string `xml:"Size"`
	} `xml:"Object"`
}

// parseDeletes reads the body of a DeleteObjects.
func parseDeletes(body []byte) (*deleteObject, *apiError) {
	in := new(deleteObject)
	d := xml.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(in); err != nil {
		return nil, errMalformedXML
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errMalformedXML
	}
	if n := len(in.Objects); n == 0 || n > maxDeletes {
		return nil, errMalformedXML
	}
	for _, o := range in.Objects {
		switch {
		case o.Key == "":
			return nil, errMalformedXML
		case o.VersionID != "" && o.VersionID != "null":
			return nil, unsupported("versions of objects")
		case o.Modified != nil || o.Size != nil: // of directory buckets
			return nil, unsupported("LastModifiedTime and Size as conditions of DeleteObjects")
		}
	}
	return in, nil
}

// deleteMany serves DeleteObjects: each key by itself, in the order of the request.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
func (s *Store) deleteMany(b *bucket, c *Call) (*Answer, *apiError) {
	if !integrityNamed(c.in) {
		return nil, invalidRequest("Missing required header for this request: Content-MD5")
	}
	if _, err := verify(c.in); err != nil {
		return nil, err
	}
	type deleted struct {
		Key string `xml:"Key"`
	}
	type failed struct {
		Key     string `xml:"Key"`
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
	}
	out := struct {
		XMLName xml.Name  `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
		Deleted []deleted `xml:"Deleted"`
		Errors  []failed  `xml:"Error"`
	}{}
	for _, o := range c.in.deletes.Objects {
		old, _ := b.objects.Get(o.Key)
		err := checkKey(o.Key)
		if err == nil {
			err = deletable(old, o.Key, o.ETag)
		}
		if err != nil {
			out.Errors = append(out.Errors, failed{o.Key, err.code, err.message})
			continue
		}
		b.objects.Delete(o.Key)
		if !c.in.deletes.Quiet {
			out.Deleted = append(out.Deleted, deleted{o.Key})
		}
	}
	return document(out), nil
}

// document is an answer in XML.
func document(v any) *Answer {
	body, err := xml.Marshal(v)
	if err != nil { // of a type that XML cannot show: there is none
		return refused(errInternal)
	}
	return &Answer{Status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}}, body: append([]byte(xml.Header), body...)}
}
