package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestOperator runs the scripts that say what the user of `spokewire env` may
// do, against a server with the accounts and permissions of the local stack.
func TestOperator(t *testing.T) {
	t.Parallel()
	url, passwords := guardedServer(t)
	operator, err := passwords.URL(url, access.Operator)
	if err != nil {
		t.Fatal(err)
	}
	readAdmin, err := passwords.URL(url, access.ReadAdmin)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := connectAs(ctx, t, url, passwords, access.Admin).EnsureStreams(ctx, events.Streams()); err != nil {
		t.Fatal(err)
	}
	buryForeign(ctx, t, connectAs(ctx, t, url, passwords, access.Scorer))
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "operator"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			prompt(e)
			e.Setenv("NATS_URL", operator)
			e.Setenv("SERVER_URL", url)
			e.Setenv("READ_ADMIN_URL", readAdmin)
			return nil
		},
	})
}

func guardedServer(t *testing.T) (string, access.Passwords) {
	t.Helper()
	layout := access.Layout{Server: access.DefaultServer("127.0.0.1:-1", t.TempDir()), Services: access.Services()}
	passwords, secrets, err := access.Issue(layout, rand.Text)
	if err != nil {
		t.Fatal(err)
	}
	config, err := access.Config(layout, secrets)
	if err != nil {
		t.Fatal(err)
	}
	return startServer(t, config), passwords
}

func connectAs(ctx context.Context, t *testing.T, server string, passwords access.Passwords, user string) *jetstream.Bus {
	t.Helper()
	url, err := passwords.URL(server, user)
	if err != nil {
		t.Fatal(err)
	}
	b, err := jetstream.Connect(ctx, jetstream.Options{URL: url, Name: user, InboxPrefix: access.InboxPrefix(user)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// buryForeign buries an event that only the bridge may publish.
func buryForeign(ctx context.Context, t *testing.T, b *jetstream.Bus) {
	t.Helper()
	e, err := events.New(schemas.TypeHubCluster, "/test", &schemas.Cluster{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	header, data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	m := events.Message{
		Stream: events.StreamHub, Subject: events.HubSubject(events.KindCluster, "", "x"), Sequence: 1,
		ReceivedAt: time.Now(), Header: header, Data: data,
	}
	if err := events.Bury(ctx, b, access.Scorer, m, errors.New("a fault")); err != nil {
		t.Fatal(err)
	}
}

func startServer(t *testing.T, config string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatal(err)
	}
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("nats-server: not ready for connections within 20 s")
	}
	return s.ClientURL()
}
