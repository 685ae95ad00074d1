package checkup

import (
	"testing"
	"time"
)

func TestCheckHubItself(t *testing.T) {
	t.Parallel()
	users := []string{"u"}
	mine, theirs := Lease{Namespace: "a", Holder: "mine", Age: time.Second}, Lease{Namespace: "b", Holder: "theirs"}
	gone, none := Lease{Namespace: "a", Holder: "gone", Age: 5 * time.Minute}, Lease{Namespace: "c", Age: time.Second}
	tests := map[string]struct {
		hub      Hub
		observed bool
		check    int // which finding
		judged
	}{
		"away":                  {Hub{Server: "https://h", Fault: "refused"}, false, 0, judged{false, "https://h cannot be looked at (refused): is KUBECONFIG"}},
		"starting":              {Hub{Server: "https://h", Unready: []string{"etcd"}}, false, 0, judged{false, "https://h is not ready (etcd), so nothing is said of what it serves: an API server takes a while"}},
		"there":                 {Hub{Server: "https://h"}, false, 0, judged{true, "https://h"}},
		"all served":            {Hub{}, false, 1, judged{true, "OCM's are served"}},
		"a resource is missing": {Hub{Missing: []MissingResource{{Name: "placements", Version: "v1beta1"}}}, true, 1, judged{false, "placements is not served in v1beta1: install OCM's"}},
		"another version": {
			Hub{Missing: []MissingResource{{Name: "placements", Version: "v1beta1", Served: []string{"v1", "v2"}}}}, true, 1,
			judged{false, "placements is not served in v1beta1 but in v1 and v2: install"},
		},
		"all rights":                   {Hub{Users: users}, false, 2, judged{true, "u may do what the bridge does"}},
		"a right is missing":           {Hub{Users: users, Denied: []string{"update placements/status"}}, true, 2, judged{false, "u may not update placements/status: kubectl apply"}},
		"no Lease":                     {Hub{Users: users, Unleased: []string{"update leases in namespace n"}}, false, 2, judged{false, "u may not update leases in namespace n, so hub-bridge never writes"}},
		"no Lease any more":            {Hub{Users: users, Unleased: []string{"update leases in namespace n"}, Leases: []Lease{gone}}, true, 2, judged{false, "u may not update leases"}},
		"no Lease, nor needed":         {Hub{Users: users, Unleased: []string{"update leases in namespace n"}}, true, 2, judged{true, "u may do what the bridge does, but hold no Lease: it works with"}},
		"a right and the Lease":        {Hub{Users: users, Denied: []string{"list placements"}, Unleased: []string{"x"}}, false, 2, judged{false, "u may not list placements: kubectl apply"}},
		"no rights":                    {Hub{}, false, 2, judged{false, "nobody has the role spokewire-hub-bridge: kubectl apply"}},
		"other rights":                 {Hub{}, true, 2, judged{true, "works with other rights"}},
		"a writer":                     {Hub{Leases: []Lease{mine, none}}, true, 3, judged{true, "mine (namespace a)"}},
		"another bus's writer":         {Hub{Leases: []Lease{mine}, HasObjects: true}, false, 3, judged{false, "mine (namespace a) writes to this hub, but this bus knows nothing of the hub"}},
		"nothing to write about":       {Hub{Leases: []Lease{mine}}, false, 3, judged{true, "mine (namespace a)"}},
		"two writers":                  {Hub{Leases: []Lease{mine, theirs}}, true, 3, judged{false, "mine (namespace a), theirs (namespace b) each write to this hub"}},
		"a writer that is gone":        {Hub{Leases: []Lease{gone}}, true, 3, judged{false, "gone (namespace a) until 5m ago did: start hub-bridge"}},
		"another, after one is gone":   {Hub{Leases: []Lease{gone, theirs}}, true, 3, judged{true, "theirs (namespace b)"}},
		"no writer":                    {Hub{Leases: []Lease{none}}, true, 3, judged{true, "nobody holds the Lease"}},
		"a Lease that nobody may read": {Hub{LeasesUntold: "forbidden"}, true, 3, judged{true, "not checked: this user may not list Leases (forbidden)"}},
		"rights that nobody may speak": {Hub{Untold: "forbidden"}, false, 2, judged{true, "not checked: this user may not ask for them (forbidden)"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := tt.hub.check(tt.observed)
			if len(findings) <= tt.check {
				t.Fatalf("got %+v", findings)
			}
			tt.judged.check(t, findings[tt.check])
		})
	}
}
