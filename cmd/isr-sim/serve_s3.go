package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/serve"
	"github.com/isr-sim/isr-sim/s3fake"
)

// serveS3 has the flags of the S3 fake.
type serveS3 struct {
	listen  string // "" serves none
	buckets []string
}

func (c *serveS3) flags(f *pflag.FlagSet) {
	f.StringVar(&c.listen, "s3", "", "serve S3 as well, for bodies: on a free port of 127.0.0.1, or on the address given as --s3=127.0.0.1:9000")
	f.Lookup("s3").NoOptDefVal = "127.0.0.1:0"
	f.StringArrayVar(&c.buckets, "s3-bucket", nil, "for --s3: a bucket that exists from the start; repeatable")
}

// check refuses flags that say nothing.
func (c *serveS3) check() error {
	if c.listen == "" && len(c.buckets) > 0 {
		return usage(errors.New("found --s3-bucket without --s3, which alone needs it"), "--s3 --s3-bucket "+c.buckets[0])
	}
	for _, name := range c.buckets {
		if !s3fake.ValidBucket(name) {
			return usage(fmt.Errorf("--s3-bucket: found %q, expected a bucket's name: 3 to 63 lower-case letters, digits, dots and hyphens", name), "")
		}
	}
	return nil
}

// start opens the door of an S3 fake on a clock; nil and "" if there is to be none.
func (c *serveS3) start(ctx context.Context, clock ddbfake.Clock) (*s3fake.Store, net.Listener, error) {
	if c.listen == "" {
		return nil, nil, nil
	}
	listener, err := serve.Listen(ctx, c.listen)
	if err != nil {
		hint := ""
		if errors.Is(err, syscall.EADDRINUSE) {
			hint = "port 0 takes a free one: --s3=127.0.0.1:0"
		}
		return nil, nil, unknown(err, hint)
	}
	return s3fake.New(s3fake.Options{Clock: clock, Buckets: c.buckets}), listener, nil
}
