package tables

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// template is a template of CloudFormation, SAM or CDK.
type template struct {
	region                string
	resources, parameters object
	skipped               []string
}

// The properties of a table in a template, and how each is treated.
//
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-globaltable.html
var (
	// sameInRequest are the properties that CreateTable has under the same names.
	sameInRequest = []string{
		"AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled", "GlobalSecondaryIndexes", "KeySchema",
		"LocalSecondaryIndexes", "OnDemandThroughput", "ProvisionedThroughput", "TableClass", "WarmThroughput",
	}
	// ofOthers are properties for other services or features. They do not affect any answer about rows.
	ofOthers = []string{
		"ContributorInsightsSpecification", "KinesisStreamSpecification",
		"PointInTimeRecoverySpecification", "ResourcePolicy",
	}
	numbers = []string{
		"ReadCapacityUnits", "WriteCapacityUnits", "MaxReadRequestUnits", "MaxWriteRequestUnits",
		"ReadUnitsPerSecond", "WriteUnitsPerSecond",
	}
	truths = []string{"DeletionProtectionEnabled", "Enabled", "SSEEnabled"}
)

// tables returns the tables of a template, by their logical ids.
func (t *template) tables() ([]object, error) {
	var found []object
	for _, id := range slices.Sorted(maps.Keys(t.resources)) {
		resource := asObject(t.resources[id])
		kind, _ := resource["Type"].(string)
		if kind != "AWS::DynamoDB::Table" && kind != "AWS::DynamoDB::GlobalTable" &&
			kind != "AWS::Serverless::SimpleTable" {
			continue
		}
		properties, err := t.resolve(resource["Properties"])
		var table object
		if err == nil {
			table, err = t.table(id, kind, asObject(properties))
		}
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", id, err)
		}
		found = append(found, table)
	}
	return found, nil
}

// table returns a table in the form of a dump.
func (t *template) table(id, kind string, p object) (object, error) {
	name, named := p["TableName"].(string)
	if !named {
		name = id
	}
	request, tags := object{"TableName": name}, object{}
	settings := object{"table": request, "tags": tags}
	if kind == "AWS::Serverless::SimpleTable" {
		simple(p, request)
		tags = asObject(p["Tags"])
		delete(p, "Tags")
		settings["tags"] = tags
	}
	for _, property := range slices.Sorted(maps.Keys(p)) {
		v := p[property]
		switch {
		case property == "TableName" || v == nil:
		case property == "PrimaryKey" && kind == "AWS::Serverless::SimpleTable":
		case slices.Contains(sameInRequest, property):
			request[property] = v
		case slices.Contains(ofOthers, property):
			t.skipped = append(t.skipped, "resource "+id+": "+property+" is left out")
		case property == "StreamSpecification":
			request[property] = object{"StreamEnabled": true, "StreamViewType": asObject(v)["StreamViewType"]}
			if kind == "AWS::DynamoDB::GlobalTable" && asObject(v)["StreamViewType"] == nil {
				delete(request, property)
			}
		case property == "SSESpecification":
			sse := object{"Enabled": asObject(v)["SSEEnabled"]}
			for _, member := range []string{"SSEType", "KMSMasterKeyId"} {
				if is := asObject(v)[member]; is != nil {
					sse[member] = is
				}
			}
			request[property] = sse
		case property == "TimeToLiveSpecification":
			if asObject(v)["Enabled"] == true {
				settings["timeToLive"] = asObject(v)["AttributeName"]
			}
		case property == "Tags":
			for _, tag := range asList(v) {
				key, _ := asObject(tag)["Key"].(string)
				tags[key] = asObject(tag)["Value"]
			}
		case property == "Replicas" && kind == "AWS::DynamoDB::GlobalTable":
			if n := len(asList(v)); n > 1 {
				t.skipped = append(t.skipped,
					fmt.Sprintf("resource %s: the table is in one region, and not in %d", id, n))
			}
		case strings.HasPrefix(property, "WriteProvisioned") || strings.HasPrefix(property, "WriteOnDemand"):
			t.skipped = append(t.skipped, "resource "+id+": "+property+" is left out")
		default:
			return nil, fmt.Errorf("found the property %s, expected one of a table", property)
		}
	}
	if kind == "AWS::DynamoDB::GlobalTable" && request["ProvisionedThroughput"] == nil &&
		request["BillingMode"] != "PAY_PER_REQUEST" {
		request["BillingMode"] = "PAY_PER_REQUEST" // its units scale by themselves
	}
	return object{"name": name, "settings": settings}, nil
}

