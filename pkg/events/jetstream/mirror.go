package jetstream

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// EnsureMirrors creates the mirrors that are missing in this connection's
// account. Like EnsureStreams it never alters or deletes one.
func (b *Bus) EnsureMirrors(ctx context.Context, mirrors []events.Mirror) error {
	var errs []error
	for _, m := range mirrors {
		if _, err := b.EnsureMirror(ctx, m); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// EnsureMirror is EnsureStream for a mirror.
func (b *Bus) EnsureMirror(ctx context.Context, m events.Mirror) (created bool, err error) {
	return b.ensureStream(ctx, b.mirrorConfig(m))
}

// mirrorConfig takes rollups and lifetimes from the original, else the
// mirror would keep what a tombstone has replaced there.
func (b *Bus) mirrorConfig(m events.Mirror) jetstream.StreamConfig {
	c := b.streamConfig(m.Stream)
	c.Subjects, c.Duplicates = nil, 0
	c.Mirror = &jetstream.StreamSource{
		Name:     m.Stream.Name,
		External: &jetstream.ExternalStream{APIPrefix: m.APIPrefix, DeliverPrefix: m.DeliverPrefix},
	}
	return c
}

// mirrorOf names what the stream mirrors, "" for nothing.
func mirrorOf(c jetstream.StreamConfig) string {
	switch {
	case c.Mirror == nil:
		return ""
	case c.Mirror.External == nil:
		return c.Mirror.Name
	}
	return c.Mirror.Name + " by " + c.Mirror.External.APIPrefix + " to " + c.Mirror.External.DeliverPrefix
}
