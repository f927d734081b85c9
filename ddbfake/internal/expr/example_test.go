package expr_test

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

func Example() {
	cond, err := expr.ParseCondition("attribute_not_exists(pk) OR lease_expires_at <= :now")
	if err != nil {
		fmt.Println(err)
		return
	}
	args := expr.Args{Values: map[string]attr.Value{":now": attr.Int(2208988800)}}
	if err := cond.Check(args); err != nil {
		fmt.Println(err)
		return
	}
	held := attr.Item{"pk": attr.S("CACHE#1"), "lease_expires_at": attr.Int(2208988860)}
	for _, row := range []attr.Item{nil, held} {
		ok, err := cond.Eval(row, args)
		fmt.Println(row, ok, err)
	}
	_, err = expr.ParseCondition("ttl < :now")
	fmt.Println(err)
	// Output:
	// absent true <nil>
	// {lease_expires_at: 2208988860, pk: "CACHE#1"} false <nil>
	// Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: ttl
}

func ExampleUpdate_Apply() {
	update, err := expr.ParseUpdate("SET lease_token = :token ADD renewals :one")
	if err != nil {
		fmt.Println(err)
		return
	}
	args := expr.Args{Values: map[string]attr.Value{":token": attr.S("t2"), ":one": attr.Int(1)}}
	before := attr.Item{"lease_token": attr.S("t1")}
	after, err := update.Apply(before, args)
	fmt.Println(before, after, err)
	// Output:
	// {lease_token: "t1"} {lease_token: "t2", renewals: 1} <nil>
}
