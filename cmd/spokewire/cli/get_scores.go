package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
)

func (a *app) newGetScores() *cobra.Command {
	cluster := ""
	c := newResource(a, scoresResource(&cluster))
	c.Flags().StringVar(&cluster, "cluster", "", "only scores of this cluster")
	return c
}

func scoresResource(cluster *string) resource[inventory.Score] {
	return resource[inventory.Score]{
		use:     "scores",
		short:   "Scores of every cluster, or of one scorer NAME",
		watches: func(scorer string) ([]events.Watch, error) { return scoreWatches(*cluster, scorer) },
		list:    inventory.Scores,
		scope: func() string {
			if *cluster == "" {
				return ""
			}
			return fmt.Sprintf(" of cluster %q", *cluster)
		},
		is:      func(s *inventory.Score, scorer string) bool { return s.Scorer == scorer },
		columns: []string{"CLUSTER", "SCORER", "ITEM", "VALUE", "RAW", "REASON", "AGE", "EXPIRES IN", "MESSAGE"},
		row:     scoresRow,
	}
}

func scoreWatches(cluster, scorer string) ([]events.Watch, error) {
	tokens := [2]string{"*", "*"}
	for i, name := range []string{cluster, scorer} {
		if name != "" {
			tokens[i] = events.EncodeToken(name)
		}
	}
	return []events.Watch{{Stream: events.StreamScores, Subjects: []string{"sw.score." + tokens[0] + "." + tokens[1]}}}, nil
}

func scoresRow(s *inventory.Score, now time.Time) []string {
	return []string{
		s.Cluster, s.Scorer, s.Name, valueOr(s.Value, ""), raw(s.Raw), s.Reason,
		age(now, s.ReceivedAt), expiry(s.ExpiresAt, now), s.Message,
	}
}

func raw(value *float64) string {
	if value == nil {
		return ""
	}
	return number(*value)
}

func expiry(at *time.Time, now time.Time) string {
	switch {
	case at == nil:
		return ""
	case !now.Before(*at):
		return "expired"
	}
	return span(at.Sub(now))
}
