package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Fold applies one update to the snapshot and marks what it makes dirty.
func (e *Engine) Fold(u events.Update) {
	e.folded = true
	if u.Kind != events.Stored && u.Kind != events.Gone {
		return
	}
	if kind := configKind(u.Message.Subject); kind != "" && kind != events.KindScorer {
		e.foldKind(u, kind)
		return
	}
	e.event++
	subject, err := events.ParseSubject(u.Message.Subject)
	if err != nil {
		e.Bury(u.Message, &events.BadInput{Reason: "BadSubject", Field: "subject", Err: err})
		return
	}
	if u.Kind == events.Stored && subject.Family == events.FamilyScore && e.known(subject, u.Message) {
		return
	}
	in := input{Message: u.Message, subject: subject, gone: u.Kind == events.Gone}
	if !in.gone {
		if in.Received, in.err = u.Read(); in.err != nil {
			e.Bury(u.Message, in.err)
		}
	}
	if in.err != nil && (subject.Family == events.FamilyMetric || subject.Family == events.FamilyHub) {
		if subject.Family == events.FamilyMetric {
			e.skip(subject, u.Message.Sequence)
		}
		return // what was known stays, which events.Readable makes the same for every replica
	}
	switch subject.Family {
	case events.FamilyMetric:
		e.foldMetrics(&in)
	case events.FamilyHub:
		e.foldCluster(&in)
	case events.FamilyConfig:
		e.foldScorer(&in)
	case events.FamilyScore:
		e.foldScore(&in)
	}
}

// input is one update, read as far as it can be. A Scorer or a score that is
// refused ends what its subject said before: a broken Scorer is to say so,
// and a broken score is replaced.
type input struct {
	events.Received
	Message events.Message
	subject events.Subject
	gone    bool
	err     error
	cause   *decider.Trigger
}

// trigger is made when the first pair asks for it.
func (in *input) trigger() *decider.Trigger {
	if in.cause == nil && in.err == nil && !in.gone {
		t := decider.TriggerOf(&in.Received)
		in.cause = &t
	}
	return in.cause
}

// foldMetrics replaces one source's snapshot.
func (e *Engine) foldMetrics(in *input) {
	c := e.cluster(in.subject.Cluster)
	at, found := c.source(in.subject.Name)
	var before, after *score.Source
	if found {
		before = c.Sources[at]
	}
	if !in.gone {
		after = newSource(in, before)
		e.remember(after)
		e.position.metrics = max(e.position.metrics, after.Sequence)
		c.metrics = max(c.metrics, after.Sequence)
	}
	switch {
	case found && after != nil:
		c.Sources[at] = after
	case found:
		c.drop(at)
	case after != nil:
		c.Sources = slices.Insert(c.Sources, at, after)
	}
	e.enrol(c)
	e.markReaders(c, in, before, after)
	if !found {
		e.markAll(c, in)
	}
}

// enrol tells others whether the cluster has metrics.
func (e *Engine) enrol(c *cluster) {
	if e.Roster != nil {
		e.Roster.Set(c.name, len(c.Sources) > 0)
	}
}

func newSource(in *input, before *score.Source) *score.Source {
	s := &score.Source{Sequence: in.Message.Sequence, ObservedAt: in.ObservedAt, ReceivedAt: in.Message.ReceivedAt}
	if before != nil {
		s.Name, s.Subject, s.Past = before.Name, before.Subject, before.Past
	} else {
		s.Name, s.Subject = strings.Clone(in.subject.Name), strings.Clone(in.Message.Subject)
	}
	if m, ok := in.Payload.(*schemas.Metrics); ok {
		s.Samples = series.NewSamples(m.Samples)
	}
	return s
}

// markReaders marks the scorers that read a name that is in either snapshot.
func (e *Engine) markReaders(c *cluster, in *input, snapshots ...*score.Source) {
	if !e.Synced() {
		return
	}
	for _, s := range e.dynamic {
		e.markOnce(c, s, in)
	}
	for _, src := range snapshots {
		if src == nil {
			continue
		}
		last := ""
		for _, sample := range src.Samples {
			if name := sample.Series.Name(); name != last {
				last = name
				for _, s := range e.readers[name] {
					e.markOnce(c, s, in)
				}
			}
		}
	}
}

func (e *Engine) markAll(c *cluster, in *input) {
	if !e.Synced() {
		return
	}
	for _, s := range e.scorers {
		e.markOnce(c, s, in)
	}
}

func (e *Engine) markOnce(c *cluster, s *scorer, in *input) {
	if s.marked != e.event {
		s.marked = e.event
		e.mark(c, s, in.trigger())
	}
}

// foldCluster takes what the hub says of a cluster.
func (e *Engine) foldCluster(in *input) {
	c := e.cluster(in.subject.Name)
	c.hub, c.hubAt = in.Message.Sequence, in.Message.ReceivedAt
	e.position.hub = max(e.position.hub, c.hub)
	was, labels, claims := c.on, c.Labels, c.Claims
	c.on, c.Labels, c.Claims = unknown, nil, nil
	switch p := in.Payload.(type) {
	case *schemas.Cluster:
		c.on, c.Labels, c.Claims = present, p.Labels, p.Claims
	case *schemas.Deleted:
		c.on = deleted
	}
	if was != c.on || !maps.Equal(labels, c.Labels) || !maps.Equal(claims, c.Claims) {
		e.markAll(c, in)
	}
}

// foldScorer takes what a user asked for.
func (e *Engine) foldScorer(in *input) {
	name := in.subject.Name
	s := e.scorers[name]
	if s == nil {
		if _, end := in.Payload.(*schemas.Deleted); !end && !in.gone && e.live >= MaxScorers {
			e.Bury(in.Message, &events.BadInput{Reason: "TooManyScorers", Err: fmt.Errorf("there are %d scorers, which is the most that are taken: delete one", e.live)})
			return
		}
		s = &scorer{name: name}
		e.scorers[name] = s
	}
	s.sequence, s.receivedAt = in.Message.Sequence, in.Message.ReceivedAt
	e.position.config = max(e.position.config, s.sequence)
	e.counts.forget(name)
	s.program = e.program(in)
	e.index()
	e.lookBack()
	if in.gone {
		delete(e.scorers, name) // not a deletion: its scores expire by themselves
		return
	}
	if e.Synced() {
		for _, c := range e.clusters {
			e.mark(c, s, in.trigger())
		}
	}
}

// program returns nil where the scorer is no more. One that is faulty is a
// program all the same, whose scores say what is wrong.
func (e *Engine) program(in *input) *score.Program {
	switch p := in.Payload.(type) {
	case *schemas.Scorer:
		program, err := e.compiler.Compile(p)
		if err != nil {
			e.Bury(in.Message, badExpression(in, err))
		}
		return program
	case *schemas.Deleted:
		return nil
	}
	if in.gone {
		return nil
	}
	return score.Broken(in.subject.Name, in.err)
}
