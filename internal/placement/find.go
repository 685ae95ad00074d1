package placement

// find collects the clusters whose verdict may have changed: by an event, by
// the passing of time, or because they came into or left the selection.
func (r *Ranking) find() {
	s := &r.fleet.scratch
	s.dirty = s.dirty[:0]
	for len(s.marked) < len(r.verdicts) {
		s.marked = append(s.marked, false)
	}
	if r.full = !r.findChanged() || r.full; r.full {
		r.dirtyAll()
	}
	for _, id := range r.before.flipped {
		r.dirty(id)
	}
	r.before.flipped = r.before.flipped[:0]
	for id := range r.drained {
		r.dirty(id)
	}
	clear(r.drained)
	if r.now >= r.first {
		r.findDue()
	}
	if r.cel {
		r.opine()
	}
	for _, id := range s.dirty {
		s.marked[id] = false
	}
}

// read is the scores of one name, as of the last Refresh.
type read struct {
	name  string
	table *scoreTable
}

// findChanged collects the clusters that changes touched, and those whose
// scores did that the Placement reads. It returns false where it cannot tell.
func (r *Ranking) findChanged() (known bool) {
	known = r.findIn(&r.fleet.facts)
	for i := range r.tables {
		t := &r.tables[i]
		if t.name == AnyResource {
			known = r.findIn(&r.fleet.scored) && known
			continue
		}
		known = r.findInTable(t.table) && known
		// A table that nobody had scores in is replaced.
		if now := r.fleet.scores[t.name]; now != t.table {
			t.table = now
			known = r.findInTable(now) && known
		}
	}
	return known
}

func (r *Ranking) findInTable(t *scoreTable) bool { return t == nil || r.findIn(&t.changes) }

func (r *Ranking) findIn(c *changes) bool {
	changed, known := c.after(r.seen)
	for _, x := range changed {
		r.dirty(x.id)
	}
	return known
}

// findDue collects those whose time has come, and finds out when that of the
// others does.
func (r *Ranking) findDue() {
	r.first = never
	for id, until := range r.until {
		if until <= r.now {
			r.dirty(int32(id))
		} else {
			r.first = min(r.first, until)
		}
	}
}

func (r *Ranking) dirty(id int32) {
	if s := &r.fleet.scratch; !s.marked[id] {
		s.marked[id] = true
		s.dirty = append(s.dirty, id)
	}
}

func (r *Ranking) rejudge(id int32) {
	old, j := r.verdicts[id], r.judge(id)
	v := j.verdict
	r.verdicts[id], r.until[id] = v, j.until
	r.first = min(r.first, j.until)
	r.counts[old.reason]--
	r.counts[v.reason]++
	r.fresh += v.fresh() - old.fresh()
	r.spread.locate(id, r.fleet.clusters[id], v.reason == eligible)
	if old.reason != v.reason || old.sum != v.sum {
		r.moved(id)
	}
}

func (r *Ranking) moved(id int32) {
	r.fleet.scratch.moved = append(r.fleet.scratch.moved, id)
}
