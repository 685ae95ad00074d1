package events_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// known is what a reader makes of a stream: the id of what counts of each
// subject.
type known struct {
	of      map[string]string
	refused int
}

func (k *known) take(u events.Update) {
	switch u.Kind {
	case events.Gone:
		delete(k.of, u.Message.Subject)
	case events.Stored:
		if r, err := u.Read(); err != nil {
			k.refused++
		} else {
			k.of[u.Message.Subject] = r.Event.ID()
		}
	}
}

var errDone = errors.New("done")

// readNow is what a reader knows that begins now.
func readNow(t *testing.T, b events.Watcher, accept func(*events.Received) error) map[string]string {
	t.Helper()
	k := known{of: map[string]string{}}
	w := events.Readable{Watcher: b, Accept: accept}
	err := w.Watch(t.Context(), events.Watch{Stream: events.StreamScores}, func(u events.Update) error {
		k.take(u)
		if u.Kind == events.Synced {
			return errDone
		}
		return nil
	})
	if !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	return k.of
}

// scoreEvent is a score that can be read.
func scoreEvent(t *testing.T, cluster, id string, value int32) (events.Header, []byte) {
	t.Helper()
	e, err := events.New(schemas.TypeScoreComputed, events.ScorerSource(cluster, "s"), &schemas.Score{
		Cluster: cluster, Scorer: "s", ValidFor: schemas.Duration(1e9),
		Items: []schemas.ScoreItem{{Name: "s", Value: &value, Reason: schemas.ScoreComputedReason}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.SetID(id)
	header, data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return header, data
}

func TestWhatStoodBeforeTheUnreadableCounts(t *testing.T) {
	t.Parallel()
	unlucky := func(r *events.Received) error {
		if s, ok := r.Payload.(*schemas.Score); ok && *s.Items[0].Value == 13 {
			return errors.New("13")
		}
		return nil
	}
	for name, tt := range map[string]struct {
		values string // g: good, b: cannot be read, 1: refused by the reader
		want   string // id of the one that counts
	}{
		"good":                       {"gg", "1"},
		"bad":                        {"gb", "0"},
		"refused":                    {"g1", "0"},
		"several":                    {"ggb1b", "1"},
		"good again":                 {"gbg", "2"},
		"none":                       {"bb", ""},
		"as many as the stream has":  {"g" + strings.Repeat("b", 63), "0"},
		"more than the stream keeps": {"g" + strings.Repeat("b", 64), ""},
		"and good again":             {"g" + strings.Repeat("b", 64) + "gb", "65"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := eventstest.NewBus()
			subject := events.ScoreSubject("c", "s")
			live := follow(t, b, b.Peer(), unlucky)
			for i, kind := range tt.values {
				header, data := scoreEvent(t, "c", fmt.Sprint(i), 7)
				switch kind {
				case 'b':
					data = []byte("{")
				case '1':
					header, data = scoreEvent(t, "c", fmt.Sprint(i), 13)
				}
				b.Store(subject, header, data)
			}
			if got := readNow(t, b, unlucky)[subject]; got != tt.want {
				t.Errorf("begun now: %q counts, want %q", got, tt.want)
			}
			if got := live()[subject]; got != tt.want {
				t.Errorf("always there: %q counts, want %q", got, tt.want)
			}
		})
	}
}

// follow reads until what it returns is called, which says what was known in
// the end.
func follow(t *testing.T, b, peer *eventstest.Bus, accept func(*events.Received) error) func() map[string]string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	last := events.ScoreSubject("last", "s")
	k, synced, done := known{of: map[string]string{}}, make(chan struct{}), make(chan struct{})
	begun := synced
	go func() {
		defer close(done)
		var inStep, ended bool
		_ = events.Readable{Watcher: peer, Accept: accept}.Watch(ctx, events.Watch{Stream: events.StreamScores}, func(u events.Update) error {
			k.take(u)
			inStep = u.Kind == events.Synced || inStep && u.Kind != events.Behind
			ended = ended || u.Message.Subject == last
			if u.Kind == events.Synced && begun != nil {
				close(begun)
				begun = nil
			}
			if inStep && ended {
				return errDone
			}
			return nil
		})
	}()
	<-synced
	return func() map[string]string {
		defer cancel()
		header, data := scoreEvent(t, "last", "last", 1)
		b.Store(last, header, data)
		<-done
		return k.of
	}
}

// TestReadersAgree: whatever comes, and however often the connection is lost,
// a reader that was there all the time knows what one knows that begins now.
func TestReadersAgree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := eventstest.NewBus()
		peer := b.Peer()
		live := follow(t, b, peer, nil)
		for i := range 400 {
			cluster := fmt.Sprintf("c%d", random.IntN(3))
			header, data := scoreEvent(t, cluster, fmt.Sprint(i), 7)
			if random.Uint64N(30) > seed {
				data = []byte("{")
			}
			b.Store(events.ScoreSubject(cluster, "s"), header, data)
			if random.IntN(20) == 0 {
				peer.Disconnect()
				peer.Reconnect()
			}
		}
		got := live()
		if want := readNow(t, b, nil); !maps.Equal(got, want) {
			t.Errorf("seed %d: the old reader knows %v, the new one %v", seed, got, want)
		}
	}
}
