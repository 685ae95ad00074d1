package config

import (
	"fmt"
	"slices"
)

// maxClusters bounds those that one source speaks for: with each snapshot it
// writes an event for every one.
const maxClusters = 10_000

// validateCluster wants a cluster's name where a source needs it.
func (c *Config) validateCluster() error {
	local := slices.ContainsFunc(c.Sources, func(s Source) bool { return s.ClusterLabel == "" })
	if c.Cluster == "" && len(c.Sources) > 0 && !local {
		return nil
	}
	return checkName("cluster", c.Cluster)
}

// validateFleet checks that samples can name their clusters.
func (s *Source) validateFleet() error {
	switch {
	case s.ClusterLabel == "" && len(s.Clusters) == 0:
		return nil
	case s.ClusterLabel == "":
		return fieldErrorf("clusterLabel", "is missing, for clusters are listed")
	case len(s.Clusters) == 0:
		return fieldErrorf("clusters", "is empty: list the clusters that this source speaks for, as NATS permits them")
	case len(s.Clusters) > maxClusters:
		return fieldErrorf("clusters", "has %d items, at most %d are taken", len(s.Clusters), maxClusters)
	case s.kind() == kindKubernetes:
		return fieldErrorf("clusterLabel", "is not for kubernetes, which is of one cluster")
	case len(s.Labels.Keep) > 0 && !slices.Contains(s.Labels.Keep, s.ClusterLabel), slices.Contains(s.Labels.Drop, s.ClusterLabel):
		return fieldErrorf("labels", "leave out %s, which names the cluster: keep it, it is not sent", s.ClusterLabel)
	}
	seen := map[string]int{}
	for i, name := range s.Clusters {
		field := fmt.Sprintf("clusters[%d]", i)
		if err := checkName(field, name); err != nil {
			return err
		}
		if first, twice := seen[name]; twice {
			return fieldErrorf(field, "is %q, as is clusters[%d]", name, first)
		}
		seen[name] = i
	}
	return nil
}
