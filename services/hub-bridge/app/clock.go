package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// settlePeriod is how often a leap of server time is looked for.
const settlePeriod = time.Second

// settle waits leaps of server time out, tells of them and calls moved after
// each that is taken over, until ctx ends.
func settle(ctx context.Context, clock *events.Clock, log *slog.Logger, moved func()) error {
	ticker := time.NewTicker(settlePeriod)
	defer ticker.Stop()
	told := false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if by := clock.Settle(); by != 0 {
			log.Warn("the leap of server time is taken over", "by", by)
			moved()
		}
		by, left := clock.Leap()
		if by != 0 && !told {
			log.Error("server time seems to have leapt, which is waited out", "by", by, "left", left)
		}
		told = by != 0
	}
}
