package jetstream

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// link tells those who wait of lost and restored connections.
type link struct {
	mu      sync.Mutex
	up      chan struct{}   // closed while connected
	session context.Context // ends when the connection is lost
	end     context.CancelFunc
}

func newLink() *link {
	l := &link{up: make(chan struct{})}
	l.session, l.end = context.WithCancel(context.Background())
	l.end()
	return l
}

func (l *link) restored() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session.Err() != nil {
		l.session, l.end = context.WithCancel(context.Background())
		close(l.up)
	}
}

func (l *link) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session.Err() == nil {
		l.end()
		l.up = make(chan struct{})
	}
}

// current returns a context that ends with the connection.
func (l *link) current() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// wait returns once there is a connection, or with ctx's error.
func (l *link) wait(ctx context.Context) error {
	l.mu.Lock()
	up := l.up
	l.mu.Unlock()
	select {
	case <-up:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// jitter returns 40 to 100% of d, so that what failed together does not
// come back together.
func jitter(d time.Duration) time.Duration {
	return d*2/5 + time.Duration(rand.Int64N(int64(d*3/5)+1))
}
