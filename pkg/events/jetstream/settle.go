package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/pkg/events"
)

// The protocol's answers to a delivery.
const (
	answerAck  = "+ACK"
	answerNak  = "-NAK"
	answerTerm = "+TERM"
	answerBusy = "+WPI"
)

// settle tells the server what became of j. Where that fails the event is
// handed out again.
func (d *desk) settle(j *job, err error) {
	var failed error
	switch {
	case err != nil && d.ctx.Err() != nil:
		failed = d.answer(j, answerNak) // another worker may have it at once
	case events.Settle(j.message, err) == events.Done:
		failed = d.confirm(j, answerAck)
	case events.Settle(j.message, err) == events.Drop:
		failed = d.confirm(j, answerTerm)
	default:
		delay := jitter(events.RetryDelay(j.message.Deliveries))
		failed = d.answer(j, fmt.Sprintf(`%s {"delay":%d}`, answerNak, delay.Nanoseconds()))
	}
	if failed != nil {
		d.bus.options.Log.Warn("an event was handled but the server may not know",
			"stream", d.work.Stream, "sequence", j.message.Sequence, "err", d.bus.secrets.wrap(failed))
	}
}

func (d *desk) answer(j *job, text string) error {
	return d.bus.nc.Publish(d.replyOf(j), []byte(text))
}

// confirm answers and waits until the server has noted it, also while the
// work is being ended.
func (d *desk) confirm(j *job, text string) error {
	_, err := d.bus.request(context.WithoutCancel(d.ctx), &nats.Msg{Subject: d.replyOf(j), Data: []byte(text)})
	return err
}

func (d *desk) replyOf(j *job) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return j.reply
}

// keepWaiting tells the server that queued events are not lost, so that it
// hands them to nobody else. Those that a handler has are not kept: their
// time is bounded.
func (d *desk) keepWaiting() {
	ticker := time.NewTicker(max(d.work.AckWait/3, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-d.ctx.Done():
			return
		}
		for _, j := range d.waiting() {
			_ = d.answer(j, answerBusy) // the next tick tries again
		}
	}
}

func (d *desk) waiting() []*job {
	d.mu.Lock()
	defer d.mu.Unlock()
	var waiting []*job
	for _, j := range d.known {
		if !j.begun {
			waiting = append(waiting, j)
		}
	}
	return waiting
}
