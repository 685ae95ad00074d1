package score

import (
	"sort"
	"time"
)

// Cluster is what is known of one cluster.
type Cluster struct {
	Labels, Claims map[string]string
	// Sources are in order of their names.
	Sources []*Source
}

// Source is the last snapshot of one source of a cluster.
type Source struct {
	Name string
	// Subject and Sequence say where the snapshot stands in the log.
	Subject  string
	Sequence uint64
	// ObservedAt is when the samples were current, in server time.
	ObservedAt time.Time
	// ReceivedAt is when the log took the snapshot, for who keeps it.
	ReceivedAt time.Time
	// Samples come from [NewSamples].
	Samples []Sample
}

// named returns the samples of one name.
func (s *Source) named(name string) []Sample {
	from := sort.Search(len(s.Samples), func(i int) bool { return s.Samples[i].Name() >= name })
	to := from
	for to < len(s.Samples) && s.Samples[to].Name() == name {
		to++
	}
	return s.Samples[from:to]
}
