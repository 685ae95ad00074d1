package inventory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Errors of Explain.
var (
	ErrNoPlacement = errors.New("no such Placement")
	ErrNoDecision  = errors.New("nothing was decided for it yet")
)

// Explained is a Placement's last decision, as explain shows it.
type Explained struct {
	Decision *Decision `json:"decision"`
	// Receipt is the bridge's answer to this decision, if it is the last.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Cluster is the one cluster that is explained, or empty.
	Cluster string `json:"cluster,omitempty"`
	// Scores are that cluster's, of the scorers that the decision names, or
	// of all where it names none.
	Scores []Score `json:"scores,omitempty"`
	// Now is the server's time of the reading.
	Now time.Time `json:"now"`
}

// Explain joins what explains the Placement's selection; with a cluster,
// that cluster's part of it. It returns ErrNoPlacement or ErrNoDecision,
// wrapped.
func Explain(s *State, namespace, name, cluster string) (*Explained, error) {
	placements := Placements(s)
	i := slices.IndexFunc(placements, func(p Placement) bool { return p.Namespace == namespace && p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("Placement %s/%s: %w", namespace, name, ErrNoPlacement)
	}
	p := placements[i]
	if p.Decision == nil {
		return nil, fmt.Errorf("Placement %s/%s: %w", namespace, name, ErrNoDecision)
	}
	x := &Explained{Decision: p.Decision, Cluster: cluster, Now: s.Now()}
	subject := events.DecisionSubject(events.KindPlacement, namespace, name)
	if r := p.Receipt; r != nil && r.Subject == subject && r.Sequence == p.Decision.Sequence {
		x.Receipt = r
	}
	if cluster != "" {
		x.Scores = scoresFor(s, cluster, x.Explanation(cluster))
	}
	return x, nil
}

// Explanation returns the decision's word on a cluster; nil where it has
// none: only the first selected, the first runners-up and a few of the
// rejected have one.
func (x *Explained) Explanation(cluster string) *schemas.Explanation {
	for i := range x.Decision.Explanations {
		if e := &x.Decision.Explanations[i]; e.Cluster == cluster {
			return e
		}
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
