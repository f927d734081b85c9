// Package attr holds DynamoDB attribute values: the ten types, 38-digit numbers, equality, order, size, and the
// conversion from and to the AWS SDK's own types.
//
// # Values
//
// A [Value] is one of [S], [N], [B], [BOOL], [NULL], [M], [L], [SS], [NS] and [BS], named as the API names them. The
// interface is sealed: a type switch over these ten is complete. An [Item] is a row: attribute names to values.
//
//	row := attr.Item{
//		"pk":               attr.S("CACHE#1"),
//		"sk":               attr.S("LOCK"),
//		"lease_expires_at": attr.Int(2208988812),
//	}
//	until, ok := row.Int("lease_expires_at")
//	fmt.Println(until, ok, row) // 2208988812 true {lease_expires_at: 2208988812, pk: "CACHE#1", sk: "LOCK"}
//
//	v, err := attr.FromSDK(&types.AttributeValueMemberN{Value: "1E2"})
//	fmt.Println(v, err) // 100 <nil>
//
// # Immutability and determinism
//
// By convention, code does not write to a value that it has handed over. So values may share structure. [FromSDK] and
// [ToSDK] copy all memory that the caller could still write to. Values print in one way only: map keys and set elements
// are sorted.
//
// # Fidelity
//
// [FromSDK] and [ParseNumber] refuse the values that the service refuses, with the service's texts. Rules with a public
// source cite it; places where we differ are marked with "Deviation:".
//
// # Limits
//
// Limits that depend on the table (item size, key sizes, empty keys) belong to the engine.
package attr
