package s3fake

import (
	"cmp"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"
)

// maxDeletes is the largest number of keys in a DeleteObjects.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
const maxDeletes = 1000

// deleteOne serves DeleteObject. The deletion of a missing object succeeds, unless a condition asks for the object.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html
func (s *Store) deleteOne(b *bucket, c *Call) (*Answer, *apiError) {
	key := c.Keys[0]
	old, _ := b.objects.Get(key)
	if err := deletable(old, key, c.in.header.Get("If-Match")); err != nil {
		return nil, err
	}
	b.delete(key)
	return &Answer{Status: http.StatusNoContent, header: http.Header{}}, nil
}

// deleteObject is the body of a DeleteObjects.
type deleteObject struct {
	Quiet   bool
	Objects []deleteEntry
}

type deleteEntry struct{ Key, ETag string }

// parseDeletes reads the body of a DeleteObjects. It stops at the first object beyond the limit.
func parseDeletes(body []byte) (*deleteObject, *apiError) {
	in := new(deleteObject)
	var one deleteEntry
	err := walkXML(body, "Delete", func(path, text string) *apiError {
		switch path {
		case "Delete/Quiet":
			quiet, err := strconv.ParseBool(cmp.Or(strings.TrimSpace(text), "false"))
			if err != nil {
				return errMalformedXML
			}
			in.Quiet = quiet
		case "Delete/Object/Key":
			one.Key = text
		case "Delete/Object/ETag":
			one.ETag = text
		case "Delete/Object/VersionId":
			if text != "" && text != "null" {
				return unsupported("versions of objects")
			}
		case "Delete/Object/LastModifiedTime", "Delete/Object/Size": // only directory buckets have these
			return unsupported("LastModifiedTime and Size as conditions of DeleteObjects")
		case "Delete/Object":
			if one.Key == "" || len(in.Objects) == maxDeletes {
				return errMalformedXML
			}
			in.Objects = append(in.Objects, one)
			one = deleteEntry{}
		}
		return nil
	})
	if err == nil && len(in.Objects) == 0 {
		err = errMalformedXML
	}
	return in, err
}

// deleteMany serves DeleteObjects. It deletes the keys one after the other, in the order of the request.
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
		b.delete(o.Key)
		if !c.in.deletes.Quiet {
			out.Deleted = append(out.Deleted, deleted{o.Key})
		}
	}
	return document(out), nil
}

// document is an answer in XML.
func document(v any) *Answer {
	body, err := xml.Marshal(v)
	if err != nil { // cannot happen: XML can show all these types
		return refused(errInternal)
	}
	return &Answer{Status: http.StatusOK, header: http.Header{"Content-Type": {"application/xml"}},
		body: append([]byte(xml.Header), body...)}
}
