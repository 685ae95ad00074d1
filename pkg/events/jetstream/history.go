package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

var _ events.Historian = (*Bus)(nil)

const (
	// maxPast is how many subjects the server answers for at a time.
	maxPast = 1024
	// pastBytes bounds one answer, which the client holds until it is read.
	pastBytes = 16 << 20
)

type pastRequest struct {
	Subjects []string `json:"multi_last"`
	UpTo     uint64   `json:"up_to_seq,omitempty"`
	MaxBytes int      `json:"max_bytes"`
}

// Past implements events.Historian by direct gets, which an ingest stream
// does not have. On a cluster a follower may answer that is behind; what is
// read then is older, never mixed.
func (b *Bus) Past(ctx context.Context, p events.Past, fn func(events.Message) error) (events.Extent, error) {
	if err := p.Validate(); err != nil {
		return events.Extent{}, err
	}
	counts, info, err := b.counts(ctx, p)
	if err != nil {
		return events.Extent{}, fmt.Errorf("past of %s: %w", p.Stream, b.secrets.wrap(err))
	}
	extent := events.Extent{Position: p.Position, Now: info.TimeStamp, Ended: p.Position > info.State.LastSeq}
	if p.Position == 0 || extent.Ended {
		extent.Position = info.State.LastSeq
	}
	r := &past{bus: b, stream: p.Stream, upTo: extent.Position, fn: fn}
	for chunk := range slices.Chunk(slices.Sorted(maps.Keys(counts)), maxPast) {
		without, err := r.read(ctx, chunk)
		if err != nil {
			return extent, b.secrets.wrap(err)
		}
		for _, subject := range without {
			if keep := info.Config.MaxMsgsPerSubject; keep > 0 && counts[subject] >= uint64(keep) {
				extent.Lost = append(extent.Lost, subject)
			} else {
				extent.Later = append(extent.Later, subject)
			}
		}
	}
	return extent, nil
}

// counts returns how many events the stream holds of each subject that
// matches.
func (b *Bus) counts(ctx context.Context, p events.Past) (map[string]uint64, *jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*b.options.AckWait)
	defer cancel()
	filters := p.Subjects
	if len(filters) == 0 {
		filters = []string{">"}
	}
	counts := map[string]uint64{}
	stream, err := b.js.Stream(ctx, p.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = fmt.Errorf("%w: %w", events.ErrNotFound, err)
	}
	if err != nil {
		return nil, nil, err
	}
	info := stream.CachedInfo()
	for _, f := range filters {
		matched, err := stream.Info(ctx, jetstream.WithSubjectFilter(f))
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(counts, matched.State.Subjects)
	}
	return counts, info, nil
}

// past is one reading of it.
type past struct {
	bus    *Bus
	stream string
	upTo   uint64
	fn     func(events.Message) error
}

// read asks for subjects until all have been answered, and returns those
// that have no event up to the position.
func (r *past) read(ctx context.Context, subjects []string) ([]string, error) {
	if r.upTo == 0 {
		return subjects, nil
	}
	left := map[string]bool{}
	for _, s := range subjects {
		left[s] = true
	}
	for {
		more, err := r.ask(ctx, slices.Sorted(maps.Keys(left)), left)
		if err != nil {
			return nil, fmt.Errorf("past of %s: %w", r.stream, err)
		}
		if !more {
			return slices.Sorted(maps.Keys(left)), nil
		}
	}
}

// ask makes one request, and takes what was answered out of left. It reports
// whether the server has more, for which there was no room.
func (r *past) ask(ctx context.Context, subjects []string, left map[string]bool) (bool, error) {
	body, err := json.Marshal(pastRequest{Subjects: subjects, UpTo: r.upTo, MaxBytes: pastBytes})
	if err != nil {
		return false, err
	}
	answers := make(chan *nats.Msg, len(subjects)+1)
	inbox := r.bus.nc.NewInbox()
	sub, err := r.bus.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only with the connection
	session := r.bus.link.current()
	if err := r.bus.nc.PublishRequest(r.bus.apiPrefix()+"DIRECT.GET."+r.stream, inbox, body); err != nil {
		return false, err
	}
	for {
		m, err := r.receive(ctx, session, answers)
		if err != nil {
			return false, err
		}
		if m.Header.Get(headerStreamSubject) == "" {
			return endOfPast(m)
		}
		message, err := directMessage(r.stream, m)
		if err != nil {
			return false, err
		}
		delete(left, message.Subject)
		if err := r.fn(message); err != nil {
			return false, err
		}
	}
}

func (r *past) receive(ctx, session context.Context, answers <-chan *nats.Msg) (*nats.Msg, error) {
	timer := time.NewTimer(r.bus.options.AckWait)
	defer timer.Stop()
	select {
	case m := <-answers:
		return m, nil
	case <-timer.C:
		return nil, errNoAnswer
	case <-session.Done():
		return nil, errLost
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// endOfPast reads the message that ends an answer. It has no subject of its
// own; stored messages always do, for the server puts it there.
func endOfPast(m *nats.Msg) (more bool, err error) {
	switch code := m.Header.Get("Status"); code {
	case "204":
		pending, err := strconv.ParseUint(m.Header.Get("Nats-Num-Pending"), 10, 64)
		return err == nil && pending > 0, nil
	case "404":
		return false, nil
	default:
		return false, fmt.Errorf("the server answered %s %s", code, m.Header.Get("Description"))
	}
}

// Headers that the server adds to what a direct get returns.
const (
	headerStreamSubject  = "Nats-Subject"
	headerStreamSequence = "Nats-Sequence"
	headerStreamTime     = "Nats-Time-Stamp"
)

// directMessage takes the server's headers off again. It puts its own behind
// those of the publisher, so the last one counts; publishers of these streams
// are trusted all the same.
func directMessage(stream string, m *nats.Msg) (events.Message, error) {
	out := events.Message{Stream: stream, Header: events.Header{}, Data: m.Data}
	for key, values := range m.Header {
		switch key {
		case headerStreamSubject, headerStreamSequence, headerStreamTime, "Nats-Stream", "Nats-Num-Pending", "Nats-Last-Sequence":
		default:
			out.Header[key] = values
		}
	}
	var err error
	out.Subject = lastValue(m, headerStreamSubject)
	if out.Sequence, err = strconv.ParseUint(lastValue(m, headerStreamSequence), 10, 64); err != nil {
		return out, fmt.Errorf("direct get: sequence: %w", err)
	}
	if out.ReceivedAt, err = time.Parse(time.RFC3339Nano, lastValue(m, headerStreamTime)); err != nil {
		return out, fmt.Errorf("direct get: time: %w", err)
	}
	return out, nil
}

func lastValue(m *nats.Msg, key string) string {
	values := m.Header.Values(key)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Next implements events.Historian. The leader answers.
func (b *Bus) Next(ctx context.Context, stream, filter string, after uint64) (events.Message, error) {
	if err := (events.Past{Stream: stream, Subjects: []string{filter}}).Validate(); err != nil {
		return events.Message{}, err
	}
	m, err := b.get(ctx, stream, getRequest{Sequence: after + 1, NextSubject: filter})
	return m, b.secrets.wrap(err)
}
