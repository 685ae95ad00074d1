// Package archive reads from the streams what a decision rests on: today, or
// at the positions that an earlier one recorded.
package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bus is what is read.
type Bus interface {
	events.Historian
	events.Getter
}

// Archive reads. It may be used by several goroutines.
type Archive struct{ Bus Bus }

// Found is a Scene and how far it can be trusted.
type Found struct {
	*inquiry.Scene
	// Basis is up to where each stream was read.
	Basis map[string]uint64
	// Lost are inputs that are not kept any more, as STREAM SUBJECT.
	Lost []string
	// Outrun are decisions that counted and were never stored, as STREAM
	// SUBJECT: another replica's was faster, and was read in their place, which
	// often says the same.
	Outrun []string
	// Withdrawn: some scores have no value any more, and what they were
	// before was read too.
	Withdrawn bool
}

// Today reads what a decision would rest on now. prepare is called once the
// Placement is known, and says in the end what else is needed.
func (a *Archive) Today(ctx context.Context, key placement.Key, prepare func(*inquiry.Scene) error) (*Found, error) {
	r := a.reading(ctx, inquiry.New(key, time.Time{}), nil)
	if err := r.read(r.Base()); err != nil {
		return nil, err
	}
	r.Now = r.began
	own := inquiry.Read{Stream: events.StreamDecisions, Subjects: []string{r.DecisionSubject()}}
	if err := r.read(own); err != nil {
		return nil, err
	}
	if prepare != nil {
		if err := prepare(r.Scene); err != nil {
			return nil, err
		}
	}
	err := r.readRest()
	return r.Found, err
}

// Then reads what a decision rested on. shallow leaves out what scores were
// before they were withdrawn, as a service does that has just started.
func (a *Archive) Then(ctx context.Context, d *schemas.PlacementDecision, shallow bool) (*Found, error) {
	key := placement.Key{Namespace: d.Placement.Namespace, Name: d.Placement.Name}
	r := a.reading(ctx, inquiry.New(key, d.Now), d)
	r.shallow = shallow
	if err := r.read(r.Base()); err != nil {
		return nil, err
	}
	if r.Placement() == nil {
		r.lose(events.StreamHub, events.HubSubject(events.KindPlacement, key.Namespace, key.Name))
	}
	if err := r.readRest(); err != nil {
		return nil, err
	}
	if err := r.readAhead(); err != nil {
		return nil, err
	}
	err := r.readPrevious()
	return r.Found, err
}

// readRest reads what the Scene asks for beside its base.
func (r *reading) readRest() error {
	for _, read := range r.Reads() {
		if err := r.read(read); err != nil {
			return err
		}
	}
	return nil
}

// readAhead reads decisions that counted although they stand behind the
// position.
func (r *reading) readAhead() error {
	for _, a := range r.decision.Ahead {
		subject := events.DecisionSubject(events.KindPlacement, a.Namespace, a.Name)
		m, err := r.archive.Bus.Next(r.ctx, events.StreamDecisions, subject, a.After)
		if err != nil && !errors.Is(err, events.ErrNotFound) {
			return fmt.Errorf("reading %s: %w", events.StreamDecisions, err)
		}
		d, name := decisionIn(m), fmt.Sprintf("%s behind #%d", subject, a.After) // m is empty with an error
		if d == nil {
			r.lose(events.StreamDecisions, name)
			continue
		}
		r.TakeDecision(d, m.Sequence)
		if !d.Now.Equal(a.Now) {
			r.Outrun = append(r.Outrun, events.StreamDecisions+" "+name)
		}
	}
	return nil
}

// readPrevious reads the decision before.
func (r *reading) readPrevious() error {
	previous := r.decision.Previous
	if previous == 0 {
		r.DropDecision()
		return nil
	}
	subject := r.DecisionSubject()
	m, err := r.archive.Bus.Next(r.ctx, events.StreamDecisions, subject, previous-1)
	if err != nil && !errors.Is(err, events.ErrNotFound) {
		return err
	}
	if d := decisionIn(m); m.Sequence == previous && d != nil { // m is empty with an error
		r.TakeDecision(d, previous)
	} else {
		r.lose(events.StreamDecisions, fmt.Sprintf("%s#%d", subject, previous))
	}
	return nil
}

func decisionIn(m events.Message) *schemas.PlacementDecision {
	received, err := events.Read(m)
	if err != nil {
		return nil
	}
	d, _ := received.Payload.(*schemas.PlacementDecision) // nil for a tombstone
	return d
}
