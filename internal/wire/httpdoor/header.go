package httpdoor

import "strings"

// HeaderName returns the name of a header as S3 writes it, from its canonical form. Case means nothing in HTTP, but
// boto3 takes the names of an object's metadata as they come, and S3 writes them in lower case.
func HeaderName(canonical string) string {
	switch {
	case canonical == "Etag":
		return "ETag"
	case strings.HasPrefix(canonical, "X-Amz-"):
		return strings.ToLower(canonical)
	}
	return canonical
}
