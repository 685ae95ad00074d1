package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// TestAReaderOfTheNewestSkips: one that is held up while thousands of events
// come reads the state anew, and ends up with the last of each subject.
func TestAReaderOfTheNewestSkips(t *testing.T) {
	t.Parallel()
	const subjects, rounds = 100, 60 // the stream keeps 64
	for name, newest := range map[string]bool{"newest": true, "every": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bus := connectWithStreams(t, eventstest.RunServer(t).URL())
			publish := func() {
				var group errgroup.Group
				for s := range subjects {
					cluster := fmt.Sprintf("c%d", s)
					group.Go(func() error {
						for range rounds {
							if _, err := bus.Publish(timeout(t), events.MetricSubject(cluster, "s"), eventstest.MetricEvent(t, cluster, "s", 1)); err != nil {
								return err
							}
						}
						return nil
					})
				}
				if err := group.Wait(); err != nil {
					t.Fatal(err)
				}
			}

			begun, resume := make(chan struct{}), make(chan struct{})
			var stored, behind int
			last := map[string]uint64{}
			done := make(chan error, 1)
			enough := errors.New("enough")
			ctx, cancel := context.WithCancel(timeout(t))
			defer cancel()
			go func() {
				synced := 0
				done <- bus.Watch(ctx, events.Watch{Stream: events.StreamMetrics, Newest: newest}, func(u events.Update) error {
					switch u.Kind {
					case events.Stored:
						if stored++; stored == 1 {
							close(begun)
							<-resume
						}
						last[u.Message.Subject] = u.Message.Sequence
					case events.Behind:
						behind++
					case events.Synced:
						synced++
					case events.Gone:
						t.Errorf("%s is gone", u.Message.Subject)
					}
					if u.Message.Sequence == 1+subjects*rounds && synced == 1+behind {
						return enough
					}
					return nil
				})
			}()
			// The first event is read after the state, which is empty.
			if _, err := bus.Publish(timeout(t), events.MetricSubject("first", "s"), eventstest.MetricEvent(t, "first", "s", 1)); err != nil {
				t.Fatal(err)
			}
			<-begun
			publish()
			close(resume)
			if err := <-done; !errors.Is(err, enough) {
				t.Fatal(err)
			}
			if skipped := stored < 1+subjects*rounds; skipped != newest || behind > 0 != newest {
				t.Errorf("read %d of %d events and was behind %d times", stored, 1+subjects*rounds, behind)
			}
			for s := range subjects {
				subject := events.MetricSubject(fmt.Sprintf("c%d", s), "s")
				if m, err := bus.Last(timeout(t), events.StreamMetrics, subject); err != nil || last[subject] != m.Sequence {
					t.Errorf("the last of %s is %d, want %d (%v)", subject, last[subject], m.Sequence, err)
				}
			}
		})
	}
}
