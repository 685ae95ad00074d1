package capacity

// Totals are of a cluster or of one of its pools.
type Totals struct {
	// Nodes are all; ReadyNodes and OpenNodes those that are.
	Nodes, ReadyNodes, OpenNodes int
	// Allocatable is of all nodes, Requested what the pods on them take.
	Allocatable, Requested Amounts
	// Free is what is left on open nodes, node by node; LargestFree the most
	// that is left on one of them, of each resource by itself.
	Free, LargestFree Amounts
}

// Count is of a whole cluster.
type Count struct {
	Cluster Totals
	Pools   map[string]*Totals
	// PendingPods wait for a node, and ask for Pending; GatedPods are held
	// back by somebody.
	PendingPods, GatedPods int
	Pending                Amounts
}

func newTotals() *Totals {
	return &Totals{Allocatable: Amounts{}, Requested: Amounts{}, Free: Amounts{}, LargestFree: Amounts{}}
}

// CountAll counts. Pods on nodes that are not among nodes are passed over.
func CountAll(nodes []*Node, pods []*Pod) Count {
	c := Count{Cluster: *newTotals(), Pools: map[string]*Totals{}, Pending: Amounts{}}
	used := map[string]Amounts{}
	for _, p := range pods {
		switch {
		case p.Ended:
		case p.Node != "":
			if used[p.Node] == nil {
				used[p.Node] = Amounts{}
			}
			used[p.Node].add(p.Requests)
		case p.Gated:
			c.GatedPods++
		default:
			c.PendingPods++
			c.Pending.add(p.Requests)
		}
	}
	for _, n := range nodes {
		pool := c.Pools[n.Pool]
		if pool == nil {
			pool = newTotals()
			c.Pools[n.Pool] = pool
		}
		pool.add(n, used[n.Name])
		c.Cluster.add(n, used[n.Name])
	}
	return c
}

func (t *Totals) add(n *Node, used Amounts) {
	t.Nodes++
	if n.Ready {
		t.ReadyNodes++
	}
	t.Allocatable.add(n.Allocatable)
	t.Requested.add(used)
	free := n.Allocatable.less(used)
	if n.Open {
		t.OpenNodes++
	} else {
		free = free.less(free) // of each resource nothing
	}
	t.Free.add(free)
	t.LargestFree.atLeast(free)
}
