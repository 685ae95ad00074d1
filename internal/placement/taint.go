package placement

import (
	"fmt"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func checkTolerations(tolerations []clusterv1beta1.Toleration) error {
	for i, t := range tolerations {
		switch {
		case t.Key == "" && t.Operator != clusterv1beta1.TolerationOpExists:
			return fmt.Errorf("spec.tolerations[%d] has no key: write one, or operator Exists", i)
		case t.Operator == clusterv1beta1.TolerationOpExists && t.Value != "":
			return fmt.Errorf("spec.tolerations[%d] has operator Exists and a value: remove one", i)
		}
	}
	return nil
}

// tolerate reports which of the taints, if any, is the first to keep the cluster
// from being selected, and until when that answer stays. PreferNoSelect
// keeps no cluster away, NoSelectIfNew none that is selected already.
func tolerate(taints []schemas.Taint, tolerations []clusterv1beta1.Toleration, selected bool, now int64) (refused *schemas.Taint, until int64) {
	until = never
	for i := range taints {
		taint := &taints[i]
		switch clusterv1.TaintEffect(taint.Effect) {
		case clusterv1.TaintEffectPreferNoSelect:
			continue
		case clusterv1.TaintEffectNoSelectIfNew:
			if selected {
				continue
			}
		}
		end := toleratedUntil(taint, tolerations, now)
		if end <= now {
			return taint, until // one before it may be tolerated until then
		}
		until = min(until, end)
	}
	return nil, until
}

// toleratedUntil returns the end of the first toleration that holds for the
// taint at now, or 0 where none does. The end itself is no longer tolerated.
func toleratedUntil(taint *schemas.Taint, tolerations []clusterv1beta1.Toleration, now int64) int64 {
	for i := range tolerations {
		t := &tolerations[i]
		if !matchesTaint(t, taint) {
			continue
		}
		if t.TolerationSeconds == nil {
			return never
		}
		end := unixNano(later(taint.TimeAdded, *t.TolerationSeconds))
		if now < end {
			return end
		}
	}
	return 0
}

// later is t and so many seconds, of which there may be more than a Duration
// can say: people write a very large number for "always".
func later(t time.Time, seconds int64) time.Time {
	const most = 1 << 40 // some 35,000 years
	return time.Unix(t.Unix()+min(max(seconds, -most), most), int64(t.Nanosecond()))
}

func matchesTaint(t *clusterv1beta1.Toleration, taint *schemas.Taint) bool {
	if t.Effect != "" && string(t.Effect) != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case clusterv1beta1.TolerationOpExists:
		return true
	case "", clusterv1beta1.TolerationOpEqual:
		return t.Value == taint.Value
	}
	return false
}

func taintText(t *schemas.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + t.Effect
	}
	return t.Key + "=" + t.Value + ":" + t.Effect
}
