package jetstream

import (
	"context"
	"sync"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// desk is where the events of one Work wait for their turn, those of one
// subject in one queue.
type desk struct {
	ctx     context.Context // ends with the Work
	end     context.CancelFunc
	bus     *Bus
	work    events.Work
	handler events.Handler

	mu      sync.Mutex
	known   map[uint64]*job // by sequence
	queues  map[string][]*job
	running sync.WaitGroup
}

type job struct {
	delivery
	taken time.Time
	begun bool
}

func newDesk(ctx context.Context, b *Bus, w events.Work, h events.Handler) *desk {
	d := &desk{bus: b, work: w, handler: h, known: map[uint64]*job{}, queues: map[string][]*job{}}
	// It ends in close, when nothing is pulled any more: what is given back
	// sooner would come straight back.
	d.ctx, d.end = context.WithCancel(context.WithoutCancel(ctx))
	d.running.Go(d.keepWaiting)
	return d
}

// close ends the handlers and waits for them.
func (d *desk) close() {
	d.end()
	d.running.Wait()
}

// take queues one delivery. One that is handed out again while it is still
// here is not queued twice, it is only answered by its newest reply subject.
func (d *desk) take(next delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if j := d.known[next.message.Sequence]; j != nil {
		j.reply = next.reply
		return
	}
	j := &job{delivery: next, taken: time.Now()}
	d.known[next.message.Sequence] = j
	subject := next.message.Subject
	d.queues[subject] = append(d.queues[subject], j)
	if len(d.queues[subject]) == 1 {
		d.running.Go(func() { d.serve(subject) })
	}
}

// serve works through the queue of one subject.
func (d *desk) serve(subject string) {
	for j := d.first(subject); j != nil; j = d.first(subject) {
		err := d.handle(j)
		d.settle(j, err)
		d.remove(subject, j)
	}
}

func (d *desk) first(subject string) *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	queue := d.queues[subject]
	if len(queue) == 0 {
		delete(d.queues, subject)
		return nil
	}
	queue[0].begun = true
	return queue[0]
}

func (d *desk) remove(subject string, j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, j.message.Sequence)
	d.queues[subject] = d.queues[subject][1:]
}

func (d *desk) handle(j *job) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if time.Since(j.taken) > d.work.AckWait/10 {
		_ = d.answer(j, answerBusy) // AckWait counts from here; a failure only makes it shorter
	}
	bounded, cancel := context.WithTimeout(d.ctx, d.work.AckWait)
	defer cancel()
	_, err := d.handler(bounded, j.message)
	return err
}
