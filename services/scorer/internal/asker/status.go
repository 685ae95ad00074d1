package asker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// statusGap is the least time between two statuses of a scorer.
const statusGap = time.Second

// mine reports whether this replica asks for a.
func (e *Asker) mine(a *asked) bool {
	return a.wish() != nil && a.status != nil && a.status.Holder == e.options.Identity && e.Now().Before(a.status.HeldUntil)
}

// held returns until when another replica asks for a.
func (e *Asker) held(a *asked) (until time.Time, held bool) {
	if a.status == nil || a.status.Holder == e.options.Identity || !e.Now().Before(a.status.HeldUntil) {
		return time.Time{}, false
	}
	return a.status.HeldUntil, true
}

func (a *asked) due(e *Asker) { e.statuses.Push(a) }

// decideStatus claims a scorer that nobody holds, says what is new of one
// that is held, and ends the status of one that is gone.
func (e *Asker) decideStatus(ctx context.Context, a *asked) {
	now := e.Now()
	if a.wish() == nil {
		e.alarms.Set(a, time.Time{})
		if a.status != nil {
			e.startStatus(ctx, a, nil)
		}
		return
	}
	if until, held := e.held(a); held {
		// A replica that holds it says so again in time.
		e.alarms.Set(a, until.Add(rand.N(time.Second)))
		return
	}
	next := e.report(a, now)
	renew := time.Time{}
	if a.status != nil {
		renew = a.status.HeldUntil.Add(-e.options.Lease * 2 / 3)
	}
	soonest := a.receivedAt.Add(statusGap)
	switch {
	case !news(a.status, next) && now.Before(renew):
		e.alarms.Set(a, renew)
	case e.mine(a) && now.Before(soonest) && soonest.Before(now.Add(statusGap)):
		e.alarms.Set(a, soonest)
	default:
		e.startStatus(ctx, a, next)
	}
}

// news reports whether next says something that must not wait until the claim
// is renewed. Counts can wait.
func news(last, next *schemas.ScorerStatus) bool {
	return last == nil || last.Holder != next.Holder || last.UID != next.UID || last.Generation != next.Generation ||
		last.Health != next.Health || last.Reason != next.Reason || last.ScoreName != next.ScoreName ||
		last.ConfigURL != next.ConfigURL || !reflect.DeepEqual(last.Config, next.Config)
}

// report is what there is to say of a.
func (e *Asker) report(a *asked, now time.Time) *schemas.ScorerStatus {
	w := a.wish()
	s := &schemas.ScorerStatus{
		Namespace: a.key.namespace, Name: a.key.name, UID: w.uid, Generation: w.generation,
		Health: e.health(a), Holder: e.options.Identity, HeldUntil: now.Add(e.options.Lease),
	}
	if a.taken == "" {
		s.ScoreName = a.name
	}
	if w.spec.ConfigSyncMode == schemas.SyncFull {
		s.Config = a.config(w)
	}
	if s.Config != nil {
		s.ConfigURL = w.spec.ConfigURL
	}
	example := e.count(a, s)
	if f := a.trouble(); f != nil {
		s.Reason, s.Message = f.Reason, f.Message
	} else if example != nil {
		failing := s.Failing[example.Reason]
		s.Reason, s.Message = example.Reason, fmt.Sprintf("%d of %d clusters: %s", failing, s.Clusters, example.Message)
	}
	s.Message = cutMessage(s.Message)
	return s
}

func cutMessage(text string) string {
	if r := []rune(text); len(r) > schemas.MaxStatusMessage {
		return string(r[:schemas.MaxStatusMessage])
	}
	return text
}

// count counts the clusters to score and those whose last attempt failed, and
// returns one failure of the most frequent reason.
func (e *Asker) count(a *asked, s *schemas.ScorerStatus) *dynamic.Failure {
	examples := map[string]*dynamic.Failure{}
	for _, c := range e.clusters {
		if !c.scored() || a.scorer == nil || e.masked(a, c) {
			continue
		}
		s.Clusters++
		f := e.failureOf(a, c)
		if f == nil {
			continue
		}
		if s.Failing == nil {
			s.Failing = map[string]int{}
		}
		s.Failing[f.Reason]++
		if old := examples[f.Reason]; old == nil || f.Message < old.Message {
			examples[f.Reason] = f
		}
	}
	if len(examples) == 0 {
		return nil
	}
	return examples[slices.MaxFunc(slices.Sorted(maps.Keys(examples)), func(x, y string) int { return cmp.Compare(s.Failing[x], s.Failing[y]) })]
}

