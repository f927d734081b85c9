// Package banned uses what .golangci.yml bans, one use per marked line. .ci/lint fails unless each is reported: a ban
// with a wrong pattern would report nothing, and nobody would notice.
package banned

import (
	"context"
	crand "crypto/rand" // banned
	"fmt"
	"log"          // banned
	v1 "math/rand" // banned
	"math/rand/v2"
	"os"
	wall "time"
)

func everything() {
	began := wall.Now()                    // banned
	_ = wall.Since(began)                  // banned
	_ = wall.Until(began)                  // banned
	wall.Sleep(wall.Second)                // banned
	<-wall.After(wall.Second)              // banned
	_ = wall.Tick(wall.Second)             // banned
	_ = wall.NewTimer(wall.Second)         // banned
	_ = wall.NewTicker(wall.Second)        // banned
	wall.AfterFunc(wall.Second, func() {}) // banned
	read := wall.Now                       // banned
	_ = read
	_ = v1.Intn(10)                    // banned
	_ = rand.IntN(10)                  // banned
	rand.Shuffle(1, func(_, _ int) {}) // banned
	_ = rand.N(10)                     // banned
	_ = crand.Text()
	_ = context.Background()       // banned
	_ = context.TODO()             // banned
	fmt.Println()                  // banned
	_, _ = fmt.Fprintln(os.Stdout) // banned
	log.Println()
}

// allowed must not be reported.
func allowed(ctx context.Context) (int, string, wall.Duration) {
	_, cancel := context.WithCancel(ctx)
	defer cancel()
	return rand.New(rand.NewPCG(1, 2)).IntN(10), fmt.Sprint("text"), 3 * wall.Second
}
