package access_test

import (
	"testing"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// Who may cordon a cluster moves other people's workloads: the operator may,
// and nobody else.
func TestOnlyTheOperatorCordonsAndRebalances(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	operator := h.dial(t, access.Operator, access.Operator)
	others := map[string]*client{"spoke c1": h.spoke(t, "c1"), "publisher": h.outsider(t, "thanos"), "reader": h.outsider(t, "reader")}
	for _, service := range access.Services() {
		others[service] = h.dial(t, service, service)
	}
	for _, subject := range []string{
		events.ConfigSubject(events.KindCordon, "", "c1"),
		events.ConfigSubject(events.KindRebalance, "default", "train"),
	} {
		for name, c := range others {
			t.Log(name)
			c.mustDenyPublish(subject)
		}
		operator.store(subject)
	}
}
