package s3fake

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// Bounds of a body in XML. The bodies of the API are shallow, and a key has at most 1,024 bytes. Each of these bytes
// may take a dozen bytes in XML. Without bounds, the elements and attributes of a body could take a hundred times as
// much memory as the body.
const (
	maxXMLDepth = 8
	maxXMLToken = 2 << 20
)

// walkXML reads a body whose root has the given name. At the end of each element it calls the function each with the
// path from the root, such as "Delete/Object/Key", and with the text directly in the element. It stops at the first
// refusal.
func walkXML(body []byte, root string, each func(path, text string) *apiError) *apiError {
	bytesOf := &tokenReader{Reader: bytes.NewReader(body)}
	d := xml.NewDecoder(bytesOf)
	var path []string
	texts := make([]strings.Builder, maxXMLDepth)
	for rooted := false; ; {
		bytesOf.left = maxXMLToken
		token, err := d.Token()
		if errors.Is(err, io.EOF) && rooted && len(path) == 0 {
			return nil
		}
		if text, ok := token.(xml.CharData); ok && len(path) == 0 && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err != nil || rooted && len(path) == 0 {
			return errMalformedXML
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(path) == maxXMLDepth || !rooted && token.Name.Local != root {
				return errMalformedXML
			}
			rooted = true
			texts[len(path)].Reset()
			path = append(path, token.Name.Local)
		case xml.CharData:
			if len(path) > 0 {
				texts[len(path)-1].Write(token)
			}
		case xml.EndElement:
			if refusal := each(strings.Join(path, "/"), texts[len(path)-1].String()); refusal != nil {
				return refusal
			}
			path = path[:len(path)-1]
		}
	}
}

// tokenReader reads one token. The token may still have at most left bytes.
type tokenReader struct {
	*bytes.Reader
	left int
}

var errTokenTooLong = errors.New("a token is too long")

// ReadByte reads a byte.
func (r *tokenReader) ReadByte() (byte, error) {
	if r.left--; r.left < 0 {
		return 0, errTokenTooLong
	}
	return r.Reader.ReadByte()
}
