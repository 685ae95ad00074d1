package placement

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// never is the time, in Unix nanoseconds, that does not come.
const never = math.MaxInt64

// unixNano is t in Unix nanoseconds, or the nearest moment that they can say:
// they end in the year 2262, and people write 9999 for "always".
func unixNano(t time.Time) int64 {
	switch {
	case t.After(time.Unix(0, never)):
		return never
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	}
	return t.UnixNano()
}

// scoreTable holds the scores of one resource name, by cluster number: those
// of our scorer of that name, and AddOnPlacementScores that others wrote.
// Where a cluster has both, ours count.
type scoreTable struct {
	ours   [][]scoreItem
	others [][]scoreItem
	held   int // entries that are not nil: a table without any is dropped
	changes
}

// scoreItem is one value. It holds up to and including until; a value that
// was withdrawn keeps its last number with an until that is past.
type scoreItem struct {
	name  string
	value int32
	until int64 // Unix nanoseconds, or never
	lost  bool  // withdrawn before this fleet knew of it: the number is unknown
	// why it was withdrawn, as the scorer says; the zero handle if it was not.
	why unique.Handle[string]
}

// SetScore takes in what a scorer says, received at receivedAt. It reports
// whether a decision made at now could differ for it: a score that only holds
// for longer than before makes no difference yet.
func (f *Fleet) SetScore(s *schemas.Score, receivedAt, now time.Time) bool {
	t, id := f.table(s.Scorer), f.id(s.Cluster)
	old := at(t.ours, id)
	until := int64(never)
	if expiry := s.Expiry(receivedAt); !expiry.IsZero() {
		until = unixNano(expiry)
	}
	earliest := receivedAt // which may be ahead while server time leaps
	if now.Before(earliest) {
		earliest = now
	}
	items := make([]scoreItem, 0, len(s.Items))
	for _, item := range s.Items {
		if item.Value != nil {
			items = append(items, scoreItem{name: item.Name, value: *item.Value, until: until})
		} else {
			items = append(items, withdrawn(old, &item, earliest.UnixNano()-1))
		}
	}
	return f.putScores(t, &t.ours, id, items, now)
}

// withdrawn is the last known value of an item, at an end.
func withdrawn(old []scoreItem, item *schemas.ScoreItem, until int64) scoreItem {
	last, known := find(old, item.Name)
	if !known {
		last = scoreItem{name: item.Name, until: until, lost: true}
	}
	last.until, last.why = min(last.until, until), unique.Make(whyNone(item))
	return last
}

// maxWhy bounds what is kept of a scorer's message, in bytes.
const maxWhy = 256

func whyNone(item *schemas.ScoreItem) string {
	if item.Message == "" {
		return item.Reason
	}
	message := strings.ToValidUTF8(item.Message[:min(len(item.Message), maxWhy)], "")
	return item.Reason + " (" + message + ")"
}

// DeleteScore forgets what a scorer said of a cluster.
func (f *Fleet) DeleteScore(clusterName, scorer string, now time.Time) bool {
	t, id, known := f.lookUp(scorer, clusterName)
	if !known {
		return false
	}
	defer f.drop(scorer, t)
	return f.putScores(t, &t.ours, id, nil, now)
}

// SetAddOnScore takes in an AddOnPlacementScore that somebody else wrote.
func (f *Fleet) SetAddOnScore(s *schemas.AddOnScore, now time.Time) bool {
	until := int64(never)
	if s.ValidUntil != nil {
		until = unixNano(*s.ValidUntil)
	}
	items := make([]scoreItem, 0, len(s.Scores))
	for _, name := range append(slices.Clone(s.Order), slices.Sorted(maps.Keys(s.Scores))...) {
		value, known := s.Scores[name]
		if _, twice := find(items, name); known && !twice {
			items = append(items, scoreItem{name: name, value: value, until: until})
		}
	}
	t := f.table(s.Name)
	return f.putScores(t, &t.others, f.id(s.Cluster), items, now)
}

// DeleteAddOnScore forgets the AddOnPlacementScore.
func (f *Fleet) DeleteAddOnScore(clusterName, name string, now time.Time) bool {
	t, id, known := f.lookUp(name, clusterName)
	if !known {
		return false
	}
	defer f.drop(name, t)
	return f.putScores(t, &t.others, id, nil, now)
}

// lookUp finds what there is without making it.
func (f *Fleet) lookUp(resource, clusterName string) (*scoreTable, int32, bool) {
	t, id := f.scores[resource], f.ids[clusterName]
	_, known := f.ids[clusterName]
	return t, id, known && t != nil
}

// drop forgets the table once nobody has a score in it.
func (f *Fleet) drop(resource string, t *scoreTable) {
	if t.held == 0 {
		delete(f.scores, resource)
	}
}

func (f *Fleet) table(resource string) *scoreTable {
	t := f.scores[resource]
	if t == nil {
		t = &scoreTable{}
		f.scores[resource] = t
	}
	return t
}

func (f *Fleet) putScores(t *scoreTable, column *[][]scoreItem, id int32, items []scoreItem, now time.Time) bool {
	for int(id) >= len(t.ours) {
		t.ours, t.others = append(t.ours, nil), append(t.others, nil)
	}
	before := t.of(id)
	if slices.Equal((*column)[id], items) && ((*column)[id] == nil) == (items == nil) {
		return false
	}
	t.held += count(items) - count((*column)[id])
	(*column)[id] = items
	f.note(&t.changes, id)
	f.scored.note(f.version, id, len(f.names)/4+256)
	return !onlyExtended(before, t.of(id), now.UnixNano())
}

// count is 1 for an entry, 0 for none.
func count(items []scoreItem) int {
	if items == nil {
		return 0
	}
	return 1
}

// onlyExtended reports whether after says the same as before, for no shorter
// time, and all of before still holds at now.
func onlyExtended(before, after []scoreItem, now int64) bool {
	return slices.EqualFunc(before, after, func(b, a scoreItem) bool {
		return a.name == b.name && a.value == b.value && a.lost == b.lost && a.until >= b.until && b.until >= now
	})
}

// of returns the scores that count for the cluster.
func (t *scoreTable) of(id int32) []scoreItem {
	if ours := at(t.ours, id); ours != nil {
		return ours
	}
	return at(t.others, id)
}

func at(column [][]scoreItem, id int32) []scoreItem {
	if int(id) < len(column) {
		return column[id]
	}
	return nil
}

func find(items []scoreItem, name string) (scoreItem, bool) {
	for _, item := range items {
		if item.name == name {
			return item, true
		}
	}
	return scoreItem{}, false
}
