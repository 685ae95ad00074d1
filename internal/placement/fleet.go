package placement

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Fleet is all that decisions rest on: the clusters, their sets, bindings and
// scores, and what every Placement has selected. It is not safe for use by
// several goroutines at once.
//
// Each name of a cluster has a small number for ever, so that rankings are
// flat arrays; the names of clusters that are gone are kept.
type Fleet struct {
	ids      map[string]int32
	names    []string
	byName   []int32 // the numbers, in the order of their names
	place    []int32 // by number, its place in byName; as of the last call of arrange
	clusters []*cluster
	present  int
	// version counts the changes of all kinds; facts are those of clusters,
	// scored those of any scores.
	version       uint64
	facts, scored changes

	sets     map[string]*clusterSet
	refused  map[string]error // sets whose last event is none, by name
	bindings map[Key]string   // to the name of the set
	bound    uint64           // the version at which sets or bindings last changed

	policy   schemas.PlacementPolicySpec // of all Placements that say nothing else
	policies uint64                      // how often it was set

	cordons    map[int32]cordon
	rebalances map[Key]rebalance

	scores map[string]*scoreTable // by resource name
	counts decisionCounts
	// lastSeen is what expressions see of the cluster that one asked for last:
	// several Placements ask when it changes.
	lastSeen *seen
	scratch  scratch // of the ranking that is being refreshed
	basis    map[string]uint64
}

// NewFleet returns an empty fleet.
func NewFleet() *Fleet {
	return &Fleet{
		ids:      map[string]int32{},
		sets:     map[string]*clusterSet{},
		refused:  map[string]error{},
		bindings: map[Key]string{},
		cordons:  map[int32]cordon{}, rebalances: map[Key]rebalance{},
		scores: map[string]*scoreTable{},
		counts: decisionCounts{by: map[Key][]int32{}},
		basis:  map[string]uint64{},
	}
}

// Observe notes that everything up to sequence of stream is in the fleet.
func (f *Fleet) Observe(stream string, sequence uint64) {
	f.basis[stream] = max(f.basis[stream], sequence)
}

// Forget undoes Observe for a stream that is read anew: a restored store can
// be less far than it was.
func (f *Fleet) Forget(stream string) { delete(f.basis, stream) }

// Basis returns a copy of the stream positions that the fleet rests on.
func (f *Fleet) Basis() map[string]uint64 { return maps.Clone(f.basis) }

// Clusters returns how many clusters the hub has.
func (f *Fleet) Clusters() int { return f.present }

// SetCluster takes c in. It reports whether anything changed that a decision
// can depend on.
func (f *Fleet) SetCluster(c *schemas.Cluster) bool {
	id := f.id(c.Name)
	old := f.clusters[id]
	if old != nil && sameCluster(old.source, c) {
		return false
	}
	if old == nil {
		f.present++
	}
	f.clusters[id] = newCluster(c)
	f.note(&f.facts, id)
	return true
}

// DeleteCluster forgets the cluster. It reports whether there was one.
func (f *Fleet) DeleteCluster(name string) bool {
	id, known := f.ids[name]
	if !known || f.clusters[id] == nil {
		return false
	}
	f.present--
	f.clusters[id] = nil
	f.note(&f.facts, id)
	return true
}

// sameCluster ignores what no decision depends on: the identity of the object.
func sameCluster(a, b *schemas.Cluster) bool {
	x, y := *a, *b
	x.UID, y.UID = "", ""
	return reflect.DeepEqual(x, y)
}

// id returns the number of the cluster called name, a new one if it has none.
func (f *Fleet) id(name string) int32 {
	if id, known := f.ids[name]; known {
		return id
	}
	id := int32(len(f.names))
	f.ids[name] = id
	f.names = append(f.names, name)
	f.clusters = append(f.clusters, nil)
	at, _ := slices.BinarySearchFunc(f.byName, name, func(id int32, name string) int {
		return strings.Compare(f.names[id], name)
	})
	f.byName = slices.Insert(f.byName, at, id)
	return id
}

// arrange brings the places of the names up to date.
func (f *Fleet) arrange() {
	if len(f.place) == len(f.names) {
		return
	}
	f.place = slices.Grow(f.place, len(f.names)-len(f.place))[:len(f.names)]
	for place, id := range f.byName {
		f.place[id] = int32(place)
	}
}

// note counts a change that touched the cluster.
func (f *Fleet) note(in *changes, id int32) {
	f.version++
	in.note(f.version, id, len(f.names)/4+256)
}
