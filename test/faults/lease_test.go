package faults

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/internal/testwait"
)

// The bridge's lease.
const (
	leaseNamespace = "spokewire"
	leaseName      = "spokewire-hub-bridge"
	leaseDuration  = 4 * time.Second
)

// stealLease gives the bridge's lease to somebody else, who never renews it.
func stealLease() scenario {
	return scenario{name: "steal-lease", bound: leaseDuration + 6*time.Second, strike: func(t *testing.T, r *round) {
		left := testwait.Until(t.Context(), 10*time.Second, func() string {
			lease := r.lease(t)
			thief, now := "thief", metav1.NewMicroTime(time.Now())
			lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.AcquireTime = &thief, &now, &now
			if _, err := r.core.CoordinationV1().Leases(leaseNamespace).Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
				return err.Error()
			}
			return ""
		})
		if left != "" {
			t.Fatal(left)
		}
		wait(t, leaseDuration)
	}}
}

// deleteLease removes it under the leader.
func deleteLease() scenario {
	return scenario{name: "delete-lease", bound: leaseDuration + 6*time.Second, strike: func(t *testing.T, r *round) {
		must(t, r.core.CoordinationV1().Leases(leaseNamespace).Delete(t.Context(), leaseName, metav1.DeleteOptions{}))
		wait(t, time.Second)
	}}
}

// pauseLeader stops the leading bridge in the middle of whatever it does,
// lets the other take over, and lets the first go on.
func pauseLeader() scenario {
	return scenario{name: "pause-leader", bound: leaseDuration + 6*time.Second, strike: func(t *testing.T, r *round) {
		left := testwait.Until(t.Context(), 15*time.Second, func() string {
			if name := holder(r.lease(t)); r.process(name) == "" {
				return fmt.Sprintf("the lease is held by %q, which is no process of ours", name)
			}
			return ""
		})
		if left != "" {
			t.Fatal(left)
		}
		identity := holder(r.lease(t))
		first := r.process(identity)
		must(t, r.stack.Signal(first, syscall.SIGSTOP))
		defer func() { must(t, r.stack.Signal(first, syscall.SIGCONT)) }()
		left = testwait.Until(t.Context(), 3*leaseDuration, func() string {
			if now := holder(r.lease(t)); now == identity || now == "" {
				return "nobody took over from " + first
			}
			return ""
		})
		if left != "" {
			t.Error(left)
		}
		wait(t, time.Second) // the other writes
	}}
}

func (r *round) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	lease, err := r.core.CoordinationV1().Leases(leaseNamespace).Get(ctx, leaseName, metav1.GetOptions{})
	must(t, err)
	return lease
}

// process is the one that an identity in the lease is of: it begins with the
// process's name.
func (r *round) process(identity string) string {
	longest := ""
	for _, name := range r.services() {
		if (identity == name || strings.HasPrefix(identity, name+"-")) && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

func holder(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}
