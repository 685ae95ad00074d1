package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/checkup"
	"github.com/spokewire/spokewire/internal/checkup/hublook"
	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// inspected is a bus that also says how it is set up.
type inspected interface {
	bus
	Inspect(ctx context.Context, s events.Stream) (jetstream.Inspection, error)
	MaxPayload() int64
}

// What doctor reads of the past to find two writers: enough for each to
// write twice, and no more events than can be read in a moment. Where there
// are more, the newest count.
const (
	metricHistory   = 2 * time.Minute
	decisionHistory = 10 * time.Minute
	maxHistory      = 50_000
	// firstLook is the shortest while that is looked at, where there may be
	// more.
	firstLook = time.Second
)

// secondLook is how long after the first one the readers are looked at again
// that have much to read.
const secondLook = time.Second

// examine reads all streams at once, within half of the time.
func (a *app) examine(ctx context.Context, b inspected, kubeconfig string) checkup.Snapshot {
	ctx, cancel := context.WithTimeout(ctx, a.timeout/2)
	defer cancel()
	streams := events.Streams()
	s := checkup.Snapshot{State: inventory.New(), MaxPayload: b.MaxPayload()}
	readings := make([]reading, len(streams))
	var group sync.WaitGroup
	for i := range streams {
		group.Go(func() { readings[i] = readStream(ctx, b, streams[i]) })
	}
	if kubeconfig != "" {
		group.Go(func() { s.Hub = hublook.Files(ctx, kubeconfig) })
	}
	group.Wait()
	for _, r := range readings {
		s.Streams = append(s.Streams, r.stream)
		switch r.stream.Name {
		case events.StreamMetrics:
			s.Metrics = r.history
		case events.StreamDecisions:
			s.Decisions = r.history
		}
		if s.Clock.Server.IsZero() {
			s.Clock = r.clock
		}
		for _, u := range r.updates {
			s.State.Take(u)
		}
	}
	return s
}

// reading is what was read of one stream.
type reading struct {
	stream  checkup.Stream
	clock   checkup.Clock
	updates []events.Update
	history checkup.History
}

func readStream(ctx context.Context, b inspected, declared events.Stream) reading {
	r := reading{stream: checkup.Stream{Name: declared.Name, RefuseWhenFull: declared.RefuseWhenFull}}
	i, err := b.Inspect(ctx, declared)
	if err != nil {
		r.stream.Fault, r.stream.Cause = faultOf(err), err.Error()
		return r
	}
	r.clock = checkup.Clock{Server: i.ServerTime, Asked: i.Asked, Answered: i.Answered}
	r.stream.Differences, r.stream.Bytes, r.stream.MaxBytes = i.Differences, i.Bytes, i.MaxBytes
	if err := r.read(ctx, b, i); err != nil {
		r.stream.Fault, r.stream.Cause = checkup.FaultUnreadable, err.Error()
		return r
	}
	r.stream.Readers = lookTwice(ctx, b, declared, i.Readers)
	return r
}

func faultOf(err error) checkup.Fault {
	switch {
	case errors.Is(err, jetstream.ErrNoJetStream):
		return checkup.FaultNoJetStream
	case errors.Is(err, events.ErrNotFound):
		return checkup.FaultMissing
	case errors.Is(err, events.ErrDenied):
		return checkup.FaultDenied
	}
	return checkup.FaultUnreadable
}

// read reads the current state, and the history that is looked at.
func (r *reading) read(ctx context.Context, b bus, i jetstream.Inspection) (err error) {
	if r.updates, err = updates(ctx, b, events.Watch{Stream: r.stream.Name}, 0); err != nil {
		return err
	}
	for _, u := range r.updates {
		if u.Kind == events.Stored {
			r.stream.Subjects++
		}
	}
	span := map[string]time.Duration{events.StreamMetrics: metricHistory, events.StreamDecisions: decisionHistory}[r.stream.Name]
	if span == 0 || r.stream.Subjects == 0 {
		return nil
	}
	first := span
	if i.Messages >= maxHistory {
		first = firstLook
	}
	r.history, err = newest(ctx, b, r.stream.Name, i.ServerTime, first, span, maxHistory)
	return err
}

// newest reads the events of the last span before now, or if they are more
// than most, those of a shorter while: from first on, it looks twice as far
// back each time, for as long as they are not.
func newest(ctx context.Context, b bus, stream string, now time.Time, first, span time.Duration, most int) (checkup.History, error) {
	var found checkup.History
	for look := first; ; look = min(2*look, span) {
		read, err := updates(ctx, b, events.Watch{Stream: stream, Since: now.Add(-look)}, most)
		if err != nil {
			return found, err
		}
		full := len(read) >= most
		if full && found.Span > 0 { // the look before had all that it was for
			found.Cut = true
			return found, nil
		}
		found = checkup.History{Events: readable(read), Span: look, Cut: full}
		if full || look == span {
			return found, nil
		}
	}
}

func readable(all []events.Update) []events.Received {
	var out []events.Received
	for _, u := range all {
		if r, err := u.Read(); err == nil && u.Kind == events.Stored {
			out = append(out, r)
		}
	}
	return out
}

// updates reads what is there, and not more than most updates unless it is 0.
func updates(ctx context.Context, b bus, w events.Watch, most int) ([]events.Update, error) {
	var all []events.Update
	err := b.Watch(ctx, w, func(u events.Update) error {
		all = append(all, u)
		if u.Kind == events.Synced || len(all) == most {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return all, nil
	}
	return all, err
}

// lookTwice looks again at readers that have much to read. One that is gone
// by then has read it, or ended.
func lookTwice(ctx context.Context, b inspected, declared events.Stream, first []jetstream.Reader) []checkup.Reader {
	var readers []checkup.Reader
	behind := false
	for _, r := range first {
		readers = append(readers, checkup.Reader{Name: r.Name, Before: r.Pending})
		behind = behind || r.Pending >= checkup.BehindBy
	}
	if !behind {
		return readers
	}
	select {
	case <-time.After(secondLook):
	case <-ctx.Done():
		return readers
	}
	i, err := b.Inspect(ctx, declared)
	if err != nil {
		return readers
	}
	pending := map[string]uint64{}
	for _, r := range i.Readers {
		pending[r.Consumer] = r.Pending
	}
	for k, r := range first {
		readers[k].Pending = pending[r.Consumer]
	}
	return readers
}
