package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spokewire/spokewire/internal/pause"
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

// Why there are no exports to read.
var (
	ErrNeverRan   = errors.New("no stack has run there")
	ErrNotRunning = errors.New("the stack is not running")
	ErrStarting   = errors.New("the stack is still starting")
)

// ReadEnv returns the shell exports of the stack that runs in dataDir. It
// returns ErrNeverRan, ErrNotRunning or ErrStarting where there are none. A
// stack in containers holds no lock, so nobody can tell whether it runs.
func ReadEnv(dataDir string) ([]byte, error) {
	f, err := os.Open(layout(dataDir).lockFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return readEnv(dataDir, ErrNeverRan)
	case err != nil:
		return nil, err
	}
	defer func() { _ = f.Close() }() // and with it the lock
	if tryLock(f, false) == nil {
		return nil, ErrNotRunning
	}
	return readEnv(dataDir, ErrStarting)
}

func readEnv(dataDir string, missing error) ([]byte, error) {
	text, err := os.ReadFile(EnvFile(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	return text, err
}

// layout names the files below the data directory.
type layout string

func (l layout) path(parts ...string) string {
	return filepath.Join(append([]string{string(l)}, parts...)...)
}
func (l layout) lockFile() string             { return l.path("lock") }
func (l layout) addresses() string            { return l.path("addresses.json") }
func (l layout) passwords() string            { return l.path("nats", "passwords.json") }
func (l layout) logs() string                 { return l.path("logs") }
func (l layout) natsConfig() string           { return l.path("nats", "server.conf") }
func (l layout) natsStore() string            { return l.path("nats", "store") }
func (l layout) etcd() string                 { return l.path("etcd") }
func (l layout) hub() string                  { return l.path("hub") }
func (l layout) outbox(cluster string) string { return l.path("outbox", cluster) }
func (l layout) prometheus(cluster string) string {
	return l.path("prometheus", cluster)
}

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
func (l layout) lock(ctx context.Context) (*os.File, error) {
	f, err := os.OpenFile(l.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	// ReadEnv holds the lock for a moment to see whether it is free.
	for range lockTries {
		if err = tryLock(f, true); err == nil || !pause.For(ctx, lockPoll) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("another stack uses %s: stop it, or give --data another directory: %w", l, err), f.Close())
	}
	return f, nil
}

const (
	lockTries = 5
	lockPoll  = 20 * time.Millisecond
)
