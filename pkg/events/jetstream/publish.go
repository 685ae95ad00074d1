package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// Publish implements events.Publisher. An attempt that is not answered
// within AckWait is repeated under the same message id.
func (b *Bus) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	if err := events.CheckSubject(subject); err != nil {
		return events.Ack{}, err
	}
	header, data, err := events.Encode(e)
	if err != nil {
		return events.Ack{}, err
	}
	p := publication{bus: b, id: e.ID(), options: events.NewPublishOptions(e, opts...)}
	p.message = &nats.Msg{Subject: subject, Header: nats.Header(header), Data: data}
	p.setHeaders()
	ack, err := p.run(ctx)
	if err != nil {
		return events.Ack{}, fmt.Errorf("publish %s: %w", subject, b.secrets.wrap(err))
	}
	return ack, nil
}

// publication is one Publish under way.
type publication struct {
	bus     *Bus
	id      string // of the event
	options events.PublishOptions
	message *nats.Msg
}

func (p *publication) setHeaders() {
	h := events.Header(p.message.Header)
	h.Set(jetstream.MsgIDHeader, p.options.MessageID)
	if last := p.options.ExpectLast; last != nil {
		h.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(*last, 10))
	}
	if ttl := p.options.Tombstone; ttl > 0 {
		h.Set("Nats-Rollup", "sub")
		h.Set("Nats-TTL", strconv.FormatInt(int64(max(ttl, time.Second)/time.Second), 10)+"s")
	}
}

func (p *publication) run(ctx context.Context) (events.Ack, error) {
	for attempt := 1; ; attempt++ {
		began := time.Now()
		answer, err := p.send(ctx)
		if err == nil {
			ack := events.Ack{Stream: answer.Stream, Sequence: answer.Sequence}
			if !answer.Duplicate || p.stored(ctx, ack, attempt) {
				return ack, nil
			}
			p.freshID()
			continue
		}
		ack, final, err := p.judge(ctx, err, began)
		if final {
			return ack, err
		}
		if stop := p.bus.pause(ctx, attempt); stop != nil {
			return events.Ack{}, fmt.Errorf("%w (last attempt: %w)", stop, err)
		}
	}
}

type pubAck struct {
	Error     *jetstream.APIError `json:"error"`
	Stream    string              `json:"stream"`
	Sequence  uint64              `json:"seq"`
	Duplicate bool                `json:"duplicate"`
}

// send makes one attempt.
func (p *publication) send(ctx context.Context) (pubAck, error) {
	reply, err := p.bus.request(ctx, p.message)
	if err != nil {
		return pubAck{}, err
	}
	var ack pubAck
	switch err := json.Unmarshal(reply.Data, &ack); {
	case err != nil:
		return pubAck{}, fmt.Errorf("%w: %w", jetstream.ErrInvalidJSAck, err)
	case ack.Error != nil:
		return pubAck{}, ack.Error
	case ack.Stream == "":
		return pubAck{}, jetstream.ErrInvalidJSAck
	}
	return ack, nil
}

// stored reports whether the duplicate that the server speaks of is this
// very event. A first attempt has no twin unless an earlier Publish stored
// it; otherwise somebody else has used the id. Where the message cannot be
// read, a first attempt is sent again: twice is better than never.
func (p *publication) stored(ctx context.Context, ack events.Ack, attempt int) bool {
	if attempt > 1 || p.options.Repeated {
		return true
	}
	m, err := p.bus.get(ctx, ack.Stream, getRequest{Sequence: ack.Sequence})
	return err == nil && p.isMine(m)
}

func (p *publication) isMine(m events.Message) bool {
	if m.Subject != p.message.Subject {
		return false
	}
	e, err := events.Decode(m)
	return err == nil && e.ID() == p.id
}

// freshID gives the next attempt an id that nobody can have used.
func (p *publication) freshID() {
	p.options.MessageID = events.NewID()
	events.Header(p.message.Header).Set(jetstream.MsgIDHeader, p.options.MessageID)
}

// judge says what a failed attempt means, and whether it is final.
func (p *publication) judge(ctx context.Context, err error, began time.Time) (events.Ack, bool, error) {
	if wrongLast(err) {
		return p.conflict(ctx, err)
	}
	if refusal, ok := p.bus.denied.LoadAndDelete(p.message.Subject); ok && !refusal.(time.Time).Before(began) {
		return events.Ack{}, true, events.ErrDenied
	}
	err, final := classify(err)
	return events.Ack{}, final, err
}

// conflict asks the leader whether the event that took the subject is this
// one: stored by an attempt whose answer was lost. Where the expectation holds
// after all, an event of the subject is on its way to the other servers, maybe
// this one, and may still get lost with the leader: that is no answer yet.
func (p *publication) conflict(ctx context.Context, cause error) (events.Ack, bool, error) {
	conflict := fmt.Errorf("%w: %w", events.ErrConflict, cause)
	bounded, cancel := context.WithTimeout(ctx, p.bus.options.AckWait)
	defer cancel()
	stream, err := p.bus.js.StreamNameBySubject(bounded, p.message.Subject)
	if err != nil {
		return events.Ack{}, false, err
	}
	last, err := p.bus.get(bounded, stream, getRequest{LastSubject: p.message.Subject})
	switch {
	case errors.Is(err, events.ErrNotFound): // as a sequence, 0
	case err != nil:
		return events.Ack{}, false, err
	case p.isMine(last):
		return events.Ack{Stream: stream, Sequence: last.Sequence}, true, nil
	}
	return events.Ack{}, last.Sequence != *p.options.ExpectLast, conflict
}
