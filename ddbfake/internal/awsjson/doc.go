// Package awsjson is the wire format of DynamoDB and of its streams: AWS JSON 1.0, read and written as the service
// does.
//
//	in := new(dynamodb.PutItemInput)
//	if err := awsjson.Decode(body, in); err != nil { // SerializationException, with the service's text
//		answer, status = awsjson.AppendError(nil, err)
//	}
//	answer = awsjson.Append(nil, &dynamodb.PutItemOutput{})
//
// It knows the SDK's structs and the attribute values of package attr, but no tables, rows or doors. The server of a
// call gives Decode the input to fill, and Append the output or AppendError the error to write.
//
// # Determinism
//
// Equal outputs have equal bytes: the members of a map are written in sorted order.
//
// # Fidelity
//
// Bodies that are not JSON, or whose values have wrong types, are refused with the service's observed texts. Answers
// have the members that the service writes even if they are zero. Signatures give the name of the signer, and are not
// checked.
package awsjson
