package ddbfake

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Limits on the tags of a table. Lengths are in characters.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html
//
// Deviation: the service also limits the bytes of all tags together. AWS does not say how they are counted.
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

// tagResource serves TagResource: it adds tags and changes the values of existing ones, all or none.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TagResource.html
//
// Deviation: the tags appear at once, and the next call may change them. At the service they appear after a second or
// two, and further changes are refused meanwhile. The body of the answer is {}; the service's is empty.
func (db *DB) tagResource(r *request, in *dynamodb.TagResourceInput) (*dynamodb.TagResourceOutput, error) {
	arn, err := parseTableARN(r, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.Tags) == 0 {
		return nil, invalid("Atleast one Tag needs to be provided as Input.")
	}
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	t, err := db.taggedTable(arn)
	if err != nil {
		return nil, err
	}
	tags := withTags(t.tags, in.Tags)
	if len(tags) > maxTags {
		return nil, tooManyTags()
	}
	t.changeSettings()
	t.tags = tags
	return &dynamodb.TagResourceOutput{}, nil
}

// untagResource serves UntagResource. Removing a missing tag succeeds.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UntagResource.html
func (db *DB) untagResource(r *request, in *dynamodb.UntagResourceInput) (*dynamodb.UntagResourceOutput, error) {
	arn, err := parseTableARN(r, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if len(in.TagKeys) == 0 {
		return nil, invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	for i := range in.TagKeys {
		if err := checkTagKey(&in.TagKeys[i]); err != nil {
			return nil, err
		}
	}
	if len(in.TagKeys) > maxTags {
		return nil, tooManyTags()
	}
	t, err := db.taggedTable(arn)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(t.tags)
	for _, key := range in.TagKeys {
		delete(tags, key)
	}
	t.changeSettings()
	t.tags = tags
	return &dynamodb.UntagResourceOutput{}, nil
}

// listTagsOfResource serves ListTagsOfResource: all tags in one page, sorted by key. The service, too, answers the
// maximum of 50 tags in one page.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTagsOfResource.html
func (db *DB) listTagsOfResource(
	r *request, in *dynamodb.ListTagsOfResourceInput,
) (*dynamodb.ListTagsOfResourceOutput, error) {
	arn, err := parseTableARN(r, in.ResourceArn)
	if err != nil {
		return nil, err
	}
	if in.NextToken != nil { // no page has a token
		return nil, &UnsupportedError{Operation: "ListTagsOfResource", Parameter: "NextToken"}
	}
	t, err := db.taggedTable(arn)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.ListTagsOfResourceOutput{Tags: []types.Tag{}}
	for _, key := range sortedKeys(t.tags) {
		out.Tags = append(out.Tags, types.Tag{Key: aws.String(key), Value: aws.String(t.tags[key])})
	}
	return out, nil
}

// parseTableARN checks a ResourceArn and returns it. The table need not exist. The texts are the service's.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md
// (DDB-TABLE-071, DDB-BACKUP-013)
// Source: https://github.com/ExtendDB/extenddb/pull/227 (the error for each part of an ARN)
func parseTableARN(r *request, resource *string) (string, error) {
	if resource == nil {
		return "", invalid("Invalid TableArn")
	}
	const prefix = "One or more parameter values were invalid: "
	arn := *resource
	parts := strings.SplitN(arn, ":", 6)
	if parts[0] != "arn" || len(parts) == 1 {
		return "", invalid("%sARNs must start with 'arn:': %s", prefix, arn)
	}
	missing := [...]string{2: "Second colon partition", 3: "Third colon vendor",
		4: "Fourth colon (region/namespace delimiter)", 5: "Fifth colon (namespace/relative-id delimiter)"}
	if len(parts) < 6 {
		return "", invalid("%s%s not found: %s", prefix, missing[len(parts)], arn)
	}
	if parts[2] != "dynamodb" || parts[4] != account {
		return "", accessDenied()
	}
	name, isTable := strings.CutPrefix(parts[5], "table/")
	_, below, _ := strings.Cut(name, "/")
	switch {
	case parts[3] != r.region:
		return "", invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
	case isTable && strings.HasPrefix(below, "index/"):
		return "", invalid(
			"%sInvalid resource arn provided, only table or stream is accepted. Provided resource arn: %s", prefix, arn,
		)
	case !isTable, strings.HasPrefix(below, "backup/"):
		return "", invalid("%sProvided Arn is not a DynamoDB resource arn: %s", prefix, arn)
	case below == "" && !plainTableName(name):
		return "", invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
	}
	return arn, nil
}

// taggedTable finds a table by an ARN that parseTableARN has accepted.
func (db *DB) taggedTable(arn string) (*table, error) {
	if t := db.state.at(arn); t != nil {
		return t, nil
	}
	return nil, resourceNotFound("Requested resource not found: ResourceArn: " + arn + " not found")
}

// checkTags checks new tags one by one and together.
//
// Source: https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/service.md
// (DDB-TABLE-105 to 108)
func checkTags(tags []types.Tag) error {
	seen := make(map[string]bool, len(tags))
	for _, tag := range tags {
		if err := checkTagKey(tag.Key); err != nil {
			return err
		}
		if tag.Value == nil || !tagText(*tag.Value, maxTagValue) {
			return invalid("The Tag Value provided is invalid, Value: %s", orNull(tag.Value))
		}
		if seen[*tag.Key] {
			return invalid("Duplicate Tag Keys provided as input: Duplicate Tag Key found %s", *tag.Key)
		}
		seen[*tag.Key] = true
	}
	if len(tags) > maxTags {
		return tooManyTags()
	}
	return nil
}

func checkTagKey(key *string) error {
	if key == nil || *key == "" || !tagText(*key, maxTagKey) {
		return invalid("The Tag Key provided is invalid, Key: %s", orNull(key))
	}
	const reserved = "aws:"
	if len(*key) >= len(reserved) && strings.EqualFold((*key)[:len(reserved)], reserved) {
		return invalid("Tag Key cannot be prefixed with aws:, Key: %s", *key)
	}
	return nil
}

// tagText reports whether a text has only the characters that tags may have.
func tagText(s string, maxCharacters int) bool {
	other := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.Z) && !strings.ContainsRune("+-=._:/@", r)
	}
	return utf8.RuneCountInString(s) <= maxCharacters && !strings.ContainsFunc(s, other)
}

func orNull(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func tooManyTags() error {
	return invalid("Number of Tags exceed the current limit for the provided ResourceArn")
}

// withTags returns tags with others added. Snapshots share the old ones.
func withTags(old map[string]string, more []types.Tag) map[string]string {
	tags := maps.Clone(old)
	if tags == nil {
		tags = make(map[string]string, len(more))
	}
	for _, tag := range more {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}
