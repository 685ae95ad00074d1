// Package pause lets time pass for a caller that may be told to end.
package pause

import (
	"context"
	"time"
)

// For waits for d and reports whether ctx still lives.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
