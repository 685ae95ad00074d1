package asker

import (
	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
)

// content is what is published: a score or a status.
type content interface {
	decider.Content
	settle(*Asker, settled)
}

// settled is what became of it.
type settled struct {
	verdict decider.Verdict
	ack     events.Ack
	last    events.Message
	read    bool
}

// Settle takes note of what became of a job.
func (e *Asker) Settle(out *decider.Outcome[content]) {
	e.folded = true
	out.Content.settle(e, settled{verdict: out.Verdict(), ack: out.Ack, last: out.Last, read: out.Read})
}
