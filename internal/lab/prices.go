package lab

import (
	"fmt"
	"os"

	"github.com/goccy/go-yaml"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// prices is the file of prices.
type prices struct {
	ReadUnits  float64 `yaml:"read_units"`
	WriteUnits float64 `yaml:"write_units"`
	Storage    float64 `yaml:"storage"`
	Render     float64 `yaml:"render"`
}

// ReadPrices reads a price list from a YAML file: read_units and write_units for a million, storage for a gigabyte and
// month, render for one. An entry that is not there keeps its price in us-east-1.
func ReadPrices(file string) (policy.Prices, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return policy.Prices{}, err
	}
	p := prices(policy.OnDemand)
	if err := yaml.UnmarshalWithOptions(text, &p, yaml.Strict()); err != nil {
		return policy.Prices{}, fmt.Errorf("%s: %s\nhint: the entries are read_units, write_units, storage and render",
			file, yaml.FormatError(err, false, true))
	}
	for _, entry := range []struct {
		name  string
		price float64
	}{{"read_units", p.ReadUnits}, {"write_units", p.WriteUnits}, {"storage", p.Storage}, {"render", p.Render}} {
		if !(entry.price >= 0) {
			return policy.Prices{}, fmt.Errorf("%s: found %s %g, expected at least 0", file, entry.name, entry.price)
		}
	}
	return policy.Prices(p), nil
}
