package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// Bus is a connection to NATS. Its methods may be called from many
// goroutines.
type Bus struct {
	options Options
	secrets secrets
	nc      *nats.Conn
	js      jetstream.JetStream
	link    *link
	denied  sync.Map // subject -> time.Time of the server's refusal
	failure failure
}

var (
	_ events.Publisher = (*Bus)(nil)
	_ events.Getter    = (*Bus)(nil)
	_ events.Watcher   = (*Bus)(nil)
	_ events.Worker    = (*Bus)(nil)
)

// Connect connects to the first server of o.URL that answers. It waits for
// one until ctx ends; its error then says why the last attempt failed, and is
// ErrDenied where the server does not take the credentials. It returns ErrInvalidOption at once for options that can never work.
func Connect(ctx context.Context, o Options) (*Bus, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	b := &Bus{options: o, secrets: secretsOf(o.URL), link: newLink()}
	opts := append(o.natsOptions(),
		nats.ConnectHandler(func(*nats.Conn) { b.link.restored() }),
		nats.ReconnectHandler(func(*nats.Conn) { b.reconnected() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { b.failed(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { b.disconnected(err) }),
		nats.ClosedHandler(func(*nats.Conn) { b.link.lost() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { b.asyncError(err) }),
	)
	if b.nc, err = nats.Connect(o.URL, opts...); err != nil {
		return nil, fmt.Errorf("nats: %w: %w", events.ErrInvalidOption, b.secrets.wrap(err))
	}
	if err := b.link.wait(ctx); err != nil {
		cause := cmp.Or(b.failure.last(), b.nc.LastError())
		b.nc.Close()
		return nil, fmt.Errorf("nats: no connection to %s: %w (last: %w)", b.secrets.redact(o.URL), err, orNone(b.secrets.wrap(denial(cause))))
	}
	if b.js, err = b.newJetStream(); err != nil {
		b.nc.Close()
		return nil, fmt.Errorf("nats: %w: %w", events.ErrInvalidOption, err)
	}
	return b, nil
}

// denial makes an error of the server's refusal of credentials ErrDenied too.
func denial(err error) error {
	for _, refused := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired} {
		if errors.Is(err, refused) {
			return fmt.Errorf("%w: %w", events.ErrDenied, err)
		}
	}
	return err
}

func (b *Bus) newJetStream() (jetstream.JetStream, error) {
	if b.options.Domain != "" {
		return jetstream.NewWithDomain(b.nc, b.options.Domain)
	}
	return jetstream.New(b.nc)
}

// Close ends the connection. What still waits on the bus returns ErrClosed.
func (b *Bus) Close() { b.nc.Close() }

// MaxPayload is how large one message may be, headers and body, in bytes:
// the server's max_payload.
func (b *Bus) MaxPayload() int64 { return b.nc.MaxPayload() }

// Connected reports whether there is a connection right now.
func (b *Bus) Connected() bool { return b.nc.IsConnected() }

func (b *Bus) reconnected() {
	b.failure.forget()
	b.link.restored()
	b.options.Log.Info("connected to NATS again", "server", b.secrets.redact(b.nc.ConnectedUrlRedacted()))
}

// failed hears of each attempt to connect that failed.
func (b *Bus) failed(err error) {
	if b.failure.note(err) {
		b.options.Log.Warn("cannot connect to NATS, trying again", "server", b.secrets.redact(b.options.URL), "err", b.secrets.wrap(err))
	}
}

func (b *Bus) disconnected(err error) {
	b.link.lost()
	if !b.nc.IsClosed() {
		b.options.Log.Warn("lost the connection to NATS", "err", b.secrets.wrap(orNone(err)))
	}
}

// asyncError hears what the server says outside of any request. A refused
// publish is told no other way.
func (b *Bus) asyncError(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		_, rest, _ := strings.Cut(err.Error(), `Publish to "`)
		subject, _, ok := strings.Cut(rest, `"`)
		switch {
		case ok && strings.HasPrefix(subject, "sw."):
			b.denied.Store(subject, time.Now())
			return
		case ok && strings.HasPrefix(subject, apiSubjects):
			b.denied.Store(apiSubjects, time.Now())
			if strings.HasPrefix(subject, b.apiPrefix()+streamCommands) { // these are few
				b.denied.Store(subject, time.Now())
			}
		}
	}
	b.options.Log.Warn("NATS reports an error", "err", b.secrets.wrap(err))
}

// apiPrefix is where the server's JetStream API is.
func (b *Bus) apiPrefix() string {
	if b.options.Domain != "" {
		return "$JS." + b.options.Domain + ".API."
	}
	return "$JS.API."
}

// down says why the bus cannot go on: it is closed, or ctx ended.
func (b *Bus) down(ctx context.Context) error {
	if b.nc.IsClosed() {
		return events.ErrClosed
	}
	return ctx.Err()
}

// pause waits until there is a connection, and then for as long as attempt
// deserves. It returns an error where the bus cannot go on.
func (b *Bus) pause(ctx context.Context, attempt int) error {
	if err := b.down(ctx); err != nil {
		return err
	}
	if err := b.link.wait(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(jitter(min(events.RetryDelay(attempt), 5*time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return b.down(ctx)
}

func orNone(err error) error {
	if err == nil {
		return errors.New("no reason given")
	}
	return err
}
