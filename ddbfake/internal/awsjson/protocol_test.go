package awsjson

import (
	"strings"
	"testing"
)

func TestOperationIn(t *testing.T) {
	for _, test := range []struct {
		target, want string
		ok           bool
	}{
		{TargetPrefix + "PutItem", "PutItem", true},
		{StreamsTargetPrefix + "GetRecords", "GetRecords", true},
		{TargetPrefix, "", true},
		{"Kinesis_20131202.GetRecords", "", false},
		{"PutItem", "", false},
		{"", "", false},
	} {
		got, ok := OperationIn(test.target)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%q: got %q, %t, want %q, %t", test.target, got, ok, test.want, test.ok)
		}
	}
}

func TestRequestID(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range []uint64{1, 2, 35, 36, 1 << 40, 1<<64 - 1} {
		unique := RequestID(n)
		id := string(unique[:])
		if strings.Trim(id, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || seen[id] {
			t.Errorf("request %d: got id %q, want 52 digits and capital letters that no other request has", n, id)
		}
		seen[id] = true
	}
}
