package access_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
	bus "github.com/spokewire/spokewire/pkg/events/jetstream"
)

const patience = 10 * time.Second

// testLayout has two spokes, a collector beside the hub, a publisher and a
// reader from outside.
func testLayout(t *testing.T) access.Layout {
	return access.Layout{
		Server:   access.DefaultServer("127.0.0.1:-1", t.TempDir()),
		Services: access.Services(),
		Spokes: []access.Grant{
			{Cluster: "c1", Sources: []string{"prom", "kube"}},
			{Cluster: "c2.eu", Sources: []string{"prom"}},
		},
		Collectors: []access.Collector{{Name: "energy", Metrics: []access.Grant{
			{Cluster: "c1", Sources: []string{"energy"}},
			{Cluster: "c2.eu", Sources: []string{"energy"}},
		}}},
		Outsiders: []access.Outsider{
			{Name: "thanos", Metrics: []access.Grant{{Cluster: access.AnyCluster, Sources: []string{"thanos"}}}},
			{Name: "reader", Decisions: true},
		},
	}
}

// hub is a running server with the layout, its streams and its mirrors.
type hub struct {
	url       string
	passwords access.Passwords
}

func startHub(t *testing.T) *hub {
	t.Helper()
	layout := testLayout(t)
	passwords, secrets, err := access.Issue(layout, rand.Text)
	if err != nil {
		t.Fatal(err)
	}
	config, err := access.Config(layout, secrets)
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{url: startServer(t, config), passwords: passwords}
	createStreams(t, h.urlOf(t, access.Admin), access.Admin)
	readAdmin := connect(t, h.urlOf(t, access.ReadAdmin), access.ReadAdmin)
	for range 2 { // the second time they are in place
		if err := readAdmin.EnsureMirrors(within(t), access.Mirrors()); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func startServer(t *testing.T, config string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatalf("the server refuses the configuration: %v\n%s", err, config)
	}
	options.NoSigs = true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// dial connects as user with the inbox prefix of name.
func (h *hub) dial(t *testing.T, user, name string) *client {
	t.Helper()
	return dialURL(t, h.urlOf(t, user), access.InboxPrefix(name))
}

func (h *hub) urlOf(t *testing.T, user string) string {
	t.Helper()
	url, err := h.passwords.URL(h.url, user)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func (h *hub) spoke(t *testing.T, cluster string) *client {
	t.Helper()
	return h.dial(t, access.SpokeUser(cluster), cluster)
}

func (h *hub) collector(t *testing.T, name string) *client {
	t.Helper()
	return h.dial(t, access.CollectorUser(name), "collector-"+name)
}

func (h *hub) outsider(t *testing.T, name string) *client {
	t.Helper()
	return h.dial(t, access.OutsiderUser(name), name)
}

// client is a raw connection that keeps the permission errors it is sent.
type client struct {
	*nats.Conn
	t      *testing.T
	js     jetstream.JetStream
	denied chan error
}

func dialURL(t *testing.T, url, inbox string) *client {
	t.Helper()
	c := &client{t: t, denied: make(chan error, 64)}
	conn, err := nats.Connect(url, nats.CustomInboxPrefix(inbox), nats.Timeout(patience),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.denied <- err }))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(conn.Close)
	c.Conn = conn
	if c.js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	return c
}

// sync returns once the server has taken all that was sent before.
func (c *client) sync() {
	c.t.Helper()
	if err := c.FlushTimeout(patience); err != nil {
		c.t.Fatal(err)
	}
}

// mustDeny fails unless the server answers what do sends with a permission
// error.
func (c *client) mustDeny(what string, do func() error) {
	c.t.Helper()
	if err := do(); err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
	c.sync()
	select {
	case err := <-c.denied:
		c.t.Logf("%s: %v", what, err)
	case <-time.After(patience):
		c.t.Errorf("%s was not denied", what)
	}
}

func (c *client) mustDenyPublish(subject string) {
	c.t.Helper()
	c.mustDeny("publish on "+subject, func() error { return c.Publish(subject, []byte("x")) })
}

func (c *client) mustDenySubscribe(subject string) {
	c.t.Helper()
	c.mustDeny("subscribe to "+subject, func() error { _, err := c.SubscribeSync(subject); return err })
}

// store publishes and returns the server's acknowledgement.
func (c *client) store(subject string, options ...jetstream.PublishOpt) *jetstream.PubAck {
	c.t.Helper()
	ack, err := c.js.Publish(within(c.t), subject, []byte("{}"), options...)
	if err != nil {
		c.t.Fatalf("publish on %s: %v", subject, err)
	}
	return ack
}

// last returns the body of the subject's last message, "" where it has none.
func (c *client) last(stream, subject string) string {
	c.t.Helper()
	s, err := c.js.Stream(within(c.t), stream)
	if err != nil {
		c.t.Fatalf("stream %s: %v", stream, err)
	}
	m, err := s.GetLastMsgForSubject(within(c.t), subject)
	if err != nil {
		return ""
	}
	return string(m.Data)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func createStreams(t *testing.T, url, user string) {
	t.Helper()
	if err := connect(t, url, user).EnsureStreams(within(t), events.Streams()); err != nil {
		t.Fatal(err)
	}
}

// connect returns a bus as the services have it. Its patience with a server
// that does not answer is short.
func connect(t *testing.T, url, name string) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(within(t), bus.Options{URL: url, InboxPrefix: access.InboxPrefix(name), AckWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}
