package decider

import (
	"context"

	"github.com/spokewire/spokewire/pkg/events"
)

// reading watches each stream as its Spec says.
type reading struct {
	events.Watcher
	readable map[string]func(*events.Received) error
}

func (r reading) Watch(ctx context.Context, w events.Watch, fn func(events.Update) error) error {
	if accept, readable := r.readable[w.Stream]; readable {
		return events.Readable{Watcher: r.Watcher, Accept: accept}.Watch(ctx, w, fn)
	}
	return r.Watcher.Watch(ctx, w, fn)
}
