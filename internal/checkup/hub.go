package checkup

import (
	"fmt"
	"strings"
	"time"
)

// Hub is what was found on the hub.
type Hub struct {
	// Server is its address.
	Server string
	// Fault says why it could not be looked at; the rest is then empty.
	Fault string
	// Unready is why the API server is not ready, as the checks of its own
	// that fail; the rest is then empty.
	Unready []string
	// Missing are resources that the hub does not serve, or not in the
	// version that is needed.
	Missing []MissingResource
	// Users are those to whom the bridge's role is bound. None: it is bound
	// to nobody.
	Users []string
	// Denied are what these users may not do, though the bridge does it, for
	// instance "update placements/status".
	Denied []string
	// Unleased are what they may not do to hold the Lease, in the namespace in
	// which they may most, for instance "update leases in namespace spokewire".
	Unleased []string
	// Untold says why the rights could not be asked for.
	Untold string
	// Leases are those by which bridges agree on who writes, one a namespace;
	// LeasesUntold says why they could not be read.
	Leases       []Lease
	LeasesUntold string
	// HasObjects: it is known to hold clusters or Placements.
	HasObjects bool
}

// Lease says which bridge writes to the hub.
type Lease struct {
	Namespace string
	Holder    string // "" for nobody
	// Age is how long ago it was renewed, by this machine's clock.
	Age time.Duration
}

// staleLease is the age from which nobody renews a Lease: a bridge does so
// each second, and clocks differ.
const staleLease = time.Minute

func (l Lease) fresh() bool { return l.Holder != "" && l.Age < staleLease }

func (l Lease) String() string { return l.Holder + " (namespace " + l.Namespace + ")" }

// MissingResource is a resource of OCM that is not served as it must be.
type MissingResource struct {
	Name    string // for instance placements
	Version string // that is needed
	// Served are the other versions in which it is there.
	Served []string
}

// check takes whether the bridge has observed anything.
func (h *Hub) check(observed bool) []Finding {
	if h.Fault != "" {
		return []Finding{{Check: "hub", Detail: fmt.Sprintf("%s cannot be looked at (%s): is KUBECONFIG that of the hub, and does the API server run? One that starts refuses connections at first", h.Server, h.Fault)}}
	}
	if len(h.Unready) > 0 {
		return []Finding{{Check: "hub", Detail: fmt.Sprintf("%s is not ready (%s), so nothing is said of what it serves: an API server takes a while to start, look again then; kubectl get --raw '/readyz?verbose' says what it waits for", h.Server, some(h.Unready))}}
	}
	return []Finding{
		{Check: "hub", OK: true, Detail: h.Server},
		h.checkResources(),
		h.checkRights(observed),
		h.checkWriter(observed),
	}
}

// checkWriter finds out who writes to the hub: nobody, two, or the bridge of
// another bus.
func (h *Hub) checkWriter(observed bool) Finding {
	f := Finding{Check: "hub writer"}
	var held, stale []string
	for _, l := range h.Leases {
		if l.fresh() {
			held = append(held, l.String())
		} else if l.Holder != "" {
			stale = append(stale, fmt.Sprintf("%s until %s ago", l, span(l.Age)))
		}
	}
	switch {
	case h.LeasesUntold != "":
		f.OK, f.Detail = true, "not checked: this user may not list Leases ("+h.LeasesUntold+")"
	case len(held) > 1:
		f.Detail = some(held) + " each write to this hub, for a Lease counts in its namespace alone: stop all but one, or give them the same --namespace"
	case len(held) == 1 && (observed || !h.HasObjects):
		f.OK, f.Detail = true, held[0]
	case len(held) == 1:
		f.Detail = held[0] + " writes to this hub, but this bus knows nothing of the hub: that is the bridge of another bus, and this bus's waits for it. Stop one of them"
	case len(stale) > 0:
		f.Detail = "nobody holds the Lease of hub-bridge; " + some(stale) + " did: start hub-bridge (with --leader-elect=false it needs no Lease)"
	default:
		f.OK, f.Detail = true, "nobody holds the Lease of hub-bridge: it does not run, or with --leader-elect=false"
	}
	return f
}

func (h *Hub) checkResources() Finding {
	f := Finding{Check: "hub resources", OK: len(h.Missing) == 0, Detail: "OCM's are served"}
	if f.OK {
		return f
	}
	var missing []string
	for _, m := range h.Missing {
		text := fmt.Sprintf("%s is not served in %s", m.Name, m.Version)
		if len(m.Served) > 0 {
			text += " but in " + strings.Join(m.Served, " and ")
		}
		missing = append(missing, text)
	}
	f.Detail = some(missing) + ": install OCM's resource definitions on the hub, of a release that has these versions (clusteradm init does)"
	return f
}

func (h *Hub) checkRights(observed bool) Finding {
	f := Finding{Check: "hub rights"}
	switch {
	case h.Untold != "":
		f.OK, f.Detail = true, "not checked: this user may not ask for them ("+h.Untold+")"
	case len(h.Users) == 0 && observed:
		f.OK, f.Detail = true, "nobody has the role spokewire-hub-bridge: hub-bridge works with other rights, maybe more than it needs"
	case len(h.Users) == 0:
		f.Detail = "nobody has the role spokewire-hub-bridge: kubectl apply -f deploy/k8s/hub-bridge, with the bridge's user as the subject of bindings.yaml"
	case len(h.Denied) > 0:
		f.Detail = fmt.Sprintf("%s may not %s: kubectl apply -f deploy/k8s/hub-bridge grants what the bridge does", strings.Join(h.Users, ", "), some(h.Denied))
	case len(h.Unleased) > 0 && (len(h.Leases) > 0 || !observed):
		f.Detail = fmt.Sprintf("%s may not %s, so hub-bridge never writes (with --leader-elect=false it needs no Lease): kubectl apply -f deploy/k8s/hub-bridge grants it; with another --namespace the Role and its binding belong there",
			strings.Join(h.Users, ", "), some(h.Unleased))
	case len(h.Unleased) > 0:
		f.OK, f.Detail = true, strings.Join(h.Users, ", ")+" may do what the bridge does, but hold no Lease: it works with --leader-elect=false"
	default:
		f.OK, f.Detail = true, strings.Join(h.Users, ", ")+" may do what the bridge does"
	}
	return f
}
