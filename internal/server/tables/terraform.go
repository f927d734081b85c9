package tables

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// terraform returns the tables and rows of a plan or a state, as terraform show -json prints it.
//
// Source: https://developer.hashicorp.com/terraform/internals/json-format
func terraform(file object) ([]object, error) {
	values := asObject(file["planned_values"])
	if values == nil {
		values = asObject(file["values"])
	}
	return terraformModule(asObject(values["root_module"]))
}

func terraformModule(module object) (found []object, err error) {
	var rows []object
	for _, r := range asList(module["resources"]) {
		resource := asObject(r)
		v := asObject(resource["values"])
		switch resource["type"] {
		case "aws_dynamodb_table":
			found = append(found, terraformTable(v))
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
		more, err := terraformModule(asObject(child))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return append(found, rows...), nil // rows come after their tables
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
