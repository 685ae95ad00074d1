package cli

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
		"overdue":      {waiting, slowAnswer + time.Second, false, "1 of 1 without a receipt for more than 5s, so hub-bridge or the hub does not answer"},
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
