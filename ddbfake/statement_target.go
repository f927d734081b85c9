package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/partiql"
)

// This file finds the table and the key of a statement before it is served, for faults and for the log of requests. The
// statement may be refused later.

// readsBy reports whether a statement is a SELECT, and returns the index that it reads; nil if it reads a table.
func readsBy(text *string) (reads bool, index *string) {
	parsed, err := parseStatement(aws.ToString(text))
	if err != nil || !parsed.Reads() {
		return false, nil
	}
	if b, err := parsed.Bind(nil); err == nil && b.Index() != "" {
		index = aws.String(b.Index())
	}
	return true, index
}

// statementTarget returns the table of a statement, and the attributes that it fixes: the key, or the part of the key
// that the statement names.
func statementTarget(text *string, parameters []types.AttributeValue) target {
	values, err := parametersOf(parameters)
	if err != nil {
		return target{}
	}
	parsed, err := parseStatement(aws.ToString(text))
	if err != nil {
		return target{}
	}
	b, err := parsed.Bind(values)
	if err != nil {
		return target{}
	}
	t := target{table: nameInARN(b.Table()), values: map[string]types.AttributeValue{}}
	if b.Verb() == partiql.Insert {
		if item, err := b.Item(); err == nil {
			t.values = item.ToSDK()
		}
		return t
	}
	equal, _ := b.Equalities()
	for _, e := range equal {
		if _, again := t.values[e.Attribute]; !again {
			t.values[e.Attribute] = attr.ToSDK(e.Value)
		}
	}
	return t
}
