// Package decider is what the services have in common that follow streams,
// keep a snapshot of them, decide from it and publish what they decided: the
// loop that owns the snapshot, server time and its leaps, the line of what is
// to be decided, the publisher, and the dead letters. What to fold, decide
// and publish is each service's own.
package decider

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/pkg/events"
)

// Bus is what a decider needs of a bus.
type Bus interface {
	events.Publisher
	events.Getter
	events.Watcher
}

// Config is what a decider is made of. All fields are required.
type Config struct {
	Bus     Bus
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Tracer  trace.TracerProvider
	// MaxInFlight is how many events are published at a time, one per
	// subject.
	MaxInFlight int
}

// Spec says what a decider follows and publishes.
type Spec struct {
	// Service is its name on the bus.
	Service string
	// Metrics is what its metrics are called after, where it is one of
	// several deciders of a service. Default: Service.
	Metrics string
	// Span is the name of the span of one decision.
	Span string
	// Stream is the one that its events go to.
	Stream string
	// Watches are what the snapshot is made of.
	Watches []events.Watch
	// Readable has the streams of which the last readable event of a subject
	// counts, and what is to be refused in them beyond what cannot be read;
	// nil is nothing.
	Readable map[string]func(*events.Received) error
	// MaxFold is how many events are folded at most before it is decided what
	// follows from them, so that a backlog does not hold up the decisions.
	MaxFold int
	// Inbox, if set, brings what no stream does: each function is called on
	// the loop, and it is decided what follows.
	Inbox <-chan func()
}

// Decider is a service's own part. Its methods are called from one goroutine.
type Decider[T Content] interface {
	// Fold takes one update into the snapshot.
	Fold(events.Update)
	// Begin follows each complete reading of the streams, and each leap of
	// server time: whatever was missed, all is to be looked at.
	Begin()
	// Decide decides what is to be decided, as long as there is Room, and
	// returns the server time at which it has to be called next if nothing
	// happens; zero for never.
	Decide(context.Context) time.Time
	// Settle takes note of what became of a job.
	Settle(*Outcome[T])
}
