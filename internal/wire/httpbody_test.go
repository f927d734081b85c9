package wire_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
)

func zipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.Bytes()
}

func deflated(s string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.Bytes()
}

func TestRead(t *testing.T) {
	broken := errors.New("the connection broke")
	const plain, unknown = "", -1
	largest, larger := strings.Repeat("x", httpbody.MaxBytes), strings.Repeat("x", httpbody.MaxBytes+1)
	tests := []struct {
		name     string
		body     io.Reader
		length   int64
		encoding string
		want     string
		err      error
	}{
		{"none", nil, 0, plain, "", nil},
		{"plain", strings.NewReader("{}"), 2, plain, "{}", nil},
		{"plain, length unknown", strings.NewReader("{}"), unknown, plain, "{}", nil},
		{"gzip", bytes.NewReader(zipped("{}")), int64(len(zipped("{}"))), "GZIP", "{}", nil},
		{"a caller that goes", io.MultiReader(strings.NewReader("{"), iotest.ErrReader(broken)), unknown, plain, "",
			broken},
		{"a caller that goes, with gzip", io.MultiReader(bytes.NewReader(zipped("{}")[:15]), iotest.ErrReader(broken)),
			unknown, "gzip", "", broken},
		{"no gzip", strings.NewReader("{}"), 2, "gzip", "", httpbody.ErrNotPacked},
		{"deflate", bytes.NewReader(deflated("{}")), int64(len(deflated("{}"))), "deflate", "{}", nil},
		{"no deflate", strings.NewReader("{}"), 2, "deflate", "", httpbody.ErrNotPacked},
		{"over the limit unpacked by deflate", bytes.NewReader(deflated(larger)), int64(len(deflated(larger))),
			"deflate", "", httpbody.ErrTooLarge},
		{"half a gzip", bytes.NewReader(zipped("{}")[:15]), 15, "gzip", "", httpbody.ErrNotPacked},
		{"at the limit", strings.NewReader(largest), httpbody.MaxBytes, plain, largest, nil},
		{"over the limit", strings.NewReader(larger), httpbody.MaxBytes + 1, plain, "", httpbody.ErrTooLarge},
		{"over the limit, length unknown", strings.NewReader(larger), unknown, plain, "", httpbody.ErrTooLarge},
		{"over the limit unpacked", bytes.NewReader(zipped(larger)), int64(len(zipped(larger))), "gzip", "",
			httpbody.ErrTooLarge},
	}
	for _, test := range tests {
		got, err := httpbody.Read(test.body, test.length, test.encoding)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: got error %v, want %v", test.name, err, test.err)
		} else if err == nil && string(got) != test.want {
			t.Errorf("%s: got %d bytes, want %d, the same", test.name, len(got), len(test.want))
		}
	}
}
