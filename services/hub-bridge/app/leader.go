package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// LeaseName is that of the Lease whose holder writes.
const LeaseName = "spokewire-hub-bridge"

// Durations of the Lease: how long it holds, when its holder gives up, how
// often it is renewed.
const (
	leaseDuration = 4 * time.Second
	renewDeadline = 3 * time.Second
	retryPeriod   = time.Second
)

// ErrLeaseLost: this replica does not lead any more. What it knows may be
// old, so the process ends and is started again.
var ErrLeaseLost = errors.New("the lease is lost: another replica may lead now")

// lead calls work once this replica leads, with a context that ends with
// that.
// A nil lock means that it always does.
func lead(ctx context.Context, lock *lease, work func(context.Context)) error {
	if lock == nil {
		work(ctx)
		return ctx.Err()
	}
	started, done := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: LeaseName, Lock: lock,
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				close(started)
				work(ctx)
				close(done)
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	elector.Run(ctx)
	if ctx.Err() == nil {
		<-done
		return ErrLeaseLost
	}
	select {
	case <-started:
		<-done // no write of this replica is under way any more
		return errors.Join(ctx.Err(), release(context.WithoutCancel(ctx), lock))
	default:
		return ctx.Err() // it never led, or has not begun to
	}
}

// newLock returns the lock that o asks for, nil for none.
func newLock(o Options, config *rest.Config, log *slog.Logger) (*lease, error) {
	if !o.LeaderElect {
		return nil, nil
	}
	config = rest.CopyConfig(config)
	config.Timeout = renewDeadline // a renewal may take all of it
	client, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("lease client: %w", err)
	}
	return newLease(o.Namespace, log, &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: o.Namespace, Name: LeaseName},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
	}), nil
}

// release gives the Lease up, so that another replica need not wait for its
// end.
func release(ctx context.Context, lock resourcelock.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, renewDeadline)
	defer cancel()
	record, _, err := lock.Get(ctx)
	if err != nil {
		return fmt.Errorf("release the lease: %w", err)
	}
	if record.HolderIdentity != lock.Identity() {
		return nil
	}
	record.HolderIdentity, record.LeaseDurationSeconds = "", 1
	if err := lock.Update(ctx, *record); err != nil {
		return fmt.Errorf("release the lease: %w", err)
	}
	return nil
}
