// Command canned answers every request with the same bytes, as long as a META row is in JSON: what net/http itself costs
// a server that is built on it. Like isr-sim serve, it prints its endpoint as JSON and serves until it is killed.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "canned:", err)
		os.Exit(1)
	}
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"endpoint\":\"http://%s\"}\n", listener.Addr())
	body := bytes.Repeat([]byte{' '}, 380)
	header := map[string][]string{
		"Content-Type":     {"application/x-amz-json-1.0"},
		"Content-Length":   {strconv.Itoa(len(body))},
		"X-Amzn-Requestid": {"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJKLMNOPQRST"},
		"X-Amz-Crc32":      {"1234567890"},
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, values := range header {
			w.Header()[name] = values
		}
		_, _ = w.Write(body)
	}))
}
