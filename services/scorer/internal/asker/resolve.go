package asker

import (
	"reflect"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (e *Asker) resolveAll() {
	for _, a := range e.scorers {
		e.resolve(a)
	}
}

// resolve works out what a scorer comes to, and has looked at what changes by
// that. It takes effect at once.
func (e *Asker) resolve(a *asked) {
	if !e.Synced() {
		return // Begin does
	}
	was := a.scorer
	a.scorer, a.problem = nil, nil
	if w := a.wish(); w != nil {
		a.scorer, a.problem = dynamic.Resolve(&w.spec, a.config(w))
	}
	changed := !reflect.DeepEqual(was, a.scorer)
	if changed {
		a.breaker, a.answered = dynamic.Breaker{}, time.Time{}
		if was != nil && (a.scorer == nil || a.scorer.ScoreName != was.ScoreName) {
			e.counts.forget(was.ScoreName)
		}
		if a.scorer != nil {
			a.terms = score.NewTerms(a.scorer.Validity(), a.scorer.HubOff)
		}
		e.resetUnits(a)
	} else {
		a.scorer = was // by which an answer under way is known
	}
	before := a.name
	a.name = e.nameOf(a)
	e.claim()
	if changed || before != a.name {
		e.markName(before)
		e.markScorer(a)
	}
	e.statuses.Push(a)
}

// nameOf is the name of a's scores. While it is not known, it is the last
// one, whose scores stand until they expire.
func (e *Asker) nameOf(a *asked) string {
	switch {
	case a.wish() == nil:
		return ""
	case a.scorer != nil:
		return a.scorer.Name
	case a.status != nil:
		return a.status.ScoreName
	}
	return ""
}

// config is what the scorer's own endpoint said last, nil for nothing that
// counts for w.
func (a *asked) config(w *wish) *schemas.SyncedConfig {
	switch {
	case a.synced != nil:
		return a.synced
	case a.status == nil || a.status.ConfigURL != w.spec.ConfigURL || a.status.UID != w.uid:
		return nil
	}
	return a.status.Config
}

// claim works out who has which name.
func (e *Asker) claim() {
	var claims []dynamic.Claim
	byKey := map[string]*asked{}
	for _, a := range e.scorers {
		had := ""
		if a.status != nil {
			had = a.status.ScoreName
		}
		claims = append(claims, dynamic.Claim{Key: a.key.String(), Name: a.name, Had: had})
		byKey[a.key.String()] = a
	}
	names := dynamic.Owners(claims, func(name string) bool { return e.cel[name] })
	owners := make(map[string]*asked, len(names))
	for name, k := range names {
		owners[name] = byKey[k]
	}
	before := e.owners
	e.owners = owners
	for name, a := range owners {
		if before[name] != a {
			e.markName(name)
		}
	}
	for name := range before {
		if owners[name] == nil {
			e.markName(name)
		}
	}
	e.tellTaken()
}

// tellTaken has those say so who do not have the name that they want.
func (e *Asker) tellTaken() {
	for _, a := range e.scorers {
		taken := ""
		switch owner := e.owners[a.name]; {
		case a.name == "" || owner == a:
		case owner != nil:
			taken = "the DynamicScorer " + owner.key.String()
		default:
			taken = "the Scorer " + a.name
		}
		if a.taken != taken {
			a.taken = taken
			e.resetUnits(a)
			e.statuses.Push(a)
		}
	}
}
