package jetstream

import (
	"errors"
	"net"
	"sync"

	"github.com/nats-io/nats.go"
)

// failure keeps why there is no connection. The client itself forgets it
// before each attempt.
type failure struct {
	mu  sync.Mutex
	err error
}

// note takes the error of one attempt and reports whether it says something
// new: a server that is away for an hour is refused thousands of times.
func (f *failure) note(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The client says "no servers" in place of the first refused connection;
	// the next attempt gives the reason.
	if err == nil || errors.Is(err, nats.ErrNoServers) {
		return false
	}
	old := f.err
	f.err = err
	return old == nil || reason(old) != reason(err)
}

// reason is the text of err without the client's own port, which is another
// one each time.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

func (f *failure) last() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *failure) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = nil
}
