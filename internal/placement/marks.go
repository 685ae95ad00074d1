package placement

// marks is a set of clusters that is cheap to make again.
type marks struct {
	on  []bool
	ids []int32
}

// reset empties the set, and makes room for clusters below size.
func (m *marks) reset(size int) {
	for _, id := range m.ids {
		m.on[id] = false
	}
	m.ids = m.ids[:0]
	for len(m.on) < size {
		m.on = append(m.on, false)
	}
}

func (m *marks) add(id int32) {
	if !m.on[id] {
		m.on[id] = true
		m.ids = append(m.ids, id)
	}
}

func (m *marks) has(id int32) bool { return m.on[id] }

// mark makes one of the fleet's sets that of ids.
func (r *Ranking) mark(m *marks, ids []int32) *marks {
	m.reset(len(r.fleet.names))
	for _, id := range ids {
		m.add(id)
	}
	return m
}