// failureOf is why the last attempt for a cluster failed, nil where it did
// not.
func (e *Asker) failureOf(a *asked, c *cluster) *dynamic.Failure {
	u := a.unitOf(c)
	switch {
	case u == nil:
		return nil
	case u.failure != nil:
		return u.failure
	case u.answer == nil:
		return nil
	}
	_, f := u.answer.items(a.scorer, c.name)
	return f
}

// trouble is what keeps all of a's clusters without new scores, nil for
// nothing.
func (a *asked) trouble() *dynamic.Failure {
	switch {
	case a.taken != "":
		return dynamic.Failf(dynamic.NameTaken, "the score's name %s is that of %s, which had it first: give one of them another scoring.params.name", a.name, a.taken)
	case a.problem != nil && a.problem.Reason != dynamic.NotSynced:
		return a.problem
	case a.check.token != nil:
		return a.check.token
	case a.check.failure != nil:
		return a.check.failure
	}
	return a.problem
}

// health is what OCM's resource calls the health of a scorer. Before the
// first check it is as it was.
func (e *Asker) health(a *asked) string {
	_, open := a.breaker.Open(e.Now())
	switch {
	case !a.check.done && (a.status == nil || a.status.UID != a.wish().uid):
		return schemas.HealthUnknown
	case !a.check.done:
		return a.status.Health
	case a.check.failure != nil || a.check.token != nil || a.problem != nil || open:
		return schemas.HealthInactive
	}
	return schemas.HealthActive
}

// setStatus takes a status, nil for none, for the last of its subject.
func (e *Asker) setStatus(a *asked, status *schemas.ScorerStatus, sequence uint64) {
	was := e.mine(a)
	a.status, a.sequence = status, sequence
	if status == nil || status.Holder != e.options.Identity || reflect.DeepEqual(status.Config, a.synced) {
		a.synced = nil // the bus has it, or another's
	}
	e.resolve(a)
	switch is := e.mine(a); {
	case is && !was:
		e.takeUp(a)
	case was && !is:
		e.gauges.dropScorer(a.key)
	}
}

// takeUp begins to ask for a scorer.
func (e *Asker) takeUp(a *asked) {
	a.check = check{asked: a, Alarm: a.check.Alarm, running: a.check.running}
	e.alarms.Set(&a.check, e.Now())
	e.resetUnits(a)
	e.markScorer(a)
}

// statusing is a status to be published, nil for the end of it.
type statusing struct {
	asked  *asked
	status *schemas.ScorerStatus
}

func (e *Asker) startStatus(ctx context.Context, a *asked, status *schemas.ScorerStatus) {
	eventType := schemas.TypeStatusDynamicScorer
	if status == nil {
		eventType = schemas.TypeStatusDynamicScorerDeleted
	}
	e.Start(ctx, decider.Job[content]{
		Content: &statusing{a, status}, Type: eventType, Source: events.ServiceSource(service), Key: a.key.String(),
		Subject: events.StatusSubject(events.KindDynamicScorer, a.key.namespace, a.key.name), Stream: events.StreamStatus, Expected: a.sequence,
	})
	e.statuses.Away(a)
}

// Payload is the status, or its end.
func (s *statusing) Payload() schemas.Payload {
	if s.status == nil {
		return &schemas.Deleted{Namespace: s.asked.key.namespace, Name: s.asked.key.name, Reason: "the scorer was deleted"}
	}
	return s.status
}

func (s *statusing) settle(e *Asker, out settled) {
	a := s.asked
	switch {
	case out.verdict == decider.Stored:
		a.Failures = 0
		if out.ack.Sequence > a.sequence {
			a.receivedAt = e.Now()
			e.setStatus(a, s.status, out.ack.Sequence)
		}
	case out.read:
		e.adoptStatus(a, out.last)
	}
	e.statuses.Back(a)
	switch out.verdict {
	case decider.Outrun:
		e.statuses.Push(a)
	case decider.Failed:
		e.alarms.Set(a, a.Retry(e.Now()))
	case decider.Stored:
		e.statuses.Push(a) // says when to look again
	}
}

// adoptStatus takes what the subject's leader has for the truth.
func (e *Asker) adoptStatus(a *asked, last events.Message) {
	var status *schemas.ScorerStatus
	if last.Sequence > 0 {
		if r, err := events.Read(last); err == nil {
			status, _ = r.Payload.(*schemas.ScorerStatus)
		}
	}
	a.receivedAt = last.ReceivedAt
	e.setStatus(a, status, last.Sequence)
}
