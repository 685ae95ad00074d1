package inventory

import (
	"cmp"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Score is one item of one scorer for one cluster.
type Score struct {
	Cluster string `json:"cluster"`
	Scorer  string `json:"scorer"`
	schemas.ScoreItem
	ReceivedAt time.Time `json:"receivedAt"`
	// ExpiresAt is absent where there is no value to expire.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	// Stream position of the score's event.
	Sequence uint64 `json:"sequence"`
}

// Scores lists the items of SW_SCORES, sorted by cluster, scorer and item.
func Scores(s *State) []Score {
	scores := []Score{}
	for _, e := range Entries[*schemas.Score](s, events.FamilyScore) {
		expiry := e.Value.Expiry(e.Message.ReceivedAt)
		for _, item := range e.Value.Items {
			score := Score{
				Cluster: e.Value.Cluster, Scorer: e.Value.Scorer, ScoreItem: item,
				ReceivedAt: e.Message.ReceivedAt, Sequence: e.Message.Sequence,
			}
			if item.Value != nil && !expiry.IsZero() {
				score.ExpiresAt = &expiry
			}
			scores = append(scores, score)
		}
	}
	slices.SortStableFunc(scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Scorer, b.Scorer), cmp.Compare(a.Name, b.Name))
	})
	return scores
}

// Good reports whether the score has a value that holds at now.
func (s *Score) Good(now time.Time) bool {
	return s.Value != nil && (s.ExpiresAt == nil || now.Before(*s.ExpiresAt))
}
