package s3fake

import (
	"net/http"
	"strings"
	"time"
)

// readable judges the conditions of a GetObject or HeadObject. It returns 304 or an error, or 0 and nil if the
// conditions hold.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-reads.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html (which header wins)
func (o *object) readable(h http.Header, now time.Time) (status int, err *apiError) {
	if match := h.Get("If-Match"); match != "" {
		if !matches(match, o.etag) {
			return 0, preconditionFailed("If-Match")
		}
	} else if at, ok := httpTime(h.Get("If-Unmodified-Since"), now); ok && o.modified.After(at) {
		return 0, preconditionFailed("If-Unmodified-Since")
	}
	if none := h.Get("If-None-Match"); none != "" {
		if matches(none, o.etag) {
			return http.StatusNotModified, nil
		}
	} else if at, ok := httpTime(h.Get("If-Modified-Since"), now); ok && !o.modified.After(at) {
		return http.StatusNotModified, nil
	}
	return 0, nil
}

// writable judges the conditions of a PutObject. The object o is the present one; nil if there is none.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html (If-None-Match takes only *, If-Match only
// an ETag)
func writable(o *object, key string, h http.Header) *apiError {
	none, match := h.Get("If-None-Match"), h.Get("If-Match")
	switch {
	case none != "" && none != "*":
		return notImplemented("If-None-Match")
	case match == "*", match != "" && none != "":
		return notImplemented("If-Match")
	case none != "" && o != nil:
		return preconditionFailed("If-None-Match")
	case match != "" && o == nil:
		return noSuchKey(key)
	case match != "" && !matches(match, o.etag):
		return preconditionFailed("If-Match")
	}
	return nil
}

// deletable judges the condition of a delete about the ETag: "" is no condition, and * is any ETag.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-deletes.html
func deletable(o *object, key, match string) *apiError {
	switch {
	case match == "" || o != nil && matches(match, o.etag):
		return nil
	case o == nil && match != "*":
		return noSuchKey(key)
	}
	return preconditionFailed("If-Match")
}

// matches reports whether an ETag is in a list, or whether the list is *. Quotes may be missing in the list.
func matches(list, etag string) bool {
	for tag := range strings.SplitSeq(list, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || strings.Trim(tag, `"`) == strings.Trim(etag, `"`) {
			return true
		}
	}
	return false
}

// httpTime reads the time of a condition. A header that cannot be read does not count as a condition, and neither does
// a time in the future.
//
// Source: https://www.rfc-editor.org/rfc/rfc9110#section-13.1.3
// Source: https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py (the
// future, recorded at the service)
func httpTime(text string, now time.Time) (at time.Time, ok bool) {
	at, err := http.ParseTime(text)
	return at, err == nil && !at.After(now)
}