// simple translates SAM's short form of a table.
//
// Source: https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-resource-simpletable.html
func simple(p, request object) {
	key, kind := "id", "S"
	if primary := asObject(p["PrimaryKey"]); primary != nil {
		if name, ok := primary["Name"].(string); ok {
			key = name
		}
		if name, ok := primary["Type"].(string); ok && name != "" {
			kind = name[:1] // String, Number, Binary
		}
	}
	request["AttributeDefinitions"] = []any{object{"AttributeName": key, "AttributeType": kind}}
	request["KeySchema"] = []any{object{"AttributeName": key, "KeyType": "HASH"}}
	if p["ProvisionedThroughput"] == nil {
		request["BillingMode"] = "PAY_PER_REQUEST"
	}
}

// resolve replaces the functions of a template by their values. A text that stands for a number or a boolean becomes
// that value.
func (t *template) resolve(v any) (any, error) {
	switch v := v.(type) {
	case object:
		if len(v) == 1 {
			//isrsim:unordered there is one
			for name, argument := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return t.call(name, argument)
				}
			}
		}
		out := object{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			is, err := t.resolve(v[name])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if is != nil { // AWS::NoValue removes a property
				out[name] = typed(name, is)
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for _, element := range v {
			is, err := t.resolve(element)
			if err != nil {
				return nil, err
			}
			if is != nil {
				out = append(out, is)
			}
		}
		return out, nil
	}
	return v, nil
}

// typed converts a value to its type in requests: a template may have a text where a request has a number or a boolean.
func typed(name string, v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	if slices.Contains(numbers, name) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	if slices.Contains(truths, name) && (text == "true" || text == "false") {
		return text == "true"
	}
	return v
}

// call returns the value of a function.
//
// Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
func (t *template) call(name string, argument any) (any, error) {
	switch name {
	case "Ref":
		ref, _ := argument.(string)
		return t.ref(ref)
	case "Fn::GetAtt":
		if of := asList(argument); len(of) > 0 {
			return of[0], nil // the ARN of a key or a role; the fake only needs some name for it
		}
	case "Fn::Sub":
		return t.sub(argument)
	case "Fn::Join":
		if of := asList(argument); len(of) == 2 {
			parts, err := t.resolve(of[1])
			if err != nil {
				return nil, err
			}
			var texts []string
			for _, part := range asList(parts) {
				texts = append(texts, fmt.Sprint(part))
			}
			return strings.Join(texts, fmt.Sprint(of[0])), nil
		}
	}
	return nil, fmt.Errorf("found %s, expected a value, Ref, Fn::Sub, Fn::Join or Fn::GetAtt", name)
}

// ref returns the value of a name: a parameter's default, a pseudo parameter such as AWS::Region, or the name of
// another resource.
func (t *template) ref(name string) (any, error) {
	switch name {
	case "AWS::Region":
		return t.region, nil
	case "AWS::AccountId":
		return "000000000000", nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::StackName":
		return "stack", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::NoValue":
		return nil, nil
	}
	if parameter := asObject(t.parameters[name]); parameter != nil {
		if parameter["Default"] == nil {
			return nil, fmt.Errorf("found the parameter %s without a default", name)
		}
		return parameter["Default"], nil
	}
	if t.resources[name] == nil {
		return nil, fmt.Errorf("found Ref of %s, which is no parameter and no resource", name)
	}
	return name, nil
}

var substitution = regexp.MustCompile(`\$\{(!?)([^}]*)\}`)

func (t *template) sub(argument any) (any, error) {
	text, _ := argument.(string)
	own := object{}
	if of := asList(argument); len(of) == 2 {
		text, _ = of[0].(string)
		given, err := t.resolve(of[1])
		if err != nil {
			return nil, err
		}
		own = asObject(given)
	}
	var failed error
	out := substitution.ReplaceAllStringFunc(text, func(found string) string {
		parts := substitution.FindStringSubmatch(found)
		if parts[1] == "!" {
			return "${" + parts[2] + "}"
		}
		if v, ok := own[parts[2]]; ok {
			return fmt.Sprint(v)
		}
		name, _, _ := strings.Cut(parts[2], ".") // of an attribute, take the resource
		v, err := t.ref(name)
		if err != nil {
			failed = err
		}
		return fmt.Sprint(v)
	})
	return out, failed
}
