package config

import "github.com/spokewire/spokewire/internal/scoringapi"

// DynamicScoring lets dynamic scorers of the hub ask of this cluster what
// their queries yield here, and what the scoring APIs here make of it.
type DynamicScoring struct {
	// Hosts are those that may be called for them: HOST, HOST:PORT or
	// *.DOMAIN.
	Hosts []string `json:"hosts,omitempty"`
	// Prometheus, if set, is where this cluster's Prometheus is: it is asked
	// in place of the address that a scorer names for all clusters.
	Prometheus string `json:"prometheus,omitempty"`
	// TokenDir holds the tokens that they name: the key K of Secret S is the
	// file S/K.
	TokenDir string `json:"tokenDir,omitempty"`
	// CAFile is of the certificates of those hosts. Default: the system's CAs.
	CAFile string `json:"caFile,omitempty"`
}

// validateScoring wants a cluster to speak for, and hosts: who may create
// scorers on the hub would otherwise reach whatever the collector reaches.
func (c *Config) validateScoring() error {
	s := c.DynamicScoring
	if s == nil {
		return nil
	}
	if err := checkName("cluster", c.Cluster); err != nil {
		return err
	}
	if len(s.Hosts) == 0 && s.Prometheus == "" {
		return fieldErrorf("dynamicScoring.hosts", "is empty, and so is prometheus: list the hosts that may be asked, such as prometheus.monitoring.svc:9090")
	}
	if s.Prometheus != "" {
		if err := checkURL("dynamicScoring.prometheus", s.Prometheus); err != nil {
			return err
		}
	}
	if err := scoringapi.Hosts(s.Hosts).Check(); err != nil {
		return fieldErrorf("dynamicScoring.hosts", "holds %v", err)
	}
	return nil
}
