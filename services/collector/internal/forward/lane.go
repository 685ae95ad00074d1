package forward

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// patience is after how many failed attempts a source no longer keeps the
// backlog waiting.
const patience = 3

// lane is how one source's snapshots go to one stream. It is for one
// goroutine, except for failed.
type lane struct {
	name     string // metric or backfill
	source   outbox.Source
	subject  string
	maxDelay time.Duration
	log      *slog.Logger

	last      uint64       // sequence of the last attempt
	failed    atomic.Int64 // attempts in a row, while connected
	reason    string       // of the last failure
	notBefore time.Time
}

// delay is how long to wait before the next attempt.
func (l *lane) delay() time.Duration {
	failed := l.failed.Load()
	if failed == 0 && l.reason == "" {
		return 0
	}
	return jittered(min(events.RetryDelay(int(max(failed, 1))), l.maxDelay))
}

func (l *lane) succeeded() {
	if l.reason != "" {
		l.log.Info("snapshots are acknowledged again", "source", l.source.Name, "subject", l.subject)
	}
	l.failed.Store(0)
	l.reason = ""
}

// refused takes note of a failed attempt. It logs what is new.
func (l *lane) refused(err error, connected bool) {
	if connected {
		l.failed.Add(1)
	}
	reason := reasonOf(err)
	if reason == l.reason {
		return
	}
	l.reason = reason
	args := []any{"source", l.source.Name, "subject", l.subject, "reason", reason, "error", err}
	switch {
	case errors.Is(err, events.ErrDenied):
		l.log.Error("NATS does not let this user publish the subject: give the user permission to publish it; snapshots wait in the outbox", args...)
	case connected:
		l.log.Warn("snapshots are not acknowledged and wait in the outbox", args...)
	default:
		l.log.Warn("the connection was lost while a snapshot was sent; snapshots wait in the outbox", args...)
	}
}

// reasonOf returns the class of an error.
func reasonOf(err error) string {
	classes := []struct {
		err  error
		name string
	}{
		{events.ErrDenied, "Denied"},
		{events.ErrFull, "Full"},
		{events.ErrTooLarge, "TooLarge"},
		{events.ErrBadSubject, "BadSubject"},
		{events.ErrNotFound, "NoStream"},
		{context.DeadlineExceeded, "NoAnswer"},
	}
	for _, class := range classes {
		if errors.Is(err, class.err) {
			return class.name
		}
	}
	return "Other"
}
