package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is the Lease, and whether it can be used. A replica that waits for
// another to give it up is ready; one that never can have it is not.
type lease struct {
	resourcelock.Interface
	namespace string
	log       *slog.Logger

	mu      sync.Mutex
	err     error     // of the last call, nil if it can be used
	said    string    // the remedy that the log names
	holder  string    // whom the Lease was seen to name last
	renewed time.Time // when the last renewal that succeeded was begun
	changed chan struct{}
}

func newLease(namespace string, log *slog.Logger, lock resourcelock.Interface) *lease {
	return &lease{Interface: lock, namespace: namespace, log: log, err: errLeaseUnread, changed: make(chan struct{})}
}

var errLeaseUnread = errors.New("the Lease is not read yet")

// Ready returns nil while the Lease can be read and written.
func (l *lease) Ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Get reads the Lease. That there is none is no failure: it is created next.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.saw(record.HolderIdentity)
	}
	if !apierrors.IsNotFound(err) {
		l.note(ctx, err)
	}
	return record, raw, err
}

// Create creates the Lease.
func (l *lease) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := time.Now()
	err := l.Interface.Create(ctx, r)
	l.keep(r, began, err)
	l.note(ctx, err)
	return err
}

// Update takes the Lease, or renews it.
func (l *lease) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	began := time.Now()
	err := l.Interface.Update(ctx, r)
	l.keep(r, began, err)
	if !apierrors.IsNotFound(err) {
		l.note(ctx, err)
	}
	return err
}

// keep takes note of a renewal.
func (l *lease) keep(r resourcelock.LeaderElectionRecord, began time.Time, err error) {
	if err != nil {
		return
	}
	if r.HolderIdentity != l.Identity() {
		began = time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed, l.holder = began, r.HolderIdentity
	close(l.changed)
	l.changed = make(chan struct{})
}

// held reports whether this replica leads for sure: the last renewal is so
// fresh that nobody else can have taken the Lease. If not, the next one may
// come, which closes changed, unless the Lease was given up.
func (l *lease) held() (held, over bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	over = l.renewed.IsZero()
	return !over && time.Since(l.renewed) < renewDeadline, over, l.changed
}

// await waits until the Lease is held for sure, for as long as the elector
// tries to renew it. A slow API server takes most of the time that a renewal
// is good for, and a write has to fall into the rest.
func (l *lease) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewDeadline)
	defer cancel()
	for {
		held, over, changed := l.held()
		switch {
		case held:
			return nil
		case over:
			return errNotHeld
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errNotHeld
		}
	}
}

var errNotHeld = errors.New("nothing was written: the Lease was not renewed in time, another replica may lead")

// fence returns config for a client that writes only while the Lease is held.
// A process that was halted and goes on has a context that says it leads, and
// a view of the hub that may be old, until the elector notices.
func (l *lease) fence(config *rest.Config) *rest.Config {
	if l == nil {
		return config
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return fenced{next, l} })
	return config
}

type fenced struct {
	http.RoundTripper
	lease *lease
}

// RoundTrip refuses a write that the Lease does not cover. One that waited
// for a renewal may rest on an older state of the hub, but says on which: the
// API server refuses it if anybody has written since.
func (f fenced) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		if err := f.lease.await(r.Context()); err != nil {
			return nil, err
		}
	}
	return f.RoundTripper.RoundTrip(r)
}

// note keeps what became of a call, and says it once for each remedy. Another
// replica that was faster is no error, nor is the end of this one.
func (l *lease) note(ctx context.Context, err error) {
	if ctx.Err() != nil || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		err = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.err, l.said = nil, ""
		return
	}
	what := remedy(err)
	l.err = fmt.Errorf("the Lease %s in namespace %s cannot be used, so nothing is written to the hub: %w: %s", LeaseName, l.namespace, err, what)
	if l.said != what {
		l.said = what
		l.log.Error("cannot lead", "error", l.err)
	}
}

// remedy says what to do about it.
func remedy(err error) string {
	const alone = "run a single replica with --leader-elect=false"
	switch {
	case apierrors.IsNotFound(err):
		return "create the namespace, name another with --namespace, or " + alone
	case apierrors.IsForbidden(err):
		return "bind the Role spokewire-hub-bridge (get, create and update of leases) there, name another namespace with --namespace, or " + alone
	case apierrors.IsUnauthorized(err):
		return "check the credentials of the kubeconfig"
	}
	return "it is tried again"
}
