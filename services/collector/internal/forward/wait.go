package forward

import (
	"context"
	"math/rand/v2"
	"time"
)

func (f *Forwarder) waitConnected(ctx context.Context) error {
	for !f.Connected() {
		if err := wait(ctx, nil, connectedPoll); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// wait returns when changed is closed or after d, 0 meaning never if changed
// is given, or with ctx's error.
func wait(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	var after <-chan time.Time
	if d > 0 || changed == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-changed:
	case <-after:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// jittered returns 50 to 100% of d.
func jittered(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}
