package scores

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

const buryTimeout = 10 * time.Second

// bad is an event that is no score.
type bad struct {
	message events.Message
	cause   error
}

// unreadable has m buried. The score before it stays on the hub.
func (a *Applier) unreadable(m events.Message, cause error) {
	a.mu.Lock()
	a.bad[m.Subject] = bad{m, cause}
	a.mu.Unlock()
	a.queue.Add(m.Subject)
}

// buryUnreadable keeps the event of subject that cannot be read, if there is
// one, as a dead letter.
func (a *Applier) buryUnreadable(ctx context.Context, subject string) error {
	a.mu.Lock()
	b, found := a.bad[subject]
	a.mu.Unlock()
	if !found {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, buryTimeout)
	defer cancel()
	if err := a.Bury(ctx, b.message, b.cause); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bad[subject].message.Sequence == b.message.Sequence {
		delete(a.bad, subject)
	}
	return nil
}
