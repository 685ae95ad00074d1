package eventstest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server is a nats-server with JetStream in this process.
type Server struct {
	t       testing.TB
	options server.Options
	server  *server.Server
}

// RunServer starts a server on a free port of the loopback interface, with
// its store in t.TempDir() and a max_payload of DefaultMaxPayload, until the
// test ends. Each change may alter its options.
func RunServer(t testing.TB, change ...func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, options: server.Options{
		ServerName: "eventstest", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), MaxPayload: DefaultMaxPayload,
		// The declared streams reserve their bounds whether or not they use them.
		JetStreamMaxStore: 1 << 40, JetStreamMaxMemory: 1 << 30,
	}}
	for _, c := range change {
		c(&s.options)
	}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Start starts the server again after Stop, on the same port and store.
func (s *Server) Start() {
	s.t.Helper()
	options := s.options
	started, err := server.NewServer(&options)
	if err != nil {
		s.t.Fatalf("nats-server: %v", err)
	}
	started.Start()
	if !started.ReadyForConnections(20 * time.Second) {
		s.t.Fatal("nats-server: not ready for connections within 20 s")
	}
	s.server = started
	s.options.Port = options.Port
}

// Stop shuts the server down; its store stays.
func (s *Server) Stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// URL is where clients connect.
func (s *Server) URL() string { return s.server.ClientURL() }

// Addr is the host and port that the server listens on.
func (s *Server) Addr() string { return s.server.Addr().String() }

// StoreDir is where JetStream keeps its files.
func (s *Server) StoreDir() string { return s.options.StoreDir }
