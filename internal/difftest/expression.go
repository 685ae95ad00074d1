package difftest

import (
	"fmt"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// uncarried reads what a ManagedCluster's event does not have.
const uncarried = `managedCluster.metadata.generation >= 1`

// annotationSizes has JSON, and rarely what is none.
const annotationSizes = "example.com/sizes"

// addExpressions adds CEL expressions to a predicate: such as hold for some
// clusters, such as fail for some or for all, and rarely such as are none.
func addExpressions(d draw, s *clusterv1beta1.ClusterSelector) {
	if d.often(4 * slips) {
		s.CelSelector.CelExpressions = []string{one(d, uncarried, uncarried, `managedCluster.metadata.`, `managedCluster.scores("others-a") > 1`, `cluster.name == "a"`)}
		return
	}
	for range one(d, 1, 1, 2) {
		s.CelSelector.CelExpressions = append(s.CelSelector.CelExpressions, expression(d))
	}
}

func expression(d draw) string {
	label, claim := one(d, labelled...), one(d, claimed...)
	value := one(d, label.values...)
	switch d.IntN(20) {
	case 0:
		return fmt.Sprintf(`managedCluster.metadata.labels[%q] == %q`, label.key, value)
	case 1, 2:
		return fmt.Sprintf(`%q in managedCluster.metadata.labels && managedCluster.metadata.labels[%q] != %q`, label.key, label.key, value)
	case 3, 4:
		return fmt.Sprintf(`managedCluster.status.clusterClaims.exists(c, c.name == %q && c.value == %q)`, claim.key, one(d, claim.values...))
	case 5:
		return fmt.Sprintf(`managedCluster.status.clusterClaims.filter(c, c.name == %q)[0].value != %q`, claim.key, one(d, claim.values...))
	case 6, 7:
		return fmt.Sprintf(`semver(managedCluster.status.version.kubernetes.replace("v", "")).isLessThan(semver(%q))`, one(d, "1.36.0", "1.37.0", "1.37.3"))
	case 8:
		return fmt.Sprintf(`quantity(managedCluster.status.%s.memory).compareTo(quantity(%q)) >= 0`, one(d, "allocatable", "capacity"), one(d, "0", "509Gi", "1Ti"))
	case 9:
		return `managedCluster.status.conditions.exists(c, c.type == "ManagedClusterConditionAvailable" && c.status == "True" && c.reason != "")`
	case 10, 11:
		return fmt.Sprintf(`managedCluster.scores(%q).exists(s, s.name == %q && s.value >= %d)`, one(d, scoreResources...), one(d, scoreItems...), one(d, -50, 0, 1, 50))
	case 12:
		return fmt.Sprintf(`managedCluster.scores(%q)[0].value %s 0`, one(d, scoreResources...), one(d, ">", "<="))
	case 13, 14:
		return fmt.Sprintf(`managedCluster.metadata.annotations[%q].parseJSON().%s`, annotationSizes, one(d, "gpu > 1", "gpu == 2.0", `names.exists(n, n == "a")`, "nothing == null", "size() == 2"))
	case 15:
		return one(d, `!has(managedCluster.spec.taints)`, `managedCluster.spec.taints.all(t, t.effect == "NoSelect")`, `managedCluster.spec.taints[0].timeAdded == null`)
	case 16:
		return one(d, `managedCluster.spec.hubAcceptsClient`, `managedCluster.spec.leaseDurationSeconds == 60`, `has(managedCluster.kind)`, `managedCluster.apiVersion == ""`,
			`timestamp(managedCluster.metadata.creationTimestamp) < timestamp("2100-01-01T00:00:00Z")`, `managedCluster.metadata.uid.size() == 36`)
	case 17:
		return one(d, `managedCluster.metadata.name.endsWith("1")`, `managedCluster.metadata.name.matches("c0[0-3]$")`, `int(managedCluster.metadata.name.split("-c")[1]) % 2 == 0`)
	case 18:
		return `url(managedCluster.spec.managedClusterClientConfigs[0].url).getPort() == "6443"`
	}
	return one(d, `true`, `managedCluster.nothing.at.all`, `"no bool"`, `1 / 0 == 1`, `dyn(managedCluster.metadata.name) > 3`, `managedCluster.metadata.labels[?"tier"].orValue("none") == "none"`)
}
