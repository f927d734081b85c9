package s3fake

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// A subresource is a part of a bucket or of an object that has operations of its own: a parameter without a value names
// it. The table has the last part of the operations' names, and the methods: G for Get, P for Put, D for Delete, and L
// for a Get without an id that lists.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
var (
	bucketParts = map[string][2]string{
		"accelerate":          {"BucketAccelerateConfiguration", "GP"},
		"acl":                 {"BucketAcl", "GP"},
		"analytics":           {"BucketAnalyticsConfiguration", "GPDL"},
		"cors":                {"BucketCors", "GPD"},
		"encryption":          {"BucketEncryption", "GPD"},
		"intelligent-tiering": {"BucketIntelligentTieringConfiguration", "GPDL"},
		"inventory":           {"BucketInventoryConfiguration", "GPDL"},
		"lifecycle":           {"BucketLifecycleConfiguration", "GPD"},
		"logging":             {"BucketLogging", "GP"},
		"metrics":             {"BucketMetricsConfiguration", "GPDL"},
		"notification":        {"BucketNotificationConfiguration", "GP"},
		"object-lock":         {"ObjectLockConfiguration", "GP"},
		"ownershipControls":   {"BucketOwnershipControls", "GPD"},
		"policy":              {"BucketPolicy", "GPD"},
		"policyStatus":        {"BucketPolicyStatus", "G"},
		"publicAccessBlock":   {"PublicAccessBlock", "GPD"},
		"replication":         {"BucketReplication", "GPD"},
		"requestPayment":      {"BucketRequestPayment", "GP"},
		"tagging":             {"BucketTagging", "GPD"},
		"versioning":          {"BucketVersioning", "GP"},
		"website":             {"BucketWebsite", "GPD"},
	}
	objectParts = map[string][2]string{
		"acl":        {"ObjectAcl", "GP"},
		"attributes": {"ObjectAttributes", "G"},
		"legal-hold": {"ObjectLegalHold", "GP"},
		"retention":  {"ObjectRetention", "GP"},
		"tagging":    {"ObjectTagging", "GPD"},
		"torrent":    {"ObjectTorrent", "G"},
	}
)

// subresource returns the operation on a subresource, if the request names one. An operation that the fake does not
// have is refused by its name.
func subresource(method string, ofObject bool, in *input) (name string, refusal *apiError, ok bool) {
	verb := map[string]string{http.MethodGet: "Get", http.MethodPut: "Put", http.MethodDelete: "Delete"}[method]
	parts := bucketParts
	if ofObject {
		parts = objectParts
	}
	for _, parameter := range slices.Sorted(maps.Keys(in.query)) {
		part, known := parts[parameter]
		if !known || verb == "" || !strings.Contains(part[1], verb[:1]) {
			continue
		}
		name = verb + part[0]
		switch {
		case verb == "Get" && strings.HasSuffix(part[1], "L") && !in.query.Has("id"):
			name = "List" + part[0] + "s"
		case name == "DeleteBucketLifecycleConfiguration":
			name = "DeleteBucketLifecycle"
		}
		if operations[name] == nil {
			refusal = unsupported("the operation " + name)
		}
		return name, refusal, true
	}
	return "", nil, false
}
