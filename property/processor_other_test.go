//go:build !unix

package property

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
