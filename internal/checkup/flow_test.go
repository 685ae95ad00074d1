package checkup

import (
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestCheckHub(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		objects, placements int
		wantOK              bool
		want                string
	}{
		"nothing anywhere": {0, 0, true, "0 objects"},
		"a hub":            {3, 1, true, "3 objects"},
		"never seen":       {0, 2, false, "2 Placements are: does hub-bridge run"},
		"a hub of its own": {3, 0, true, "3 objects"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := checkHub(tt.objects, tt.placements)
			if f.OK != tt.wantOK || !strings.Contains(f.Detail, tt.want) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestCheckAnswered(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	waiting := inventory.Placement{
		Namespace: "default", Name: "p", Mode: schemas.ModeDirect, Waiting: true, Decision: &inventory.Decision{ReceivedAt: at},
	}
	answered, native := waiting, waiting
	answered.Waiting = false
	native.Mode, native.Waiting = schemas.ModeNative, false
	tests := map[string]struct {
		placement inventory.Placement
		after     time.Duration
		wantOK    bool
		want      string
	}{
		"just decided": {waiting, slowAnswer, true, "1"},
		"overdue":      {waiting, slowAnswer + time.Second, false, "1 of 1 (default/p) without a receipt for more than 5s, so hub-bridge or the hub does not answer"},
		"answered":     {answered, time.Hour, true, "1"},
		"OCM's":        {native, time.Hour, true, "0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := checkAnswered([]inventory.Placement{tt.placement}, at.Add(tt.after))
			if f.OK != tt.wantOK || !strings.HasPrefix(f.Detail, tt.want) {
				t.Errorf("got %+v", f)
			}
		})
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func source(name string, samples int, age, waited time.Duration) inventory.Source {
	return inventory.Source{Name: name, Samples: samples, ObservedAt: noon.Add(-age), ReceivedAt: noon.Add(waited - age)}
}

func TestCheckCollectors(t *testing.T) {
	t.Parallel()
	const well = true
	tests := map[string]struct {
		sources                       []inventory.Source
		wantCluster, wantSource, late bool
	}{
		"fresh":                    {[]inventory.Source{source("a", 1, time.Minute, 0)}, well, well, well},
		"none":                     {nil, !well, well, well},
		"all silent":               {[]inventory.Source{source("a", 1, time.Hour, 0), source("b", 1, time.Hour, 0)}, !well, well, well},
		"one silent":               {[]inventory.Source{source("a", 1, time.Hour, 0), source("b", 1, 0, 0)}, well, !well, well},
		"one at its end":           {[]inventory.Source{source("a", 0, time.Hour, 0), source("b", 1, 0, 0)}, well, well, well},
		"late":                     {[]inventory.Source{source("a", 1, 2*time.Minute, 90*time.Second)}, well, well, !well},
		"a little late":            {[]inventory.Source{source("a", 1, 2*time.Minute, time.Minute)}, well, well, well},
		"was late a long time ago": {[]inventory.Source{source("a", 1, 2*time.Hour, time.Hour)}, !well, well, well},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clusters := []inventory.Cluster{{Name: "c", Sources: tt.sources}}
			judged{tt.wantCluster, "1"}.check(t, checkClusters(clusters, noon))
			judged{tt.wantSource, ""}.check(t, checkSources(clusters, noon))
			judged{tt.late, ""}.check(t, checkLate(clusters, noon))
		})
	}
	f := checkLate([]inventory.Cluster{{Name: "c", Sources: []inventory.Source{source("a", 1, 2*time.Minute, 90*time.Second)}}}, noon)
	judged{false, "1 of 1 (c/a (1m30s)) waited for more than 1m on their spoke"}.check(t, f)
}

func TestCheckDead(t *testing.T) {
	t.Parallel()
	letter := func(age time.Duration, dropped bool) inventory.Letter {
		l := inventory.Letter{ID: "scorer/S-1", DeadLetter: &schemas.DeadLetter{ReceivedAt: noon.Add(-age)}}
		if dropped {
			l.Dropped = &noon
		}
		return l
	}
	tests := map[string]struct {
		letter inventory.Letter
		judged
	}{
		"new":     {letter(time.Minute, false), judged{false, "1 of 1 (scorer/S-1) from the last hour: see spokewire dead show"}},
		"old":     {letter(time.Hour, false), judged{true, "1"}},
		"dropped": {letter(time.Minute, true), judged{true, "0"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check(t, checkDead([]inventory.Letter{tt.letter}, noon))
		})
	}
}
