package differential

import (
	"slices"

	"pgregory.net/rapid"
)

// This file is for properties of others (package property/gen): single values and expressions, as JSON.

// Expression is the text of an expression with the names and values that it uses.
type Expression struct {
	Text          string
	Names, Values object
	Breaks        string // the mistake that it has; "" if it is right
}

// Attribute is an attribute of drawn rows.
type Attribute struct{ Name, Kind string }

// Attributes are the attributes of drawn rows, and of the paths in drawn expressions. Kind "" is any type.
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

// Condition draws a condition, with a mistake if asked for.
func Condition(t *rapid.T, breaks bool) Expression {
	return draws{t}.expression("ConditionExpression", breaks, func(e *expressions) string { return e.condition(1) })
}

// Update draws an update expression, with a mistake if asked for.
func Update(t *rapid.T, breaks bool) Expression {
	return draws{t}.expression("UpdateExpression", breaks, func(e *expressions) string { return e.update() })
}

// Projection draws a projection.
func Projection(t *rapid.T) Expression {
	return draws{t}.expression("ProjectionExpression", false, func(e *expressions) string { return e.projection() })
}

// ofExpressions are the mistakes in a single expression, whatever the keys of the table are.
var ofExpressions = []string{
	"end of an expression", "token of an expression", "undefined value", "undefined name", "unused value", "unused name",
	"reserved word", "redundant parentheses", "unknown function", "function out of place", "number of operands",
	"type of an operand", "type that is none", "order of what has none", "bounds of two types", "bounds upside down",
	"value as a path", "one operand twice", "function in an update", "type of an operand of an update",
	"one section twice", "paths that overlap", "paths that conflict",
}

// expression draws the expression of a request.
func (d draws) expression(parameter string, breaks bool, write func(*expressions) string) Expression {
	e := newExpressions(d, table{})
	text := ""
	for text == "" { // an update may come out empty
		text = write(e)
	}
	body := object{parameter: text}
	e.fill(body)
	sound := string(encode(body))
	b := &broken{request: Request{Operation: "UpdateItem", Body: body}, part: body}
	if breaks {
		var fit []fault
		for _, f := range faults {
			if slices.Contains(ofExpressions, f.value.name) {
				fit = append(fit, f.value)
			}
		}
		for {
			f := oneOf(d, "mistake", fit...)
			if f.apply(d, b) && string(encode(b.part)) != sound {
				b.request.Breaks = f.name
				break
			}
		}
	}
	drawn := Expression{Breaks: b.request.Breaks}
	drawn.Text, _ = b.part[parameter].(string)
	drawn.Names, _ = b.part["ExpressionAttributeNames"].(object)
	drawn.Values, _ = b.part["ExpressionAttributeValues"].(object)
	return drawn
}
