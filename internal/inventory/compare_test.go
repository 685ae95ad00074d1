package inventory

import (
	"errors"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestRecord goes through histories in which a letter is a decision: of OCM
// where it is small, of ours where it is capital. Each comes a second after
// the one before, and "-" ends a shadow.
func TestRecord(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		history        string
		agreed, of     float64
		movesOCM, ours int
		none           bool
	}{
		"nobody":                 {history: "", none: true},
		"one alone":              {history: "ab", none: true},
		"always":                 {history: "aA", agreed: 1, of: 1},
		"never":                  {history: "aB", of: 1},
		"what was before counts": {history: "abB", agreed: 1, of: 1},
		"one after the other":    {history: "aAbB", agreed: 2, of: 3, movesOCM: 1, ours: 1},
		"ours moves less":        {history: "aAbaba", agreed: 3, of: 5, movesOCM: 4},
		"a shadow that ended":    {history: "aA-b", agreed: 1, of: 1},
		"and began anew":         {history: "aA-bB", agreed: 2, of: 2},
		"another object":         {history: "xAa", agreed: 1, of: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var history []events.Received
			for i, c := range tt.history {
				history = append(history, recorded(c, start.Add(time.Duration(i)*time.Second)))
			}
			r := record("1", history, start.Add(time.Duration(len(history))*time.Second))
			if r == nil {
				if !tt.none {
					t.Error("there is no record")
				}
				return
			}
			if r.AgreedSeconds != tt.agreed || r.OfSeconds != tt.of || r.MovesOCM != tt.movesOCM || r.MovesSpokewire != tt.ours {
				t.Errorf("got %+v, want %v of %v, %d and %d moves", *r, tt.agreed, tt.of, tt.movesOCM, tt.ours)
			}
		})
	}
}

func recorded(c rune, at time.Time) events.Received {
	r := events.Received{Message: events.Message{ReceivedAt: at}, Subject: events.Subject{Kind: events.KindPlacement}}
	d := &schemas.PlacementDecision{Placement: schemas.PlacementRef{UID: "1"}, Added: []string{"one"}}
	switch {
	case c == '-':
		r.Subject.Kind, r.Payload = events.KindShadow, &schemas.Deleted{}
		return r
	case c == 'x':
		d.Placement.UID = "2"
	case c < 'a':
		r.Subject.Kind = events.KindShadow
		c += 'a' - 'A'
	}
	d.Clusters = []schemas.SelectedCluster{{Name: string(c)}}
	r.Payload = d
	return r
}

func TestCompareSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	f := newFixture(t).shadowed()
	for i, want := range []error{ErrNoDecision, ErrNoDecision, nil} {
		_, err := Compare(f.state, "default", "p", nil)
		if !errors.Is(err, want) {
			t.Errorf("with %d decisions: %v, want %v", i, err, want)
		}
		f.decide([]string{schemas.ModeShadow, schemas.ModeNative, schemas.ModeNative}[i])
	}
	if _, err := Compare(f.state, "default", "q", nil); !errors.Is(err, ErrNoPlacement) {
		t.Errorf("got %v, want ErrNoPlacement", err)
	}
	f.placement(false)
	if _, err := Compare(f.state, "default", "p", nil); err == nil {
		t.Error("a native Placement is compared")
	}
}
