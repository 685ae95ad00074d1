package jetstream

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/pkg/events"
)

// Options says how to reach NATS.
type Options struct {
	// URL is one or more servers, separated by commas. It may hold a user
	// and a password.
	URL string
	// Credentials is the path of a .creds file, empty for none.
	Credentials string
	// RootCA is the path of PEM certificates to trust, empty for the
	// system's.
	RootCA string
	// Name is shown by the server's monitoring.
	Name string
	// InboxPrefix is where answers come to. Default "_INBOX".
	InboxPrefix string
	// Domain is the JetStream domain, for instance "read" for those who read
	// through another account's exports.
	Domain string
	// Replicas is how many servers hold a stream that EnsureStreams creates,
	// and are to hold one that is there. 0 is one server, and any number for a
	// stream that is there.
	Replicas int
	// AckWait is after how long an unanswered request is repeated. Default
	// 5 s.
	AckWait time.Duration
	// Heartbeat is how often an idle server shows life to a reader, who
	// starts over after 2.5 silent ones. Default 2 s.
	Heartbeat time.Duration
	// Log hears of lost connections. Default: nothing is logged.
	Log *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.AckWait == 0 {
		o.AckWait = 5 * time.Second
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case strings.TrimSpace(o.URL) == "":
		return o, fmt.Errorf("%w: URL is empty, want nats://HOST:PORT", events.ErrInvalidOption)
	case o.AckWait < 0 || o.Heartbeat < 10*time.Millisecond:
		return o, fmt.Errorf("%w: AckWait %v and Heartbeat %v, want at least 0 and 10ms", events.ErrInvalidOption, o.AckWait, o.Heartbeat)
	case o.Replicas < 0 || o.Replicas > 5:
		return o, fmt.Errorf("%w: Replicas is %d, want 1 to 5, or 0", events.ErrInvalidOption, o.Replicas)
	}
	return o, o.checkURL()
}

// checkURL refuses what the client would take for a server that does not
// answer. It shows no part of a URL but the scheme, for the rest may hold a
// password.
func (o Options) checkURL() error {
	n := 0
	for one := range strings.SplitSeq(o.URL, ",") {
		n++
		one = strings.TrimSpace(one)
		scheme, rest, found := strings.Cut(one, "://")
		if !found {
			scheme, rest = "nats", one
		}
		switch strings.ToLower(scheme) {
		case "nats", "tls", "ws", "wss":
		default:
			return fmt.Errorf("%w: URL %d has the scheme %.20q, want nats://HOST:PORT (or tls, ws, wss)", events.ErrInvalidOption, n, scheme)
		}
		if rest[strings.LastIndex(rest, "@")+1:] == "" {
			return fmt.Errorf("%w: URL %d names no server, want nats://HOST:PORT", events.ErrInvalidOption, n)
		}
	}
	return nil
}

// natsOptions are the client's; see the package comment for what a lost
// connection means.
func (o Options) natsOptions() []nats.Option {
	opts := []nats.Option{
		nats.Name(o.Name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // the account may not exist yet
		nats.ReconnectBufSize(-1),   // a publish that timed out must not be sent later
		nats.CustomReconnectDelay(func(int) time.Duration { return jitter(250 * time.Millisecond) }),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.Timeout(5 * time.Second),
	}
	if o.InboxPrefix != "" {
		opts = append(opts, nats.CustomInboxPrefix(o.InboxPrefix))
	}
	if o.Credentials != "" {
		opts = append(opts, nats.UserCredentials(o.Credentials))
	}
	if o.RootCA != "" {
		opts = append(opts, nats.RootCAs(o.RootCA))
	}
	return opts
}
