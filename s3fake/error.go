package s3fake

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// apiError is an error of the service, with further elements besides code and message.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList (codes and statuses)
type apiError struct {
	status        int
	code, message string
	details       []detail
}

type detail struct{ name, value string }

// with returns the error with one more element.
func (e *apiError) with(name, value string) *apiError {
	added := *e
	added.details = append(slices.Clone(e.details), detail{name, value})
	return &added
}

// xml returns the body of an answer.
func (e *apiError) xml(requestID string) []byte {
	var b strings.Builder
	b.WriteString(xml.Header + "<Error>")
	element := func(name, value string) {
		b.WriteString("<" + name + ">")
		_ = xml.EscapeText(&b, []byte(value)) // a Builder takes everything
		b.WriteString("</" + name + ">")
	}
	element("Code", e.code)
	element("Message", e.message)
	for _, d := range e.details {
		element(d.name, d.value)
	}
	element("RequestId", requestID)
	element("HostId", hostID)
	b.WriteString("</Error>")
	return []byte(b.String())
}

// hostID is in every error.
const hostID = "isr-sim"

func newError(status int, code, message string) *apiError {
	return &apiError{status: status, code: code, message: message}
}

func noSuchKey(key string) *apiError {
	return newError(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.").with("Key", key)
}

// copied returns the error with the header's name in a copy.
func (e *apiError) copied() *apiError {
	renamed := *e
	renamed.details = slices.Clone(e.details)
	for i, d := range renamed.details {
		if d.name == "Condition" {
			renamed.details[i].value = "x-amz-copy-source-" + d.value
		}
	}
	return &renamed
}

func noSuchBucket(bucket string) *apiError {
	return newError(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist").
		with("BucketName", bucket)
}

// preconditionFailed names the header whose condition did not hold.
func preconditionFailed(header string) *apiError {
	return newError(http.StatusPreconditionFailed, "PreconditionFailed",
		"At least one of the pre-conditions you specified did not hold").with("Condition", header)
}

// conflict is the answer to a conditional write if the key has changed before it or at the same time.
func conflict(c *Call) *apiError {
	header := "If-Match"
	if c.in.header.Get(header) == "" {
		header = "If-None-Match"
	}
	return errConflict.with("Condition", header).with("Key", c.Keys[0])
}

// notImplemented is the answer to a header that the service does not accept in this operation or with this value.
func notImplemented(header string) *apiError {
	return newError(http.StatusNotImplemented, "NotImplemented",
		"A header you provided implies functionality that is not implemented").with("Header", header)
}

// unsupported is the answer to a request that the service supports and the fake does not. Nobody can mistake it for a
// success.
func unsupported(what string) *apiError {
	return newError(http.StatusNotImplemented, "NotImplemented", "isr-sim: the S3 fake does not have "+what)
}

func invalidArgument(message, name, value string) *apiError {
	return badRequest("InvalidArgument", message).with("ArgumentName", name).with("ArgumentValue", value)
}

func invalidRequest(message string) *apiError { return badRequest("InvalidRequest", message) }

func badDigest(message string) *apiError { return badRequest("BadDigest", message) }

func invalidRange(asked string, size int) *apiError {
	return newError(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is not satisfiable").
		with("RangeRequested", asked).with("ActualObjectSize", strconv.Itoa(size))
}

func noSuchUpload(id string) *apiError {
	return newError(http.StatusNotFound, "NoSuchUpload", "The specified upload does not exist. The upload ID may be "+
		"invalid, or the upload may have been aborted or completed.").with("UploadId", id)
}

func invalidPart(uploadID string, n namedPart) *apiError {
	return badRequest("InvalidPart", "One or more of the specified parts could not be found.  The part may not have "+
		"been uploaded, or the specified entity tag may not match the part's entity tag.").
		with("UploadId", uploadID).with("PartNumber", strconv.Itoa(n.number)).with("ETag", strings.Trim(n.etag, `"`))
}

func entityTooSmall(n namedPart, size int) *apiError {
	return badRequest("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size").
		with("ProposedSize", strconv.Itoa(size)).with("MinSizeAllowed", strconv.Itoa(minPartBytes)).
		with("PartNumber", strconv.Itoa(n.number)).with("ETag", strings.Trim(n.etag, `"`))
}

// noSuchPart is the error for a part number that an object lacks.
func noSuchPart(asked, parts int) *apiError {
	return newError(http.StatusRequestedRangeNotSatisfiable, "InvalidPartNumber",
		"The requested partnumber is not satisfiable").
		with("PartNumberRequested", strconv.Itoa(asked)).with("ActualPartCount", strconv.Itoa(parts))
}

// chunkTooSmall is the error for a short chunk that is not the last.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html (at least 8 KB, except the last one)
func chunkTooSmall(chunk int, size uint64) *apiError {
	return newError(http.StatusForbidden, "InvalidChunkSizeError",
		"Only the last chunk is allowed to have a size less than 8192 bytes").
		with("Chunk", strconv.Itoa(chunk)).with("BadChunkSize", strconv.FormatUint(size, 10))
}

func keyTooLong(size int) *apiError {
	return badRequest("KeyTooLongError", "Your key is too long").
		with("Size", strconv.Itoa(size)).with("MaxSizeAllowed", strconv.Itoa(maxKeyBytes))
}

func badRequest(code, message string) *apiError {
	return newError(http.StatusBadRequest, code, message)
}

var (
	errMalformedXML = badRequest("MalformedXML",
		"The XML you provided was not well-formed or did not validate against our published schema")
	errInvalidURI       = badRequest("InvalidURI", "Couldn't parse the specified URI.")
	errMethodNotAllowed = newError(http.StatusMethodNotAllowed, "MethodNotAllowed",
		"The specified method is not allowed against this resource.")
	errEntityTooLarge = badRequest("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
	errIncompleteBody = badRequest("IncompleteBody",
		"You did not provide the number of bytes specified by the Content-Length HTTP header")
	errNoLength = newError(http.StatusLengthRequired, "MissingContentLength",
		"You must provide the Content-Length HTTP header.")
	errMalformedTrailer = badRequest("MalformedTrailerError",
		"The request contained trailing data that was not well-formed or did not conform to our published schema.")
	errPartOrder = badRequest("InvalidPartOrder",
		"The list of parts was not in ascending order. Parts must be ordered by part number.")
	errCopyToItself = invalidRequest("This copy request is illegal because it is trying to copy an object to " +
		"itself without changing the object's metadata, storage class, website redirect location or encryption " +
		"attributes.")
	errInvalidDigest  = badRequest("InvalidDigest", "The Content-MD5 you specified was invalid.")
	errBucketNotEmpty = newError(http.StatusConflict, "BucketNotEmpty", "The bucket you tried to delete is not empty")
	errInvalidBucket  = badRequest("InvalidBucketName", "The specified bucket is not valid.")
	errBucketOwned    = newError(http.StatusConflict, "BucketAlreadyOwnedByYou",
		"Your previous request to create the named bucket succeeded and you already own it.")
	errMetadataTooLarge = badRequest("MetadataTooLarge",
		"Your metadata headers exceed the maximum allowed metadata size")
	errLocation = badRequest("InvalidLocationConstraint", "The specified location-constraint is not valid")

	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html (503 Slow Down)
	errSlowDown = newError(http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	errInternal = newError(http.StatusInternalServerError, "InternalError",
		"We encountered an internal error. Please try again.")
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html (409)
	errConflict = newError(http.StatusConflict, "ConditionalRequestConflict",
		"The conditional request cannot succeed due to a conflicting operation against this resource.")
)

// Bounds of a body in XML. The bodies of the API are shallow, and a key has at most 1,024 bytes. Each byte of a key may
// take a dozen bytes in XML. Without bounds, the elements and attributes of a body could take a hundred times the
// body's memory.
const (
	maxXMLDepth = 8
	maxXMLToken = 2 << 20
)

// walkXML reads a body whose root has the given name. At the end of each element it calls each with the path from the
// root, such as "Delete/Object/Key", and with the text directly in the element. It stops at the first refusal.
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

// tokenReader reads one token. left is the number of bytes that the token may still have.
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
