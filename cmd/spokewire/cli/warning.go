package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// timeUp is the end of the time that a command had, said in its own words.
type timeUp struct{ text string }

func (e *timeUp) Error() string { return e.text }

// Unwrap returns context.DeadlineExceeded.
func (e *timeUp) Unwrap() error { return context.DeadlineExceeded }

// lastWarning keeps the last warning of the bus, which goes on retrying after
// it: when the time is up, that is what it failed at.
type lastWarning struct {
	mu   sync.Mutex
	text string
}

// Enabled implements slog.Handler.
func (*lastWarning) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler.
func (w *lastWarning) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf(", %s: %s", a.Key, a.Value)
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = text
	return nil
}

// WithAttrs implements slog.Handler. The bus's logger has no attributes that
// a user would miss.
func (w *lastWarning) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler.
func (w *lastWarning) WithGroup(string) slog.Handler { return w }

// explain adds the warning to an error that says no more than that time is
// up.
func (w *lastWarning) explain(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text == "" || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, w.text)
}
