package cli

import (
	"context"
	"errors"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/pkg/events"
	inquiry "github.com/spokewire/spokewire/services/inquiry/app"
	placementwriter "github.com/spokewire/spokewire/services/placement-writer/app"
)

// decider runs the placement-writer and the service inquiry until the script
// ends.
func (s *scripted) decider(ts *testscript.TestScript, _ bool, _ []string) {
	writer, answerer := placementwriter.DefaultOptions(), inquiry.DefaultOptions()
	writer.Bus.URL, answerer.Bus.URL = s.url, s.url
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- placementwriter.Run(ctx, writer, s.runtime()) }()
	go func() { ended <- inquiry.Run(ctx, answerer, s.runtime()) }()
	ts.Defer(func() {
		cancel()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				s.t.Error(err)
			}
		}
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		_, err := s.bus.Request(ctx, events.AskReplay, []byte("{}"))
		if !errors.Is(err, events.ErrNoResponder) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("nobody answers: %v", err)
		}
	}
}

func (s *scripted) runtime() process.Runtime { return processtest.Runtime(s.t) }
