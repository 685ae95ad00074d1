package app

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// saw takes note of the Lease's holder. That it is another's is said once for
// each holder: whoever waits for a bridge of another bus waits for good.
func (l *lease) saw(holder string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if holder == l.holder {
		return
	}
	l.holder = holder
	if holder != "" && holder != l.Identity() {
		l.log.Info("waiting for the Lease, whose holder writes to the hub", "lease", l.name(), "holder", holder)
	}
}

func (l *lease) name() string { return l.namespace + "/" + LeaseName }

// Detail says who writes to the hub.
func (l *lease) Detail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.holder {
	case l.Identity():
		return "held by this replica"
	case "":
		return "held by nobody yet"
	}
	return fmt.Sprintf("held by %s (Lease %s), which writes to the hub; this replica, %s, waits", l.holder, l.name(), l.Identity())
}

// leading is the metric that says whether this replica writes.
func (l *lease) leading() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "spokewire_hub_bridge_leading", Help: "1 while this replica holds the Lease and writes to the hub, else 0.",
	}, func() float64 {
		if held, _, _ := l.held(); held {
			return 1
		}
		return 0
	})
}
