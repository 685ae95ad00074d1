package stack

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// The stack's collectors publish one source each.
const spokeSource = "workload"

// startNATS runs the embedded server, or takes the one that is named, and
// creates the streams.
func (s *Stack) startNATS(ctx context.Context) error {
	if s.options.NATS != Embedded {
		server, err := url.Parse(s.options.NATS)
		if err != nil {
			return fmt.Errorf("--nats: %w", err)
		}
		server.User = nil // a password is not for printing
		s.natsAddress = server.String()
		s.natsURL = func(string) (string, error) { return s.options.NATS, nil }
		return s.createStreams(ctx, "")
	}
	servers, err := s.newServers(ctx)
	if err != nil {
		return err
	}
	for _, server := range servers {
		if err := s.start(s.self(server.process, nil, "nats", "--config", server.config)); err != nil {
			return err
		}
	}
	for _, server := range servers {
		if err := waitForListener(ctx, server.address); err != nil {
			return err
		}
	}
	if err := s.createStreams(ctx, access.InboxPrefix(access.Admin)); err != nil {
		return err
	}
	return s.createMirrors(ctx)
}

// createStreams creates the streams that are missing. One that is there with
// other settings is reported and left alone.
func (s *Stack) createStreams(ctx context.Context, inbox string) error {
	bus, err := s.connect(ctx, access.Admin, inbox)
	if err != nil {
		return err
	}
	defer bus.Close()
	return s.onceElected(ctx, func() error { return bus.EnsureStreams(ctx, events.Streams()) })
}

// createMirrors creates what outside readers read.
func (s *Stack) createMirrors(ctx context.Context) error {
	bus, err := s.connect(ctx, access.ReadAdmin, access.InboxPrefix(access.ReadAdmin))
	if err != nil {
		return err
	}
	defer bus.Close()
	return s.onceElected(ctx, func() error { return bus.EnsureMirrors(ctx, access.Mirrors()) })
}

func (s *Stack) connect(ctx context.Context, user, inbox string) (*jetstream.Bus, error) {
	url, err := s.natsURL(user)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return jetstream.Connect(ctx, jetstream.Options{URL: url, Name: "stack", InboxPrefix: inbox, Log: s.options.Log, Replicas: s.options.Servers})
}

// natsEnv is how a process learns its way to the bus: by the environment,
// where other users of the machine cannot read it.
func (s *Stack) natsEnv(user, inboxOf string) ([]string, error) {
	url, err := s.natsURL(user)
	if err != nil {
		return nil, err
	}
	env := []string{"NATS_URL=" + url}
	if s.options.NATS == Embedded {
		env = append(env, "NATS_INBOX_PREFIX="+access.InboxPrefix(inboxOf))
	}
	return env, nil
}

// waitForListener returns once something accepts connections on address.
func waitForListener(ctx context.Context, address string) error {
	ctx, cancel := pause.Within(ctx, readyTimeout)
	defer cancel()
	for {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		if !pause.For(ctx, 20*time.Millisecond) {
			return fmt.Errorf("nothing listens on %s: %w: %w", address, pause.Why(ctx), err)
		}
	}
}
