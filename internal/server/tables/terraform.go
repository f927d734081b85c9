package tables

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
)

// terraform returns the tables and rows of a plan or a state, as printed by terraform show -json, and the skipped
// settings.
//
// Source: https://developer.hashicorp.com/terraform/internals/json-format
func terraform(file object) (found []object, skipped []string, err error) {
	values := asObject(file["planned_values"])
	if values == nil {
		values = asObject(file["values"])
	}
	found, err = terraformModule(asObject(values["root_module"]), &skipped)
	return found, skipped, err
}

func terraformModule(module object, skipped *[]string) (found []object, err error) {
	var rows []object
	for _, r := range asList(module["resources"]) {
		resource := asObject(r)
		v := asObject(resource["values"])
		switch resource["type"] {
		case "aws_dynamodb_table":
			found = append(found, terraformTable(v))
			for _, name := range leftOut(v) {
				*skipped = append(*skipped, fmt.Sprintf("resource %v: %s is left out", resource["address"], name))
			}
		case "aws_dynamodb_table_item":
			text, _ := v["item"].(string)
			var item object
			if err := json.Unmarshal([]byte(text), &item); err != nil {
				return nil, fmt.Errorf("%v: item: found no JSON: %w", resource["address"], err)
			}
			rows = append(rows, object{"name": v["table_name"], "items": []any{item}})
		}
	}
	for _, child := range asList(module["child_modules"]) {
		more, err := terraformModule(asObject(child), skipped)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return append(found, rows...), nil // rows come after their tables
}

// These arguments and attributes of a table are read, or are computed by Terraform and affect no answer about rows.
var (
	readTable = []string{"name", "billing_mode", "hash_key", "range_key", "read_capacity", "write_capacity",
		"table_class", "deletion_protection_enabled", "attribute", "global_secondary_index", "local_secondary_index",
		"stream_enabled", "stream_view_type", "ttl", "tags", "server_side_encryption",
		"arn", "id", "region", "stream_arn", "stream_label", "tags_all", "timeouts"}
	readIndex = []string{"name", "hash_key", "range_key", "projection_type", "non_key_attributes", "read_capacity",
		"write_capacity"}
)

// leftOut names the settings of a table that are set but not read, such as recovery and replicas.
func leftOut(v object) (names []string) {
	unread := func(of object, read []string, prefix string) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if !slices.Contains(read, name) && isSet(of[name]) {
				names = append(names, prefix+name)
			}
		}
	}
	unread(v, readTable, "")
	for _, kind := range []string{"global_secondary_index", "local_secondary_index"} {
		for _, index := range asList(v[kind]) {
			of := asObject(index)
			unread(of, readIndex, fmt.Sprintf("%s %v: ", kind, of["name"]))
		}
	}
	return names
}

// isSet reports whether a value differs from Terraform's default.
func isSet(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return slices.ContainsFunc(v, isSet)
	case object:
		if on, is := v["enabled"].(bool); is {
			return on
		}
		return len(v) > 0
	}
	return true
}

// terraformTable returns a table in the form of a dump.
//
// Source: https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/dynamodb_table
func terraformTable(v object) object {
	set := func(to object, name string, value any) {
		if value != nil && value != "" {
			to[name] = value
		}
	}
	onDemand := v["billing_mode"] == "PAY_PER_REQUEST"
	units := func(of object) any {
		if onDemand {
			return nil
		}
		return object{"ReadCapacityUnits": of["read_capacity"], "WriteCapacityUnits": of["write_capacity"]}
	}
	request := object{"TableName": v["name"], "KeySchema": terraformKeys(v["hash_key"], v["range_key"])}
	set(request, "BillingMode", v["billing_mode"])
	set(request, "ProvisionedThroughput", units(v))
	set(request, "TableClass", v["table_class"])
	set(request, "DeletionProtectionEnabled", v["deletion_protection_enabled"])
	var definitions []any
	for _, a := range asList(v["attribute"]) {
		definitions = append(definitions,
			object{"AttributeName": asObject(a)["name"], "AttributeType": asObject(a)["type"]})
	}
	request["AttributeDefinitions"] = definitions
	index := func(of object, hash any) object {
		projection := object{"ProjectionType": of["projection_type"]}
		if names := asList(of["non_key_attributes"]); len(names) > 0 {
			projection["NonKeyAttributes"] = names
		}
		return object{
			"IndexName": of["name"], "KeySchema": terraformKeys(hash, of["range_key"]), "Projection": projection,
		}
	}
	var global, local []any
	for _, i := range asList(v["global_secondary_index"]) {
		of := asObject(i)
		made := index(of, of["hash_key"])
		set(made, "ProvisionedThroughput", units(of))
		global = append(global, made)
	}
	for _, i := range asList(v["local_secondary_index"]) {
		local = append(local, index(asObject(i), v["hash_key"]))
	}
	if global != nil {
		request["GlobalSecondaryIndexes"] = global
	}
	if local != nil {
		request["LocalSecondaryIndexes"] = local
	}
	if v["stream_enabled"] == true {
		request["StreamSpecification"] = object{"StreamEnabled": true, "StreamViewType": v["stream_view_type"]}
	}
	for _, e := range asList(v["server_side_encryption"]) {
		if asObject(e)["enabled"] == true {
			sse := object{"Enabled": true}
			if key := asObject(e)["kms_key_arn"]; key != nil && key != "" {
				sse["SSEType"], sse["KMSMasterKeyId"] = "KMS", key
			}
			request["SSESpecification"] = sse
		}
	}
	settings := object{"table": request}
	for _, ttl := range asList(v["ttl"]) {
		if asObject(ttl)["enabled"] == true {
			set(settings, "timeToLive", asObject(ttl)["attribute_name"])
		}
	}
	set(settings, "tags", v["tags"])
	return object{"name": v["name"], "settings": settings}
}

func terraformKeys(hash, sort any) []any {
	keys := []any{object{"AttributeName": hash, "KeyType": "HASH"}}
	if sort != nil && sort != "" {
		keys = append(keys, object{"AttributeName": sort, "KeyType": "RANGE"})
	}
	return keys
}
