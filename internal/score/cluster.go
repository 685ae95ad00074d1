package score

import (
	"time"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
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
	// Samples come from [series.NewSamples].
	Samples []series.Sample
	// Past is what went before, up to and with this snapshot, of the series
	// that somebody looks back at; nil where it is not known.
	Past *window.Window
}
