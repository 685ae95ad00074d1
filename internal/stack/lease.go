package stack

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/pause"
)

const (
	// leaseLine is how hub-bridge's /readyz begins to say who holds its Lease,
	// leaseOurs how it goes on where the answering bridge does.
	leaseLine = "[i] lease: "
	leaseOurs = "held by this replica"
	// leasePatience is longer than the Lease of a bridge that is gone holds.
	leasePatience = 8 * time.Second
)

// OtherWriter says who writes to the hub in the place of this stack's bridge,
// which waits for it; "" where this stack's bridge does, or there is no hub.
// Only a hub that others may use too is looked at. It waits until a bridge
// that is gone cannot hold the Lease any more.
func (s *Stack) OtherWriter(ctx context.Context) string {
	if s.options.Hub == Embedded || s.options.Hub == None {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, leasePatience)
	defer cancel()
	other := ""
	for {
		holders := s.leaseHolders(ctx)
		if slices.Contains(holders, leaseOurs) {
			return ""
		}
		if len(holders) > 0 {
			other = holders[0]
		}
		if !pause.For(ctx, 100*time.Millisecond) {
			return other
		}
	}
}

// leaseHolders is what the stack's bridges say of their Lease.
func (s *Stack) leaseHolders(ctx context.Context) []string {
	var holders []string
	for name, url := range s.health {
		if name == access.HubBridge || strings.HasPrefix(name, access.HubBridge+"-") {
			if holder := leaseHolder(ctx, url); holder != "" {
				holders = append(holders, holder)
			}
		}
	}
	return holders
}

// leaseHolder is what the bridge at url says of its Lease.
func leaseHolder(ctx context.Context, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
	for line := range strings.Lines(string(body)) {
		if holder, ok := strings.CutPrefix(line, leaseLine); ok {
			return strings.TrimSpace(holder)
		}
	}
	return ""
}
