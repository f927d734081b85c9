package differential

import "pgregory.net/rapid"

// This file is for properties of others (package property/gen): single values, as JSON.

// Attribute is an attribute of drawn rows.
type Attribute struct{ Name, Kind string }

// Attributes are the attributes of drawn rows. Kind "" is any type.
func Attributes() (all []Attribute) {
	for _, a := range plain {
		all = append(all, Attribute{a.name, a.kind})
	}
	return all
}

// KeyTexts are the values of key attributes of type S: few, so that keys meet.
func KeyTexts() (all []string) {
	for _, v := range keyValues["S"] {
		all = append(all, v["S"].(string))
	}
	return all
}

// Value draws a value of any type.
func Value(t *rapid.T) map[string]any { return draws{t}.value("", 2) }

// Row draws the attributes of a row other than its key.
func Row(t *rapid.T) map[string]any {
	item, d := object{}, draws{t}
	for _, a := range plain {
		if d.chance(2, "has "+a.name) {
			item[a.name] = d.attributeValue(table{}, a)
		}
	}
	return item
}
