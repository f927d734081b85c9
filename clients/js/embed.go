// Package js has the files of the kit for Node.js that isr-sim check --next runs: the binary and Node.js are enough.
package js

import "embed"

// Files are the kit and the driver of cache handlers of Next.js.
//
//go:embed index.mjs next.mjs
var Files embed.FS
