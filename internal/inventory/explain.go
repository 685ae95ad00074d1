package inventory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Errors of Explain.
var (
	ErrNoPlacement = errors.New("no such Placement")
	ErrNoDecision  = errors.New("nothing was decided for it yet")
	ErrNoCluster   = errors.New("no such cluster")
)

// Explained is a Placement's last decision, as explain shows it: of one in
// shadow what Spokewire would decide.
type Explained struct {
	Decision *Decision `json:"decision"`
	// Agreement is how a shadow decision compares with what OCM selects.
	Agreement *placement.Agreement `json:"agreement,omitempty"`
	// Receipt is the bridge's answer to this decision.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Cluster is the one cluster that is explained, or empty.
	Cluster string `json:"cluster,omitempty"`
	// Scores are that cluster's, of the scorers that the decision names, or
	// of all where it names none.
	Scores []Score `json:"scores,omitempty"`
	// Why is what the service inquiry says of that cluster; nil where it was
	// not asked, or does not run.
	Why *schemas.ExplainAnswer `json:"why,omitempty"`
	// Now is the server's time of the reading.
	Now time.Time `json:"now"`
}

// Explain joins what explains the Placement's selection; with a cluster,
// that cluster's part of it. The receipt is there if it is the last on the
// Placement; Answered finds an earlier one. Explain returns ErrNoPlacement,
// ErrNoDecision, or ErrNoCluster for a cluster of which s holds nothing,
// wrapped.
func Explain(s *State, namespace, name, cluster string) (*Explained, error) {
	placements := Placements(s)
	i := slices.IndexFunc(placements, func(p Placement) bool { return p.Namespace == namespace && p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("Placement %s/%s: %w", namespace, name, ErrNoPlacement)
	}
	p := placements[i]
	if p.Shadow != nil {
		p.Decision, p.Receipt = p.Shadow, nil
	}
	if p.Decision == nil {
		return nil, fmt.Errorf("Placement %s/%s: %w", namespace, name, ErrNoDecision)
	}
	x := &Explained{Decision: p.Decision, Agreement: p.Agreement, Cluster: cluster, Now: s.Now()}
	subject := events.DecisionSubject(events.KindPlacement, namespace, name)
	if r := p.Receipt; r != nil && r.Subject == subject && r.Sequence == p.Decision.Sequence {
		x.Receipt = r
	}
	if cluster != "" {
		if !x.knows(s, cluster) {
			return nil, fmt.Errorf("cluster %s: %w", cluster, ErrNoCluster)
		}
		x.Scores = scoresFor(s, cluster, x.Explanation(cluster))
	}
	return x, nil
}

// knows reports whether the decision, the hub, a metric or a score speaks of
// the cluster.
func (x *Explained) knows(s *State, cluster string) bool {
	return x.Explanation(cluster) != nil || x.Selected(cluster) > 0 ||
		slices.ContainsFunc(Clusters(s), func(c Cluster) bool { return c.Name == cluster }) ||
		slices.ContainsFunc(Scores(s), func(score Score) bool { return score.Cluster == cluster })
}

// Answered looks for the bridge's answer in the receipts on the Placement
// since the decision, in their order: the last one may be about a request. A
// bridge that starts looks again and says Unchanged; what it did first says
// more.
func (x *Explained) Answered(receipts []events.Message) {
	subject := events.DecisionSubject(events.KindPlacement, x.Decision.Placement.Namespace, x.Decision.Placement.Name)
	var answer *Receipt
	for _, m := range receipts {
		received, err := events.Read(m)
		if err != nil {
			continue
		}
		r, ok := received.Payload.(*schemas.Receipt)
		if !ok || r.Subject != subject || r.Sequence != x.Decision.Sequence {
			continue
		}
		if answer == nil || answer.Outcome != schemas.OutcomeApplied || r.Outcome != schemas.OutcomeUnchanged {
			answer = &Receipt{ReceivedAt: m.ReceivedAt, Receipt: r}
		}
	}
	if answer != nil {
		x.Receipt = answer
	}
}

// Explanation returns the decision's word on a cluster, or else what was
// recomputed; nil where there is neither: only the first selected, the first
// runners-up and a few of the rejected have a word of the decision's own.
func (x *Explained) Explanation(cluster string) *schemas.Explanation {
	for i := range x.Decision.Explanations {
		if e := &x.Decision.Explanations[i]; e.Cluster == cluster {
			return e
		}
	}
	if x.Why != nil && x.Why.Explanation != nil && x.Why.Explanation.Cluster == cluster {
		return x.Why.Explanation
	}
	return nil
}

// Selected returns the rank of a cluster, from 1; 0 if it is not selected.
func (x *Explained) Selected(cluster string) int {
	return 1 + slices.IndexFunc(x.Decision.Clusters, func(c schemas.SelectedCluster) bool { return c.Name == cluster })
}

// Prioritizers returns the names of those that any explanation has, in the
// order in which they first stand.
func (x *Explained) Prioritizers() []string {
	var names []string
	for _, e := range x.Decision.Explanations {
		for _, p := range e.Prioritizers {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

func scoresFor(s *State, cluster string, e *schemas.Explanation) []Score {
	var scorers []string
	if e != nil {
		for _, p := range e.Prioritizers {
			if parts := strings.Split(p.Name, "/"); len(parts) == 3 && parts[0] == "AddOn" {
				scorers = append(scorers, parts[1])
			}
		}
	}
	var scores []Score
	for _, score := range Scores(s) {
		if score.Cluster == cluster && (len(scorers) == 0 || slices.Contains(scorers, score.Scorer)) {
			scores = append(scores, score)
		}
	}
	return scores
}
