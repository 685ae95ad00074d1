package ask

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// lagging is a bus on which, from a moment on, decisions do not come back to
// who made them.
type lagging struct {
	decider.Bus
	lags   atomic.Bool
	caught chan struct{} // closed once they come again
}

func (l *lagging) Watch(ctx context.Context, w events.Watch, fold func(events.Update) error) error {
	return l.Bus.Watch(ctx, w, func(u events.Update) error {
		if w.Stream == events.StreamDecisions && l.lags.Load() {
			select {
			case <-l.caught:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return fold(u)
	})
}

// TestADecisionFollowsFromThoseThatHadNotComeBack: Balance counts the last of
// several decisions that another Placement has in the log beyond the basis.
func TestADecisionFollowsFromThoseThatHadNotComeBack(t *testing.T) {
	t.Parallel()
	l := &lagging{caught: make(chan struct{})}
	w := newWorldOf(t, func(b decider.Bus) decider.Bus {
		l.Bus = b
		return l
	})
	w.cluster("a")
	w.cluster("b")
	w.score("a", "gpu", 50)
	w.score("b", "gpu", 10)
	w.place("train", one, 1)
	w.decided("train", "a")
	l.lags.Store(true)
	w.score("b", "gpu", 60)
	w.decided("train", "b")
	w.score("a", "gpu", 70)
	w.decided("train", "a")
	w.place("serve", strings.Replace(one, `"mode":"Exact"`, `"mode":"Additive"`, 1), 1)
	beside := w.decided("serve", "b") // 60 and 100 of Balance, not 70 and -100
	w.score("b", "gpu", 90)
	w.decided("train", "b")
	w.score("a", "gpu", 91)
	w.decided("train", "a")
	w.replay("serve", beside, schemas.ReplayEqual)
	close(l.caught)
}
