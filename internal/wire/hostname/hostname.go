// Package hostname checks whether the name in the Host header of a request belongs to this machine, and whether a name
// is valid for a bucket.
//
// A page in a browser can send requests to this machine under a name of the page's own site, if the site's name server
// resolves that name to this machine (DNS rebinding). Such a name is refused.
package hostname

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Of returns a Host header without its port, in lower case.
func Of(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// OfNetwork stands, in a list of names, for all names that no public name server knows: names of one label, such as
// services of a compose file, and names under internal, local and test. Only this machine's network can resolve them to
// it.
//
// Source: https://www.rfc-editor.org/rfc/rfc6761#section-6.2
// Source:
// https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en
// (internal)
const OfNetwork = "NAME-OF-THE-NETWORK"

func ofNetwork(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host != "" && (last == host || slices.Contains([]string{"internal", "local", "test"}, last))
}

// Local reports whether a Host header names this machine: as an IP address, as localhost or by one of names. OfService
// and OfNetwork each stand for several names. An address and localhost need no name server, so no web page can forge
// them.
//
// Source: https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func Local(host string, names ...string) bool {
	host = Of(host)
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		slices.ContainsFunc(names, func(name string) bool {
			return name == OfService && service.MatchString(host) || name == OfNetwork && ofNetwork(host) ||
				Of(name) == host
		})
}

// Loopback reports whether only this machine can reach a host: it is localhost or a loopback address. Any other name
// may resolve to anything, and an empty name means every interface.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// OfService stands, in a list of names, for all host names of DynamoDB. Amazon's name servers answer for these names,
// so no web page can make one resolve to this machine; only the machine's user can.
const OfService = "dynamodb.REGION.amazonaws.com"

// service matches the host names of DynamoDB and of DynamoDB Streams. It must not match other names of amazonaws.com,
// under which Amazon's customers have pages.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html
var service = regexp.MustCompile(
	`^((streams\.)?dynamodb(-fips)?|[0-9]{12}\.ddb)\.[a-z]{2}(-[a-z]+)+-[0-9]{1,2}\.amazonaws\.com(\.cn)?$`,
)

// regions are the regions whose host names are in a certificate.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html
const regions = "us-east-1 us-east-2 us-west-1 us-west-2 af-south-1 ap-east-1 ap-east-2 ap-south-1 ap-south-2 " +
	"ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 " +
	"ap-northeast-1 ap-northeast-2 ap-northeast-3 ca-central-1 ca-west-1 eu-central-1 eu-central-2 " +
	"eu-west-1 eu-west-2 eu-west-3 eu-south-1 eu-south-2 eu-north-1 il-central-1 mx-central-1 me-south-1 " +
	"me-central-1 sa-east-1 us-gov-east-1 us-gov-west-1 cn-north-1 cn-northwest-1"

// ServiceNames returns the service's host names in each public region, as in a certificate, where a star stands for one
// label.
func ServiceNames() (names []string) {
	for region := range strings.FieldsSeq(regions) {
		domain := region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			domain += ".cn"
		}
		names = append(names, "dynamodb."+domain, "*.dynamodb."+domain, "*.ddb."+domain, "dynamodb-fips."+domain)
	}
	return names
}

// IsBucket reports whether a name is valid for a bucket of S3. It becomes a part of host names.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
func IsBucket(name string) bool {
	if len(name) < 3 || len(name) > 63 {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-') {
			return false
		}
	}
	edge := func(c byte) bool { return c == '.' || c == '-' }
	if edge(name[0]) || edge(name[len(name)-1]) || strings.Contains(name, "..") {
		return false
	}
	_, err := netip.ParseAddr(name)
	return err != nil
}
