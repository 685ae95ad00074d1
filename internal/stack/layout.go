package stack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// DefaultDataDir is where the local stack keeps its state unless told
// otherwise: spokewire below the user's state directory. It is "" for a user
// without a home.
func DefaultDataDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "spokewire")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "spokewire")
}

// EnvFile is the file of shell exports that `up` writes into its data
// directory.
func EnvFile(dataDir string) string { return filepath.Join(dataDir, "env") }

// layout names the files below the data directory.
type layout string

func (l layout) path(parts ...string) string {
	return filepath.Join(append([]string{string(l)}, parts...)...)
}
func (l layout) logs() string                 { return l.path("logs") }
func (l layout) natsConfig() string           { return l.path("nats", "server.conf") }
func (l layout) natsStore() string            { return l.path("nats", "store") }
func (l layout) etcd() string                 { return l.path("etcd") }
func (l layout) hub() string                  { return l.path("hub") }
func (l layout) outbox(cluster string) string { return l.path("outbox", cluster) }

// create makes the directories. What is in them is for the user alone: it
// holds credentials.
func (l layout) create() error {
	for _, dir := range []string{string(l), l.logs(), l.path("nats"), l.path("outbox")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return nil
}

// lock makes sure that one stack at a time uses the directory. The lock goes
// with the returned file, and with the process.
func (l layout) lock() (*os.File, error) {
	f, err := os.OpenFile(l.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err := flock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another stack uses %s: stop it, or give --data another directory: %w", l, err), f.Close())
	}
	return f, nil
}

// Ports are taken from below the range from which the kernel gives ports to
// outgoing connections, so that a process can be started again on its own.
const (
	firstPort = 20000
	ports     = 12000
)

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	for range 100 {
		address := "127.0.0.1:" + strconv.Itoa(firstPort+rand.N(ports))
		if listener, err := config.Listen(ctx, "tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port on 127.0.0.1")
}
