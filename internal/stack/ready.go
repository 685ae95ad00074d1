package stack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/pkg/events"
)

// waitForEvent returns once subject has an event. ctx is one of pause.Within.
func waitForEvent(ctx context.Context, bus events.Getter, stream, subject string) error {
	for {
		_, err := bus.Last(ctx, stream, subject)
		if err == nil {
			return nil
		}
		if !pause.For(ctx, 20*time.Millisecond) {
			return fmt.Errorf("nothing on %s: %w: %w", subject, pause.Why(ctx), err)
		}
	}
}

// waitForReady returns once url answers 200.
func waitForReady(ctx context.Context, name, url string) error {
	ctx, cancel := pause.Within(ctx, readyTimeout)
	defer cancel()
	client := &http.Client{Timeout: 5 * time.Second}
	last := "no answer"
	for {
		if request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil); err != nil {
			return err
		} else if response, err := client.Do(request); err == nil {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			last = string(body)
		}
		if !pause.For(ctx, 20*time.Millisecond) {
			return fmt.Errorf("%s is not ready: %w: %s", name, pause.Why(ctx), last)
		}
	}
}
