package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	pullExpiry   = 30 * time.Second
	pullMaxBytes = 8 << 20 // more than any one message
)

// puller asks a consumer for messages. nats.go's own loop takes a stored
// message that has a Status header and no body for one of the server's, and
// ends; this one tells them apart by their reply subject.
type puller struct {
	bus    *Bus
	sub    *nats.Subscription
	inbox  string
	next   string // the subject of requests
	queue  chan *nats.Msg
	batch  int
	wanted int // asked for and not yet there
	timer  *time.Timer
}

type pullRequest struct {
	Batch     int           `json:"batch"`
	MaxBytes  int           `json:"max_bytes"`
	Expires   time.Duration `json:"expires"`
	Heartbeat time.Duration `json:"idle_heartbeat"`
}

var (
	errIdle   = errors.New("there is nothing more at present")
	errSilent = errors.New("the consumer shows no life")
)

func (b *Bus) pull(stream, consumer string, batch int) (*puller, error) {
	p := &puller{
		bus: b, batch: batch, inbox: b.nc.NewInbox(),
		next:  b.apiPrefix() + "CONSUMER.MSG.NEXT." + stream + "." + consumer,
		queue: make(chan *nats.Msg, 2*batch+256), timer: time.NewTimer(time.Hour),
	}
	var err error
	p.sub, err = b.nc.ChanSubscribe(p.inbox, p.queue)
	return p, err
}

func (p *puller) close() {
	p.timer.Stop()
	_ = p.sub.Unsubscribe() // fails only where the connection is gone, and the subscription with it
}

// receive waits for the next stored message. errIdle means that the server
// has none, and is no failure; any other error means that the consumer must
// be set up again.
func (p *puller) receive(ctx, session context.Context) (*nats.Msg, error) {
	for {
		if err := p.ask(); err != nil {
			return nil, err
		}
		p.timer.Reset(p.bus.options.Heartbeat * 5 / 2)
		select {
		case m := <-p.queue:
			if isStored(m) {
				p.wanted--
				return m, nil
			}
			if err := p.status(m); err != nil {
				return nil, err
			}
		case <-p.timer.C:
			return nil, errSilent
		case <-session.Done():
			return nil, errLost
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ask keeps at least half a batch on order.
func (p *puller) ask() error {
	if p.wanted > p.batch/2 {
		return nil
	}
	body, err := json.Marshal(pullRequest{
		Batch: p.batch - p.wanted, MaxBytes: pullMaxBytes,
		Expires: max(pullExpiry, 4*p.bus.options.Heartbeat), Heartbeat: p.bus.options.Heartbeat,
	})
	if err != nil {
		return err
	}
	p.wanted = p.batch
	return p.bus.nc.PublishRequest(p.next, p.inbox, body)
}

// status reads what the server says of a request: that it is idle, or that
// the request has ended, with so many messages not sent.
func (p *puller) status(m *nats.Msg) error {
	code := m.Header.Get("Status")
	if code == "100" {
		return errIdle
	}
	left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
	if err != nil || code != "408" && code != "409" {
		return fmt.Errorf("the server ended the reading: %s %s", code, m.Header.Get("Description"))
	}
	p.wanted = max(0, p.wanted-left)
	return nil
}
