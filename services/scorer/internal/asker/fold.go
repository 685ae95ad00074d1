package asker

import (
	"fmt"
	"unique"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Fold applies one update to the snapshot.
func (e *Asker) Fold(u events.Update) {
	e.folded = true
	if u.Kind != events.Stored && u.Kind != events.Gone {
		return
	}
	subject, err := events.ParseSubject(u.Message.Subject)
	if err != nil {
		return // the other part of the service buries it
	}
	in := input{Message: u.Message, subject: subject, gone: u.Kind == events.Gone}
	if subject.Family == events.FamilyScore {
		e.foldScore(&in)
		return
	}
	if !in.gone {
		if in.Received, in.err = u.Read(); in.err != nil && subject.Kind != events.KindCluster && subject.Kind != events.KindScorer {
			e.Bury(u.Message, in.err)
		}
	}
	if subject.Family == events.FamilyConfig && subject.Kind == events.KindScorer {
		e.foldCEL(&in) // one that is refused has its name all the same
		return
	}
	if in.err != nil {
		return // the last readable one counts
	}
	switch {
	case subject.Family == events.FamilyStatus:
		e.foldStatus(&in)
	case subject.Kind == events.KindCluster:
		e.foldCluster(&in)
	case subject.Kind == events.KindDynamicScorer:
		e.foldScorer(&in)
	case subject.Kind == events.KindScoringConfig:
		e.foldMasks(&in)
	}
}

// input is one update, read as far as it can be.
type input struct {
	events.Received
	Message events.Message
	subject events.Subject
	gone    bool
	err     error
}

// foldCEL takes note of a name that a Scorer has.
func (e *Asker) foldCEL(in *input) {
	_, end := in.Payload.(*schemas.Deleted)
	name, has := in.subject.Name, !in.gone && !end
	if e.cel[name] == has {
		return
	}
	if has {
		e.cel[name] = true
	} else {
		delete(e.cel, name)
	}
	e.claim()
	e.markName(name)
}

// foldCluster takes what the hub says of a cluster.
func (e *Asker) foldCluster(in *input) {
	c := e.cluster(in.subject.Name)
	c.hub, c.hubAt = in.Message.Sequence, in.Message.ReceivedAt
	was := *c
	c.onHub, c.deleted = false, false
	switch in.Payload.(type) {
	case *schemas.Cluster:
		c.onHub = true
	case *schemas.Deleted:
		c.deleted = true
	}
	if was.onHub != c.onHub || was.deleted != c.deleted {
		e.markCluster(c)
	}
}

// foldRoster takes which clusters have metrics.
func (e *Asker) foldRoster(changed map[string]bool) {
	e.folded = true
	for name, has := range changed {
		c := e.cluster(name)
		if c.metrics != has {
			c.metrics = has
			e.markCluster(c)
		}
	}
}

// foldScorer takes what is asked for under a scorer's name.
func (e *Asker) foldScorer(in *input) {
	k := key{in.subject.Namespace, in.subject.Name}
	var w *wish
	switch p := in.Payload.(type) {
	case *schemas.DynamicScorer:
		if !p.Deleting {
			w = &wish{spec: p.Spec, uid: p.UID, generation: p.Generation}
		}
	case *schemas.DynamicScorerRequest:
		w = &wish{spec: p.Spec}
	}
	a := e.scorers[k]
	if a == nil {
		if w != nil && len(e.scorers) >= MaxScorers {
			e.Bury(in.Message, &events.BadInput{Reason: "TooManyScorers", Err: fmt.Errorf("there are %d dynamic scorers, which is the most that are taken: delete one", len(e.scorers))})
			return
		}
		a = e.scorer(k)
	}
	if in.subject.Family == events.FamilyHub {
		a.hub = w
	} else {
		a.bus = w
	}
	e.resolve(a)
	e.alarms.Set(&a.check, e.Now())
}

func (e *Asker) scorer(k key) *asked {
	a := e.scorers[k]
	if a == nil {
		a = &asked{key: k}
		a.check.asked = a
		e.scorers[k] = a
	}
	return a
}

// foldMasks takes the masks of a namespace. Those of another name than OCM's
// say nothing.
func (e *Asker) foldMasks(in *input) {
	if in.subject.Name != schemas.DynamicScoringConfigName {
		return
	}
	m := e.masks[in.subject.Namespace]
	if m == nil {
		m = &masks{}
		e.masks[in.subject.Namespace] = m
	}
	if in.subject.Family == events.FamilyHub {
		m.hub = nil
		if p, ok := in.Payload.(*schemas.DynamicScoringConfig); ok {
			m.hub = masksOf(p.Masks)
		}
	} else {
		m.bus = nil
		if p, ok := in.Payload.(*schemas.DynamicScoringConfigRequest); ok {
			m.bus = masksOf(p.Spec.Masks)
		}
	}
	for _, a := range e.scorers {
		if a.key.namespace != in.subject.Namespace {
			continue
		}
		for _, c := range e.clusters {
			e.resetUnit(a, c)
		}
		e.markScorer(a)
	}
}

func masksOf(list []schemas.Mask) dynamic.Masks {
	out := dynamic.Masks{}
	for _, m := range list {
		out[dynamic.Mask{Cluster: m.ClusterName, ScoreName: m.ScoreName}] = struct{}{}
	}
	return out
}

// foldStatus takes what some replica said of a scorer.
func (e *Asker) foldStatus(in *input) {
	k := key{in.subject.Namespace, in.subject.Name}
	status, _ := in.Payload.(*schemas.ScorerStatus)
	if e.scorers[k] == nil && status == nil {
		return
	}
	a := e.scorer(k)
	if e.Synced() && !in.gone && in.Message.Sequence < a.sequence {
		return
	}
	e.setStatus(a, status, in.Message.Sequence)
	a.receivedAt = in.Message.ReceivedAt
}

// foldScore takes note of a score that somebody published. Those of Scorers
// are not looked into.
func (e *Asker) foldScore(in *input) {
	c := e.clusters[in.subject.Cluster]
	var p *pair
	if c != nil {
		p = c.pairs[in.subject.Name]
	}
	switch {
	case p == nil && (in.gone || e.cel[in.subject.Name]):
		return
	case p != nil && !in.gone && (in.Message.Sequence == p.sequence || e.Synced() && in.Message.Sequence < p.sequence):
		return
	}
	if !in.gone {
		in.Received, in.err = events.Read(in.Message)
	}
	s, _ := in.Payload.(*schemas.Score)
	if p == nil {
		if s == nil {
			return
		}
		if _, ours := basisOf(s); !ours && e.owners[in.subject.Name] == nil {
			return // of a program of somebody's own
		}
		p = e.cluster(in.subject.Cluster).pair(in.subject.Name)
	}
	p.observe(in)
	e.pairs.Push(p)
}

// observe replaces what p knows of its subject.
func (p *pair) observe(in *input) {
	p.sequence, p.receivedAt = in.Message.Sequence, in.Message.ReceivedAt
	p.prior, p.ours, p.basis = nil, false, position{}
	s, ok := in.Payload.(*schemas.Score)
	if !ok {
		return
	}
	state := score.StateOf(s, in.Message.ReceivedAt)
	for i := range state.Items {
		it := &state.Items[i]
		it.Name, it.Reason = unique.Make(it.Name).Value(), unique.Make(it.Reason).Value()
	}
	p.prior = &state
	p.basis, p.ours = basisOf(s)
}

// markCluster has every score of a cluster looked at.
func (e *Asker) markCluster(c *cluster) {
	if !e.Synced() {
		return
	}
	for _, p := range c.pairs {
		e.pairs.Push(p)
	}
	for name, a := range e.owners {
		e.resetUnit(a, c)
		if c.scored() {
			e.pairs.Push(c.pair(name))
		}
		e.statuses.Push(a) // counts its clusters
	}
}

// markScorer has every score of a scorer looked at, and its status.
func (e *Asker) markScorer(a *asked) {
	if !e.Synced() {
		return
	}
	e.statuses.Push(a)
	e.markName(a.name)
}

// markName has every score of a name looked at.
func (e *Asker) markName(name string) {
	if name == "" || !e.Synced() {
		return
	}
	owned := e.owners[name] != nil
	for _, c := range e.clusters {
		if p := c.pairs[name]; p != nil {
			e.pairs.Push(p)
		} else if owned && c.scored() {
			e.pairs.Push(c.pair(name))
		}
	}
}
