package events

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Batch is what a Feed delivers at once.
type Batch struct {
	Updates []Update
	// Synced is true while every watch of the feed is synced: decide only
	// then.
	Synced bool
}

// maxBatch bounds one batch, and with it how long a decider is kept from
// deciding.
const maxBatch = 4096

// Feed runs several watches and hands their updates to fn from one
// goroutine, as many at once as are waiting, each watch's in order. So a
// decider that is slower than its input decides less often, never late. It
// returns fn's error, or ctx's.
func Feed(ctx context.Context, w Watcher, watches []Watch, fn func(Batch) error) error {
	group, ctx := errgroup.WithContext(ctx)
	type numbered struct {
		watch  int
		update Update
	}
	updates := make(chan numbered, maxBatch)
	for i, watch := range watches {
		group.Go(func() error {
			return w.Watch(ctx, watch, func(u Update) error {
				select {
				case updates <- numbered{i, u}:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
	}
	synced := make([]bool, len(watches))
	take := func(b *Batch, n numbered) {
		switch n.update.Kind {
		case Synced:
			synced[n.watch] = true
		case Behind:
			synced[n.watch] = false
		}
		b.Updates = append(b.Updates, n.update)
	}
	group.Go(func() error {
		for {
			var b Batch
			select {
			case n := <-updates:
				take(&b, n)
			case <-ctx.Done():
				return ctx.Err()
			}
		drain:
			for len(b.Updates) < maxBatch {
				select {
				case n := <-updates:
					take(&b, n)
				default:
					break drain
				}
			}
			b.Synced = all(synced)
			if err := fn(b); err != nil {
				return err
			}
		}
	})
	return group.Wait()
}

func all(flags []bool) bool {
	for _, f := range flags {
		if !f {
			return false
		}
	}
	return true
}
