// Package tables loads tables from the files of other tools into a fake: templates of CloudFormation, SAM and CDK, and
// plans and states of Terraform. It leaves files that it does not recognise to ddbfake.DB.Load.
package tables

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Load puts the tables and rows of a file into a DB, as DB.Load does. A table for which the file names no region is put
// into region. Load returns the settings that it skipped: the fake does not have them, and they do not affect any
// answer about rows.
func Load(db *ddbfake.DB, region, file string) (skipped []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, skipped, err := read(text, region)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if found == nil {
		if err := db.Load(region, bytes.NewReader(text)); err != nil {
			return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "ddbfake: load: "))
		}
		return nil, nil
	}
	for _, t := range found {
		dump, err := json.Marshal(map[string]any{"tables": []any{t}}, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := db.Load(region, bytes.NewReader(dump)); err != nil {
			return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "ddbfake: load: line 1: "))
		}
	}
	return skipped, nil
}

type object = map[string]any

// read returns the tables of a file in the form of a dump, or nil if DB.Load must read the file.
func read(text []byte, region string) (found []object, skipped []string, err error) {
	var whole any
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		if json.Unmarshal(trimmed, &whole) != nil {
			//nolint:nilerr // DB.Load says where the mistake is, and reads several JSON texts in a row
			return nil, nil, nil
		}
	} else if whole, err = fromYAML(text); err != nil {
		return nil, nil, err
	}
	file, _ := whole.(object)
	switch {
	case file["Resources"] != nil:
		t := &template{region: region, resources: asObject(file["Resources"]), parameters: asObject(file["Parameters"])}
		found, err = t.tables()
		skipped = t.skipped
	case file["planned_values"] != nil, file["terraform_version"] != nil:
		found, skipped, err = terraform(file)
	case len(text) > 0 && !bytes.ContainsAny(text[:1], "{[ \t\r\n"):
		return nil, nil, errors.New("found YAML without Resources, expected a template of CloudFormation, SAM or CDK")
	default:
		return nil, nil, nil
	}
	if err == nil && len(found) == 0 {
		err = errors.New("found no table in it")
	}
	return found, skipped, err
}

func asObject(v any) object { o, _ := v.(object); return o }

func asList(v any) []any { l, _ := v.([]any); return l }
