package placement

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// memory is what the prior decision remembers for flap control.
type memory struct {
	behind map[int32]int64 // since when
	since  map[int32]int64 // when it was selected
	others int64           // for those that since does not name, 0 for long ago
	moves  []moveCount     // oldest first
}

type moveCount struct {
	at    int64
	count int
}

// recall reads what a decision remembers.
func (r *Ranking) recall(f *schemas.Flap) memory {
	var m memory
	if f == nil {
		return m
	}
	m.behind, m.since = r.times(f.Behind), r.times(f.Selected)
	if f.Others != nil {
		m.others = unixNano(*f.Others)
	}
	for _, x := range f.Moves {
		m.moves = append(m.moves, moveCount{unixNano(x.At), x.Count})
	}
	return m
}

func (r *Ranking) times(cohorts []schemas.Cohort) map[int32]int64 {
	out := map[int32]int64{}
	for _, c := range cohorts {
		at := unixNano(c.At)
		for _, name := range c.Clusters {
			out[r.fleet.id(name)] = at
		}
	}
	return out
}

// remember is what the next decision must know of this one, nil if nothing.
func (r *Ranking) remember(m moves) *schemas.Flap {
	f := &schemas.Flap{Behind: r.cohorts(r.control.behind), Moves: r.recentMoves(len(m.removed))}
	f.Selected, f.Others = r.dwelling()
	if f.Behind == nil && f.Selected == nil && f.Others == nil && f.Moves == nil {
		return nil
	}
	return f
}

// cohorts groups the clusters by time, then by name.
func (r *Ranking) cohorts(times map[int32]int64) []schemas.Cohort {
	ids := slices.SortedFunc(maps.Keys(times), func(a, b int32) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), strings.Compare(r.fleet.names[a], r.fleet.names[b]))
	})
	var out []schemas.Cohort
	for i, id := range ids {
		if i == 0 || times[id] != times[ids[i-1]] {
			out = append(out, schemas.Cohort{At: timeAt(times[id])})
		}
		last := &out[len(out)-1]
		last.Clusters = append(last.Clusters, r.fleet.names[id])
	}
	return out
}

// dwelling is the clusters whose minimum dwell is not over. Of more than
// MaxFlapClusters, those that were selected first share the latest of their
// times: they stay longer, never shorter.
func (r *Ranking) dwelling() ([]schemas.Cohort, *time.Time) {
	dwell := r.settings.dwell
	if dwell == 0 {
		return nil, nil
	}
	times, others := map[int32]int64{}, r.before.others
	for _, id := range r.choice.ids {
		at := r.now
		if r.selectedBefore(id) {
			at = r.before.since[id] // 0 for those of whom nothing is known, or only others
		}
		if plus(at, dwell) > r.now {
			times[id] = at
		}
	}
	if over := len(times) - schemas.MaxFlapClusters; over > 0 {
		oldest := slices.Sorted(maps.Values(times))[over-1]
		others = max(others, oldest)
		maps.DeleteFunc(times, func(_ int32, at int64) bool { return at <= oldest })
	}
	if plus(others, dwell) <= r.now {
		return r.cohorts(times), nil
	}
	at := timeAt(others)
	return r.cohorts(times), &at
}

// recentMoves are those that the cooldown or the budget still counts, with
// those of this decision. Where there are many, the oldest are counted with
// the next ones: they count longer, never shorter.
func (r *Ranking) recentMoves(removed int) []schemas.Moves {
	p := &r.settings
	keep := p.cooldown
	if p.budget > 0 {
		keep = max(keep, p.interval)
	}
	if keep == 0 {
		return nil
	}
	var out []schemas.Moves
	for _, m := range r.before.moves {
		if plus(m.at, keep) > r.now {
			out = append(out, schemas.Moves{At: timeAt(m.at), Count: m.count})
		}
	}
	if removed > 0 {
		out = append(out, schemas.Moves{At: timeAt(r.now), Count: removed})
	}
	for len(out) > schemas.MaxFlapMoves {
		out[1].Count += out[0].Count
		out = out[1:]
	}
	return out
}

func timeAt(unixNano int64) time.Time { return time.Unix(0, unixNano).UTC() }
