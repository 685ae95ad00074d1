package cli

import (
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
)

func clustersResource() resource[inventory.Cluster] {
	return resource[inventory.Cluster]{
		use:     "clusters",
		short:   "Clusters, and how old their metrics are",
		watches: clusterWatches,
		list:    inventory.Clusters,
		is:      func(c *inventory.Cluster, name string) bool { return c.Name == name },
		columns: []string{"NAME", "ON HUB", "SOURCES", "LAST METRIC", "LABELS", "CLAIMS", "TAINTS", "CORDONED"},
		row:     clusterRow,
	}
}

func clusterWatches(name string) ([]events.Watch, error) {
	cordons := "sw.config." + events.KindCordon + ".*.*"
	hub, metrics := "sw.hub."+events.KindCluster+".*.*", "sw.metric.*.*"
	if name != "" {
		hub, metrics = events.HubSubject(events.KindCluster, "", name), metricsOf(name)[0]
		cordons = events.ConfigSubject(events.KindCordon, "", name)
	}
	return []events.Watch{
		{Stream: events.StreamHub, Subjects: []string{hub}},
		{Stream: events.StreamMetrics, Subjects: []string{metrics}},
		{Stream: events.StreamConfig, Subjects: []string{cordons}},
	}, nil
}

func clusterRow(c *inventory.Cluster, now time.Time) []string {
	onHub := yesNo(c.OnHub)
	if c.Deleting {
		onHub = "deleting"
	}
	var sources []string
	for _, s := range c.Sources {
		sources = append(sources, s.Name+"("+strconv.Itoa(s.Samples)+")")
	}
	lastMetric := age(now, c.LastMetric())
	return []string{c.Name, onHub, list(sources), lastMetric, list(pairs(c.Labels)), list(pairs(c.Claims)), list(taints(c.Taints)), shut(c.Cordon, now)}
}
