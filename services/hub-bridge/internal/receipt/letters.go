package receipt

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
)

// Letters keeps what no retry mends, and counts it.
type Letters struct {
	bus     events.Keeper
	service string
	count   *prometheus.CounterVec
}

// NewLetters returns Letters that are kept for service.
func NewLetters(bus events.Keeper, service string, metrics prometheus.Registerer) *Letters {
	l := &Letters{bus: bus, service: service, count: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "spokewire_hub_bridge_dead_letters_total", Help: "Messages refused, by reason.",
	}, []string{"reason"})}
	metrics.MustRegister(l.count)
	return l
}

// Bury keeps m with the cause, and counts it once it is kept.
func (l *Letters) Bury(ctx context.Context, m events.Message, cause error) error {
	if err := events.Bury(ctx, l.bus, l.service, m, cause); err != nil {
		return err
	}
	reason := "Failed"
	var bad *events.BadInput
	if errors.As(cause, &bad) {
		reason = bad.Reason
	}
	l.count.WithLabelValues(reason).Inc()
	return nil
}
