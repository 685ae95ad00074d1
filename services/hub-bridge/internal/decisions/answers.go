package decisions

import (
	"context"
	"sync"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
)

// answers remembers what was said of the last decision of each subject, so
// that each is answered once however often it is looked at.
type answers struct {
	record func(context.Context, receipt.Answer)

	mu      sync.Mutex
	last    map[string]answered
	working map[string]uint64 // the sequence that a worker is at
}

type answered struct {
	sequence        uint64
	outcome, reason string
	staying         string // the message, if the reason is an overlap
}

func newAnswers(record func(context.Context, receipt.Answer)) *answers {
	return &answers{record: record, last: map[string]answered{}, working: map[string]uint64{}}
}

func (a *answers) begin(subject string, sequence uint64) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.working[subject] = sequence
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.working, subject)
	}
}

// give records r unless the same was said of the same event before.
func (a *answers) give(ctx context.Context, r receipt.Answer) {
	if a.news(&r) {
		a.record(ctx, r)
	}
}

func (a *answers) news(r *receipt.Answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.last[r.Subject]
	again := before.sequence == r.Sequence
	stood := again && (before.outcome == schemas.OutcomeApplied || before.outcome == schemas.OutcomeUnchanged)
	switch {
	case stood && r.Outcome == schemas.OutcomeUnchanged:
		return false
	case stood && r.Outcome == schemas.OutcomeApplied && r.Reason == "" && before.reason == bridge.ReasonOverlap:
		r.Reason = bridge.ReasonOverlapOver
	case stood && r.Outcome == schemas.OutcomeApplied && r.Reason == "":
		r.Reason = bridge.ReasonRestored
	}
	now := answered{sequence: r.Sequence, outcome: r.Outcome, reason: r.Reason}
	if r.Reason == bridge.ReasonOverlap {
		now.staying = r.Message
	}
	if again && before == now {
		return false
	}
	a.last[r.Subject] = now
	return true
}

// open reports whether the event was not answered yet and no worker is at
// it.
func (a *answers) open(subject string, sequence uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last[subject].sequence != sequence && a.working[subject] != sequence
}

// given reports whether the event was answered.
func (a *answers) given(subject string, sequence uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last[subject].sequence == sequence
}

// refused reports whether the event was last refused for that reason.
func (a *answers) refused(subject string, sequence uint64, reason string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last[subject] == answered{sequence: sequence, outcome: schemas.OutcomeRefused, reason: reason}
}

// note takes the event as answered without a receipt.
func (a *answers) note(subject string, sequence uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last[subject] = answered{sequence: sequence}
}

// forget drops what is known of a subject that has no event any more.
func (a *answers) forget(subject string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, subject)
}
