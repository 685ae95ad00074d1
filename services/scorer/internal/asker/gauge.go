package asker

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
)

// maxSeries bounds the series of scores that /metrics shows.
const maxSeries = 20_000

// gauges show the scores as upstream's agents do, those of all clusters in
// one place. It is a collector, safe for concurrent use.
type gauges struct {
	description *prometheus.Desc
	dropped     prometheus.Counter

	mu     sync.Mutex
	scores map[key]map[string][]series // by scorer and cluster
	n      int
}

// series is one score with the values of its labels.
type series struct {
	labels []string
	score  float64
}

func newGauges(r *decider.Registry) *gauges {
	g := &gauges{
		description: prometheus.NewDesc("dynamic_score", "Scores as scoring APIs gave them.", []string{
			"ds_cluster", "ds_node", "ds_device", "ds_namespace", "ds_app", "ds_pod", "ds_container", "ds_meta", "ds_score_name",
		}, nil),
		dropped: r.Counter("score_series_dropped_total", "Series of dynamic_score that were left out, for there are too many."),
		scores:  map[key]map[string][]series{},
	}
	r.Register(g)
	return g
}

// set replaces the scores of one scorer for one cluster.
func (g *gauges) set(k key, cluster, scoreName string, results []dynamic.Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n -= len(g.scores[k][cluster])
	var list []series
	seen := map[string]bool{}
	for _, r := range results {
		labels := dynamic.Dimensions(cluster, scoreName, r.Metric)
		joined := join(labels)
		if r.Problem != nil || seen[joined] {
			continue
		}
		if g.n+len(list) >= maxSeries {
			g.dropped.Inc()
			continue
		}
		seen[joined] = true
		list = append(list, series{labels, r.Score})
	}
	if g.scores[k] == nil {
		g.scores[k] = map[string][]series{}
	}
	g.scores[k][cluster] = list
	g.n += len(list)
}

func join(labels []string) string {
	n := 0
	for _, l := range labels {
		n += len(l) + 1
	}
	b := make([]byte, 0, n)
	for _, l := range labels {
		b = append(append(b, l...), 0)
	}
	return string(b)
}

// dropScorer forgets all scores of a scorer, drop those of one cluster.
func (g *gauges) dropScorer(k key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, list := range g.scores[k] {
		g.n -= len(list)
	}
	delete(g.scores, k)
}

func (g *gauges) drop(k key, cluster string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n -= len(g.scores[k][cluster])
	delete(g.scores[k], cluster)
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(out chan<- *prometheus.Desc) { out <- g.description }

// Collect implements prometheus.Collector.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, clusters := range g.scores {
		for _, list := range clusters {
			for _, s := range list {
				out <- prometheus.MustNewConstMetric(g.description, prometheus.GaugeValue, s.score, s.labels...)
			}
		}
	}
}

// gauge shows what a scorer answered.
func (e *Asker) gauge(u *unit, s *dynamic.Scorer) {
	clusters := e.clusters
	if u.cluster != "" {
		clusters = map[string]*cluster{u.cluster: e.cluster(u.cluster)}
	}
	for _, c := range clusters {
		if !c.scored() || e.masked(u.asked, c) {
			e.gauges.drop(u.asked.key, c.name)
			continue
		}
		own, f := u.answer.resultsFor(c.name)
		if f != nil {
			own = nil
		}
		e.gauges.set(u.asked.key, c.name, s.ScoreName, own)
	}
}
