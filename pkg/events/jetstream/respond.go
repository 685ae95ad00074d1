package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/spokewire/spokewire/pkg/events"
)

var (
	_ events.Responder = (*Bus)(nil)
	_ events.Requester = (*Bus)(nil)
)

// Respond implements events.Responder as a NATS micro service, so that `nats
// micro ls` shows it.
func (b *Bus) Respond(ctx context.Context, s events.Service) error {
	s.Timeout = cmp.Or(s.Timeout, 30*time.Second)
	s.Concurrency, s.Waiting = cmp.Or(s.Concurrency, 4), cmp.Or(s.Waiting, 16)
	s.MaxPayload = cmp.Or(s.MaxPayload, 256<<10)
	service, err := micro.AddService(b.nc, micro.Config{Name: s.Name, Version: s.Version, Description: s.Description})
	if err != nil {
		return fmt.Errorf("service %s: %w: %w", s.Name, events.ErrInvalidOption, err)
	}
	r := &responder{bus: b, service: s, room: make(chan struct{}, s.Concurrency+s.Waiting), turns: make(chan struct{}, s.Concurrency)}
	ctx, cancel := context.WithCancel(ctx)
	for _, e := range s.Endpoints {
		handle := micro.HandlerFunc(func(request micro.Request) { r.take(ctx, e, request) })
		if err = service.AddEndpoint(e.Name, handle, micro.WithEndpointSubject(e.Subject)); err != nil {
			err = fmt.Errorf("endpoint %s: %w: %w", e.Name, events.ErrInvalidOption, err)
			break
		}
	}
	if err == nil {
		<-ctx.Done()
		err = ctx.Err()
	}
	_ = service.Stop() // fails only where the connection is gone
	cancel()
	r.answers.Wait()
	return err
}

type responder struct {
	bus     *Bus
	service events.Service
	room    chan struct{} // for those that are answered or wait
	turns   chan struct{} // for those that are answered
	answers sync.WaitGroup
}

// take answers beside the subscription. A reply that is no inbox is not
// answered at all: it could be a subject that somebody believes.
func (r *responder) take(ctx context.Context, e events.Endpoint, request micro.Request) {
	switch {
	case !isInbox(request.Reply()):
		return
	case len(request.Data()) > r.service.MaxPayload:
		r.refuse(request, &events.Refusal{Code: events.RefusedTooLarge, Message: fmt.Sprintf("the request has %d bytes, at most %d are taken", len(request.Data()), r.service.MaxPayload)})
		return
	}
	select {
	case r.room <- struct{}{}:
	default:
		r.refuse(request, &events.Refusal{Code: events.RefusedBusy, Message: "too many requests wait already: try again later"})
		return
	}
	r.answers.Go(func() {
		defer func() { <-r.room }()
		r.answer(ctx, e, request)
	})
}

// isInbox reports whether a reply comes back to its requester and nobody
// else. The server's names for requests of other accounts begin with _R_.
func isInbox(reply string) bool {
	return strings.HasPrefix(reply, "_INBOX") || strings.HasPrefix(reply, "_R_.")
}

func (r *responder) answer(ctx context.Context, e events.Endpoint, request micro.Request) {
	ctx, cancel := context.WithTimeout(ctx, r.service.Timeout)
	defer cancel()
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		r.refuse(request, r.refusalOf(e, ctx.Err()))
		return
	}
	payload, err := e.Answer(ctx, request.Data())
	if err == nil && int64(len(payload)) > r.bus.MaxPayload()-1024 {
		err = events.Refusef(events.RefusedTooLarge, "", "the answer has %d bytes, which the server does not carry", len(payload))
	}
	if err != nil {
		r.refuse(request, r.refusalOf(e, err))
		return
	}
	if err := request.Respond(payload, micro.WithHeaders(micro.Headers{"Content-Type": []string{"application/json"}})); err != nil {
		r.bus.options.Log.Warn("an answer was not sent", "endpoint", e.Name, "err", r.bus.secrets.wrap(err))
	}
}

func (r *responder) refusalOf(e events.Endpoint, err error) *events.Refusal {
	var refusal *events.Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(err, context.DeadlineExceeded):
		return &events.Refusal{Code: events.RefusedTimeout, Message: fmt.Sprintf("no answer was found within %s", r.service.Timeout)}
	}
	if !errors.Is(err, context.Canceled) {
		r.bus.options.Log.Warn("a request failed", "endpoint", e.Name, "err", r.bus.secrets.wrap(err))
	}
	return &events.Refusal{Code: events.RefusedFailed, Message: "the request failed: the log of " + r.service.Name + " says why"}
}

// refuse answers with the refusal in the body, and in the headers that micro
// has for it.
func (r *responder) refuse(request micro.Request, refusal *events.Refusal) {
	body, err := json.Marshal(refusal)
	if err == nil {
		// A header holds one line.
		err = request.Error(strconv.Itoa(refusal.Code), strings.Map(printable, refusal.Error()), body)
	}
	if err != nil {
		r.bus.options.Log.Warn("a refusal was not sent", "err", r.bus.secrets.wrap(err))
	}
}

func printable(c rune) rune {
	if c < ' ' || c == 0x7f {
		return ' '
	}
	return c
}

// Request implements events.Requester.
func (b *Bus) Request(ctx context.Context, subject string, payload []byte) ([]byte, error) {
	if err := events.CheckSubject(subject); err != nil {
		return nil, err
	}
	began := time.Now()
	reply, err := b.nc.RequestWithContext(ctx, subject, payload)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, fmt.Errorf("request %s: %w", subject, events.ErrNoResponder)
	case err != nil && b.deniedSince(subject, began):
		return nil, fmt.Errorf("request %s: %w", subject, events.ErrDenied)
	case err != nil:
		return nil, fmt.Errorf("request %s: %w", subject, b.secrets.wrap(err))
	}
	code := reply.Header.Get(micro.ErrorCodeHeader)
	if code == "" {
		return reply.Data, nil
	}
	refusal := &events.Refusal{}
	if json.Unmarshal(reply.Data, refusal) != nil || refusal.Code == 0 {
		refusal.Code, _ = strconv.Atoi(code)
		refusal.Message = reply.Header.Get(micro.ErrorHeader)
	}
	return nil, refusal
}
