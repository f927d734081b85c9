package hostname

import (
	"regexp"
	"strings"
)

// OfService stands for all host names of DynamoDB in a list of names. Amazon's name servers answer for them, so no page
// can have one lead to this machine: only its user can.
const OfService = "dynamodb.REGION.amazonaws.com"

// service matches the host names of DynamoDB and of DynamoDB Streams. It must not match other names of amazonaws.com,
// under which Amazon's customers have pages.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html
var service = regexp.MustCompile(`^((streams\.)?dynamodb(-fips)?|[0-9]{12}\.ddb)\.[a-z]{2}(-[a-z]+)+-[0-9]{1,2}\.amazonaws\.com(\.cn)?$`)

// regions are those that a certificate has names of.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html
const regions = "us-east-1 us-east-2 us-west-1 us-west-2 af-south-1 ap-east-1 ap-east-2 ap-south-1 ap-south-2 " +
	"ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 " +
	"ap-northeast-1 ap-northeast-2 ap-northeast-3 ca-central-1 ca-west-1 eu-central-1 eu-central-2 eu-west-1 eu-west-2 " +
	"eu-west-3 eu-south-1 eu-south-2 eu-north-1 il-central-1 mx-central-1 me-south-1 me-central-1 sa-east-1 " +
	"us-gov-east-1 us-gov-west-1 cn-north-1 cn-northwest-1"

// ServiceNames returns the service's host names in each public region, as a certificate has them: a star is one label.
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
