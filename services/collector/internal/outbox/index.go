package outbox

import (
	"slices"
	"time"
)

// Source names a source of a cluster.
type Source struct{ Cluster, Name string }

// entry is what memory keeps of a stored snapshot.
type entry struct {
	sequence uint64
	source   Source
	size     int64
	taken    time.Time // with a monotonic reading if fresh
	// fresh is false for what an earlier process stored.
	fresh bool
	// current is true until a newer one of the source is stored.
	current bool
	// held is true while somebody publishes it.
	held bool
}

// index knows what is stored, by source and in order of sequence.
type index struct {
	queues map[Source][]*entry
	bytes  int64
	depth  int
}

func (x *index) add(e *entry) {
	if newest := x.newest(e.source); newest != nil {
		newest.current = false
	}
	e.current = e.fresh
	x.queues[e.source] = append(x.queues[e.source], e)
	x.bytes += e.size
	x.depth++
}

func (x *index) remove(source Source, sequence uint64) {
	queue := x.queues[source]
	i := slices.IndexFunc(queue, func(e *entry) bool { return e.sequence == sequence })
	if i < 0 {
		return
	}
	x.bytes -= queue[i].size
	x.depth--
	if queue = slices.Delete(queue, i, i+1); len(queue) == 0 {
		delete(x.queues, source)
	} else {
		x.queues[source] = queue
	}
}

func (x *index) find(source Source, sequence uint64) *entry {
	for _, e := range x.queues[source] {
		if e.sequence == sequence {
			return e
		}
	}
	return nil
}

// newest returns the current entry of a source, or nil.
func (x *index) newest(source Source) *entry {
	queue := x.queues[source]
	if len(queue) == 0 || !queue[len(queue)-1].current {
		return nil
	}
	return queue[len(queue)-1]
}

// superseded returns the superseded entry with the lowest sequence that may
// be published now: none of a source to skip, and none of a source of which
// an earlier one is held, for that one might still have to follow.
func (x *index) superseded(skip func(Source) bool) *entry {
	var lowest *entry
	for source, queue := range x.queues {
		first := queue[0]
		if first.held || first == x.newest(source) || skip(source) {
			continue
		}
		if lowest == nil || first.sequence < lowest.sequence {
			lowest = first
		}
	}
	return lowest
}

// evictable returns the superseded entries that nobody holds, from the
// lowest sequence on, until their sizes add up to need.
func (x *index) evictable(need int64) []*entry {
	var chosen []*entry
	next := map[Source]int{} // where to go on in each queue
	for need > 0 {
		var lowest *entry
		for source, queue := range x.queues {
			if e := x.evictableFrom(source, queue, next); e != nil && (lowest == nil || e.sequence < lowest.sequence) {
				lowest = e
			}
		}
		if lowest == nil {
			break
		}
		chosen = append(chosen, lowest)
		next[lowest.source]++
		need -= lowest.size
	}
	return chosen
}

// evictableFrom moves next to the first entry of queue that may go.
func (x *index) evictableFrom(source Source, queue []*entry, next map[Source]int) *entry {
	newest := x.newest(source)
	for ; next[source] < len(queue); next[source]++ {
		if e := queue[next[source]]; !e.held && e != newest {
			return e
		}
	}
	return nil
}

// oldest returns when the oldest stored snapshot was taken.
func (x *index) oldest() time.Time {
	var oldest time.Time
	for _, queue := range x.queues {
		if first := queue[0]; oldest.IsZero() || first.taken.Before(oldest) {
			oldest = first.taken
		}
	}
	return oldest
}
