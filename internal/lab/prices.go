package lab

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/goccy/go-yaml"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

type prices struct {
	ReadUnits  *float64 `yaml:"read_units"`
	WriteUnits *float64 `yaml:"write_units"`
	Storage    *float64 `yaml:"storage"`
	Render     *float64 `yaml:"render"`
}

// ReadPrices reads a price list from a YAML file: read_units and write_units per million, storage per gigabyte and
// month, render per render. A missing entry keeps its price in us-east-1.
func ReadPrices(file string) (policy.Prices, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return policy.Prices{}, err
	}
	var p prices
	if err := yaml.UnmarshalWithOptions(text, &p, yaml.Strict()); err != nil {
		if wrong, is := errors.AsType[yaml.Error](err); is {
			at, what := wrong.GetToken(), wrong.GetMessage()
			if _, is := errors.AsType[*yaml.TypeError](err); is {
				what = fmt.Sprintf("found %q, expected a price, such as 0.25", at.Value)
			}
			err = fmt.Errorf("%d:%d: %s", at.Position.Line, at.Position.Column, what)
		}
		return policy.Prices{}, fmt.Errorf("%s:%w\nhint: the entries are read_units, write_units, storage and render",
			file, err)
	}
	all := policy.OnDemand
	for _, entry := range []struct {
		name  string
		found *float64
		price *float64
	}{
		{"read_units", p.ReadUnits, &all.ReadUnits}, {"write_units", p.WriteUnits, &all.WriteUnits},
		{"storage", p.Storage, &all.Storage}, {"render", p.Render, &all.Render},
	} {
		if entry.found == nil {
			continue
		}
		if *entry.price = *entry.found; !(*entry.price >= 0) || math.IsInf(*entry.price, 0) {
			return policy.Prices{}, fmt.Errorf("%s: found %s %g, expected at least 0", file, entry.name, *entry.price)
		}
	}
	return all, nil
}
