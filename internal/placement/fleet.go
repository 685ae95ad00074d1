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
	clusters []*cluster
	present  int
	// version counts the changes; log has the number of the cluster that each
	// of the last ones touched, none for a change of something else.
	version uint64
	log     []int32

	sets     map[string]*clusterSet
	refused  map[string]error // sets whose last event is none, by name
	bindings map[Key]string   // to the name of the set
	bound    uint64           // the version at which sets or bindings last changed

	policy   schemas.PlacementPolicySpec // of all Placements that say nothing else
	policies uint64                      // how often it was set

	scores map[string]*scoreTable // by resource name
	counts decisionCounts
	// lastSeen is what expressions see of the cluster that one asked for last:
	// several Placements ask when it changes.
	lastSeen *seen
	basis    map[string]uint64
}

// NewFleet returns an empty fleet.
func NewFleet() *Fleet {
	return &Fleet{
		ids:      map[string]int32{},
		sets:     map[string]*clusterSet{},
		refused:  map[string]error{},
		bindings: map[Key]string{},
		scores:   map[string]*scoreTable{},
		counts:   decisionCounts{of: map[Key][]int32{}},
		basis:    map[string]uint64{},
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
	f.note(id)
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
	f.note(id)
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

// note counts a change. Of more changes than twice the clusters the older
// half is forgotten: who is so far behind looks at every cluster.
func (f *Fleet) note(id int32) {
	f.version++
	f.log = append(f.log, id)
	if len(f.log) > 2*len(f.names)+1024 {
		f.log = append(f.log[:0], f.log[len(f.log)/2:]...)
	}
}

// since returns the clusters that changes after version touched; false where
// they are not known any more.
func (f *Fleet) since(version uint64) ([]int32, bool) {
	behind := f.version - version
	if behind > uint64(len(f.log)) {
		return nil, false
	}
	return f.log[uint64(len(f.log))-behind:], true
}
