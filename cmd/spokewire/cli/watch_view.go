package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// view is what watch shows of one stream.
type view struct {
	name, stream string
	// byCluster and byPlacement make the subjects that match a filter; nil
	// where the stream cannot be filtered so.
	byCluster   func(cluster string) []string
	byPlacement func(namespace, name string) []string
	columns     []string
	row         func(events.Received) []string
}

// filter selects subjects: by cluster, or by the name of a Placement.
type filter struct{ cluster, namespace, name string }

func (v *view) subjects(f filter) ([]string, error) {
	switch {
	case f.cluster != "" && f.name != "":
		return nil, fmt.Errorf("--cluster and --placement are both set, want one")
	case f.cluster != "" && v.byCluster == nil:
		return nil, fmt.Errorf("%s cannot be filtered by --cluster", v.name)
	case f.name != "" && v.byPlacement == nil:
		return nil, fmt.Errorf("%s cannot be filtered by --placement", v.name)
	case f.cluster != "":
		return v.byCluster(f.cluster), nil
	case f.name != "":
		return v.byPlacement(f.namespace, f.name), nil
	}
	return nil, nil
}

func views() []view {
	return []view{
		{
			name: "metrics", stream: events.StreamMetrics, byCluster: metricsOf,
			columns: []string{"TIME", "CLUSTER", "SOURCE", "SAMPLES"}, row: metricsRow,
		},
		{
			name: "scores", stream: events.StreamScores, byCluster: scoresOf,
			columns: []string{"TIME", "CLUSTER", "SCORER", "ITEMS", "HOLDS"}, row: scoreRow,
		},
		{
			name: "decisions", stream: events.StreamDecisions,
			byPlacement: func(ns, name string) []string {
				return decisionsOf(ns, name)
			},
			columns: []string{"TIME", "PLACEMENT", "MODE", "CLUSTERS", "ADDED", "REMOVED", "CAUSE", "MESSAGE"}, row: decisionRow,
		},
		{
			name: "receipts", stream: events.StreamReceipts,
			byCluster: func(cluster string) []string {
				return []string{"sw.receipt." + events.KindScore + "." + events.EncodeToken(cluster) + ".*"}
			},
			byPlacement: func(ns, name string) []string {
				return []string{events.ReceiptSubject(events.KindPlacement, ns, name)}
			},
			columns: []string{"TIME", "KIND", "NAME", "OUTCOME", "LAG", "REASON", "MESSAGE"}, row: receiptRow,
		},
		{
			name: "hub", stream: events.StreamHub, byCluster: hubOfCluster, byPlacement: hubOfPlacement,
			columns: []string{"TIME", "KIND", "NAME", "OBSERVED"}, row: hubRow,
		},
		{
			name: "dead", stream: events.StreamDead,
			columns: []string{"TIME", "ID", "REASON", "FIELD", "SUBJECT", "MESSAGE"}, row: deadRow,
		},
		{
			name: "config", stream: events.StreamConfig,
			byPlacement: func(ns, name string) []string {
				return []string{events.ConfigSubject(events.KindPlacement, ns, name)}
			},
			columns: []string{"TIME", "KIND", "NAME", "REQUESTED"}, row: configRow,
		},
	}
}

func viewNames() []string {
	var names []string
	for _, v := range views() {
		names = append(names, v.name)
	}
	return names
}

func viewNamed(name string) (view, error) {
	for _, v := range views() {
		if v.name == name {
			return v, nil
		}
	}
	return view{}, fmt.Errorf("%q cannot be watched, want one of %s", name, strings.Join(viewNames(), ", "))
}

// decisionsOf are the decisions of a Placement, and those in shadow.
func decisionsOf(namespace, name string) []string {
	return []string{
		events.DecisionSubject(events.KindPlacement, namespace, name),
		events.DecisionSubject(events.KindShadow, namespace, name),
	}
}

func metricsOf(cluster string) []string {
	return []string{"sw.metric." + events.EncodeToken(cluster) + ".*"}
}

func scoresOf(cluster string) []string {
	return []string{"sw.score." + events.EncodeToken(cluster) + ".*"}
}

func hubOfCluster(cluster string) []string {
	return []string{
		events.HubSubject(events.KindCluster, "", cluster),
		"sw.hub." + events.KindAddOnScore + "." + events.EncodeToken(cluster) + ".*",
	}
}

func hubOfPlacement(namespace, name string) []string {
	return []string{
		events.HubSubject(events.KindPlacement, namespace, name),
		events.HubSubject(events.KindPlacementDecision, namespace, name),
	}
}

func metricsRow(r events.Received) []string {
	m, ok := r.Payload.(*schemas.Metrics)
	if !ok {
		return []string{r.Subject.Cluster, r.Subject.Name, r.Event.Type()}
	}
	return []string{r.Subject.Cluster, r.Subject.Name, list(samples(m.Samples))}
}

func scoreRow(r events.Received) []string {
	s, ok := r.Payload.(*schemas.Score)
	if !ok {
		return []string{r.Subject.Cluster, r.Subject.Name, deleted}
	}
	holds := ""
	if expiry := s.Expiry(r.Message.ReceivedAt); !expiry.IsZero() {
		holds = span(expiry.Sub(r.Message.ReceivedAt).Round(time.Second))
	}
	return []string{r.Subject.Cluster, r.Subject.Name, list(scoreItems(s.Items)), holds}
}
