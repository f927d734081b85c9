package evidence

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// AppendJSON appends a record as Lambda gets it from the stream with an ARN, and the end of the line. The view type is
// NEW_AND_OLD_IMAGES if the record has images, and KEYS_ONLY otherwise.
//
// Source: https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
func AppendJSON(dst []byte, streamARN string, r *Record) []byte {
	event, view := "MODIFY", "KEYS_ONLY"
	if r.Images {
		view = bothImages
	}
	switch {
	case r.Images && r.Before == nil:
		event = "INSERT"
	case r.Images && r.After == nil:
		event = "REMOVE"
	}
	dst = appendText(append(dst, `{"eventID":`...), r.ID)
	dst = append(append(append(dst, `,"eventName":"`...), event...), `","eventVersion":"1.1","eventSource":"aws:dynamodb"`...)
	dst = appendText(append(dst, `,"awsRegion":`...), r.Region)
	dst = strconv.AppendInt(append(dst, `,"dynamodb":{"ApproximateCreationDateTime":`...), r.Time.Unix(), 10)
	dst = appendItem(append(dst, `,"Keys":`...), r.Key)
	if r.Images && r.After != nil {
		dst = appendItem(append(dst, `,"NewImage":`...), r.After)
	}
	if r.Images && r.Before != nil {
		dst = appendItem(append(dst, `,"OldImage":`...), r.Before)
	}
	dst = appendText(append(dst, `,"SequenceNumber":`...), string(r.Sequence))
	dst = append(append(append(dst, `,"StreamViewType":"`...), view...), `"}`...)
	if r.TTL {
		dst = append(dst, `,"userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"}`...)
	}
	if streamARN != "" {
		dst = appendText(append(dst, `,"eventSourceARN":`...), streamARN)
	}
	return append(dst, "}\n"...)
}

func appendItem(dst []byte, row map[string]attr.Value) []byte {
	names := slices.Sorted(maps.Keys(row))
	return appendAll(dst, "{}", names, func(dst []byte, name string) []byte {
		return appendValue(append(appendText(dst, name), ':'), row[name])
	})
}

func appendValue(dst []byte, v attr.Value) []byte {
	dst = append(append(append(dst, `{"`...), attr.KindOf(v)...), `":`...)
	switch v := v.(type) {
	case attr.S:
		dst = appendText(dst, string(v))
	case attr.N:
		dst = appendNumber(dst, v.Number)
	case attr.B:
		dst = appendBinary(dst, v)
	case attr.BOOL:
		dst = strconv.AppendBool(dst, bool(v))
	case attr.NULL:
		dst = append(dst, "true"...)
	case attr.M:
		dst = appendItem(dst, v)
	case attr.L:
		dst = appendAll(dst, "[]", v, appendValue)
	case attr.SS:
		dst = appendAll(dst, "[]", v, appendText)
	case attr.NS:
		dst = appendAll(dst, "[]", v, appendNumber)
	case attr.BS:
		dst = appendAll(dst, "[]", v, appendBinary)
	}
	return append(dst, '}')
}

func appendAll[E any](dst []byte, brackets string, all []E, one func([]byte, E) []byte) []byte {
	dst = append(dst, brackets[0])
	for i, e := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, e)
	}
	return append(dst, brackets[1])
}

func appendText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error says that the text is not UTF-8: it is then mended
	return dst
}

func appendNumber(dst []byte, n attr.Number) []byte {
	return append(n.Append(append(dst, '"')), '"')
}

func appendBinary(dst []byte, b []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), b), '"')
}
