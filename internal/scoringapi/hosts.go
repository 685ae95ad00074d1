package scoringapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/internal/dynamic"
)

// Hosts are those that may be called: HOST or HOST:PORT, where *.DOMAIN stands
// for every host below it.
type Hosts []string

// Check says which of them is none.
func (h Hosts) Check() error {
	for _, host := range h {
		if host == "" || strings.ContainsAny(host, "/ @") {
			return fmt.Errorf("%q is not a host, want HOST, HOST:PORT or *.DOMAIN", host)
		}
	}
	return nil
}

// Permit refuses a URL whose host is not among them. Its error is a
// *dynamic.Failure.
func (h Hosts) Permit(u *url.URL) error {
	if slices.ContainsFunc(h, func(host string) bool { return permits(host, u) }) {
		return nil
	}
	return dynamic.Failf(dynamic.Forbidden, "%s is not among the hosts that may be called: %s", u.Host, strings.Join(h, ", "))
}

func permits(host string, u *url.URL) bool {
	domain, below := strings.CutPrefix(host, "*")
	if below {
		return strings.HasPrefix(domain, ".") && strings.HasSuffix(strings.ToLower(u.Hostname()), strings.ToLower(domain))
	}
	return strings.EqualFold(host, u.Host) || strings.EqualFold(host, u.Hostname())
}
