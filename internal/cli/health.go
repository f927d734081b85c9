package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// NewHealth returns isr-sim serve health, which asks a server whether it is up.
func NewHealth() *cobra.Command {
	return &cobra.Command{
		Use:   "health [ADDRESS]",
		Short: "Ask whether isr-sim serve is up",
		Long: "Health asks the server at an address (default http://127.0.0.1:8000) whether it is up.\n" +
			"The exit code is 0 if it is, and 3 otherwise. It is the health check of the container image.",
		Example: "  isr-sim serve health\n  isr-sim serve health http://127.0.0.1:8000",
		Args:    Arguments("ADDRESS", 0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address := "http://127.0.0.1:8000"
			if len(args) > 0 {
				address = args[0]
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
			defer cancel()
			return Unknown(healthOf(ctx, address), "isr-sim serve starts a server")
		},
	}
}

func healthOf(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/_isr-sim/clock", nil)
	if err != nil {
		return err
	}
	// Any server may answer, and no machine knows the certificate of --tls.
	unknown := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: unknown}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: found status %d, expected 200", address, answer.StatusCode)
	}
	return nil
}
