// Command canned answers every request with the same bytes, as many as a META row has in JSON. Its times are the costs
// of net/http itself or, when run as canned fasthttp, of the library on which isr-sim serve is built. Like isr-sim
// serve, it prints its endpoint as JSON and serves until it is killed.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/valyala/fasthttp"
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
	if len(os.Args) > 1 && os.Args[1] == "fasthttp" {
		return serveFast(listener)
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, value := range header {
			w.Header()[name] = []string{value}
		}
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body)
	}))
}

func serveFast(listener net.Listener) error {
	server := &fasthttp.Server{NoDefaultServerHeader: true, Handler: func(ctx *fasthttp.RequestCtx) {
		for name, value := range header {
			ctx.Response.Header.Set(name, value)
		}
		ctx.Response.SetBody(body)
	}}
	return server.Serve(listener)
}

var (
	body   = bytes.Repeat([]byte{' '}, 380)
	header = map[string]string{
		"Content-Type":     "application/x-amz-json-1.0",
		"X-Amzn-Requestid": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGHIJKLMNOPQRST",
		"X-Amz-Crc32":      "1234567890",
	}
)
