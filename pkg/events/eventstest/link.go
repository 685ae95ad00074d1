package eventstest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// Link passes TCP connections on to a server, and can be cut.
type Link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	cut   bool
	deaf  bool // what the server answers is thrown away
	conns map[net.Conn]struct{}
}

// NewLink returns a Link to the server at target (host:port), until the test
// ends.
func NewLink(t testing.TB, target string) *Link {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("link: %v", err)
	}
	l := &Link{listener: listener, target: target, conns: map[net.Conn]struct{}{}}
	var running sync.WaitGroup
	running.Go(func() { l.accept(t.Context(), &running) })
	t.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
		running.Wait()
	})
	return l
}

// URL is where a NATS client connects to go through the link.
func (l *Link) URL() string { return "nats://" + l.listener.Addr().String() }

// Cut closes all connections and refuses new ones.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.conns {
		_ = c.Close()
	}
}

// Restore lets connections through again.
func (l *Link) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.deaf = false, false
}

// Deafen throws away what the server sends: requests arrive, their answers
// do not. Restore it by Cut and Restore, since what is lost is lost.
func (l *Link) Deafen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deaf = true
}

func (l *Link) accept(ctx context.Context, running *sync.WaitGroup) {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		server, err := new(net.Dialer).DialContext(ctx, "tcp", l.target)
		if err != nil || !l.keep(client, server) {
			closeAll(client, server)
			continue
		}
		running.Go(func() {
			_, _ = io.Copy(server, client)
			l.drop(client, server)
		})
		running.Go(func() {
			_, _ = io.Copy(hearing{client, l}, server)
			l.drop(client, server)
		})
	}
}

func (l *Link) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return false
	}
	for _, c := range conns {
		l.conns[c] = struct{}{}
	}
	return true
}

func (l *Link) drop(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	closeAll(conns...)
	for _, c := range conns {
		delete(l.conns, c)
	}
}

func closeAll(conns ...net.Conn) {
	for _, c := range conns {
		if c != nil {
			_ = c.Close()
		}
	}
}

// hearing writes to a client unless the link is deaf.
type hearing struct {
	io.Writer
	link *Link
}

func (h hearing) Write(p []byte) (int, error) {
	h.link.mu.Lock()
	deaf := h.link.deaf
	h.link.mu.Unlock()
	if deaf {
		return len(p), nil
	}
	return h.Writer.Write(p)
}
