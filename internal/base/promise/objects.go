package promise

// Objects lists the conditions that a store with the interface of S3 ignores, each as an operation and a header.
type Objects []string

// Ignores reports whether the store ignores a condition of a request. missing means that the object does not exist.
func (o Objects) Ignores(operation, header string, missing bool) bool {
	for _, of := range o {
		if of == operation+" "+header || missing && of == operation+" "+header+" missing" {
			return true
		}
	}
	return false
}

// AWS is the store that ignores no condition.
const AWS = "aws"

// objects are the known stores, each with the source of its deviations. A newer version may have none.
var objects = []struct {
	name, source string
	ignores      Objects
}{
	{AWS, "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html", nil},
	{"digitalocean", "https://github.com/denoland/celld/issues/137", Objects{"PutObject If-Match"}},
	{"hetzner", "https://github.com/benbjohnson/litestream/pull/1509", Objects{"DeleteObject If-Match"}},
	{"incus", "https://github.com/lxc/incus/issues/3651", Objects{"PutObject If-None-Match"}},
	{"minio", "https://github.com/minio/minio/issues/21526 and https://github.com/pgsty/silo/issues/10",
		Objects{"PutObject If-Match missing", "DeleteObject If-Match"}},
}

// ObjectStores returns the names of the known stores.
func ObjectStores() (names []string) {
	for _, o := range objects {
		names = append(names, o.name)
	}
	return names
}

// ObjectsOf returns the conditions that a store ignores, by its name; "" and unknown names are AWS.
func ObjectsOf(name string) Objects {
	for _, o := range objects {
		if o.name == name {
			return o.ignores
		}
	}
	return nil
}
