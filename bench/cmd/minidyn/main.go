// Command minidyn serves minidyn over HTTP for the benchmarks: its own handler behind net/http, with nothing else in
// the process. Like isr-sim serve, it prints its endpoint as JSON and serves until it is killed.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/truora/minidyn/server"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "minidyn:", err)
		os.Exit(1)
	}
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"endpoint\":\"http://%s\"}\n", listener.Addr())
	return http.Serve(listener, server.NewServer())
}
