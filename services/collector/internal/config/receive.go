package config

import (
	"net"
	"net/netip"
	"time"
)

// Defaults of a source that is sent to.
const (
	DefaultExpireAfter = 5 * time.Minute
	maxExpireAfter     = 24 * time.Hour
)

// Receive listens for metrics that others send: Prometheus' remote write, or
// OTLP over HTTP. Senders need the source's bearer token, if it has one, and
// are served its certificate.
type Receive struct {
	// Listen is HOST:PORT, for instance 127.0.0.1:9201. Beyond this machine a
	// bearerTokenFile is needed.
	Listen string `json:"listen"`
	// ExpireAfter is how long a series is held that is not sent again. Default
	// 5m.
	ExpireAfter Duration `json:"expireAfter,omitzero"`
}

// Receives returns what the source listens for, and the field's name; nil if
// it does not.
func (s *Source) Receives() (field string, r *Receive) {
	switch {
	case s.RemoteWrite != nil:
		return kindRemoteWrite, s.RemoteWrite
	case s.OTLP != nil:
		return kindOTLP, s.OTLP
	}
	return "", nil
}

func (s *Source) validateReceive() error {
	_, r := s.Receives()
	host, _, err := net.SplitHostPort(r.Listen)
	switch {
	case r.Listen == "":
		return fieldErrorf("listen", "is missing, for instance 127.0.0.1:9201")
	case err != nil:
		return fieldErrorf("listen", "is %q, want HOST:PORT, for instance 127.0.0.1:9201", r.Listen)
	case !loopback(host) && s.BearerTokenFile == "":
		return fieldErrorf("listen", "is %q, which others reach: set bearerTokenFile, and tls, or listen on 127.0.0.1", r.Listen)
	}
	if err := r.ExpireAfter.validate("expireAfter"); err != nil {
		return err
	}
	if d := r.ExpireAfter.Duration; d < s.Interval.Duration || d > maxExpireAfter {
		return fieldErrorf("expireAfter", "is %v, want at least the interval, %v, and at most %v", d, s.Interval.Duration, maxExpireAfter)
	}
	return nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
