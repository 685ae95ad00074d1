// Package pause lets time pass for a caller that may be told to end.
package pause

import (
	"context"
	"errors"
	"fmt"
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

// Within is context.WithTimeout for a wait, of which Why tells how it ended.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &lateError{limit})
}

// Why says why a wait within ctx ended, which Within returned: its time was
// up, or somebody ended it before that.
func Why(ctx context.Context) error {
	cause := context.Cause(ctx)
	var late *lateError
	if cause == nil || errors.As(cause, &late) {
		return cause
	}
	return fmt.Errorf("stopped waiting: %w", cause)
}

type lateError struct{ limit time.Duration }

func (e *lateError) Error() string { return "not within " + e.limit.String() }

// Unwrap returns context.DeadlineExceeded.
func (e *lateError) Unwrap() error { return context.DeadlineExceeded }
