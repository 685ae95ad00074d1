package placement

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// clusterSet is a ManagedClusterSet with its selector compiled.
type clusterSet struct {
	name     string
	selector labels.Selector
}

// SetClusterSet takes s in. A selector that does not parse is a
// *schemas.FieldError; the set is then left as it was, see RefuseClusterSet.
func (f *Fleet) SetClusterSet(s *schemas.ClusterSet) error {
	selector, err := setSelector(s)
	if err != nil {
		f.RefuseClusterSet(s.Name, err)
		return err
	}
	f.sets[s.Name] = &clusterSet{name: s.Name, selector: selector}
	delete(f.refused, s.Name)
	f.rebind()
	return nil
}

// CheckClusterSet returns the error that SetClusterSet would.
func CheckClusterSet(s *schemas.ClusterSet) error {
	_, err := setSelector(s)
	return err
}

// RefuseClusterSet notes why the set's last event is not in force. What was
// known of the set stays.
func (f *Fleet) RefuseClusterSet(name string, why error) {
	f.refused[name] = why
	f.rebind()
}

// DeleteClusterSet forgets the set.
func (f *Fleet) DeleteClusterSet(name string) {
	delete(f.sets, name)
	delete(f.refused, name)
	f.rebind()
}

// SetBinding takes b in. A binding counts only where its name is that of its
// set, which OCM's webhook enforces.
func (f *Fleet) SetBinding(b *schemas.Binding) {
	f.bindings[Key{b.Namespace, b.Name}] = b.ClusterSet
	f.rebind()
}

// DeleteBinding forgets the binding.
func (f *Fleet) DeleteBinding(namespace, name string) {
	delete(f.bindings, Key{namespace, name})
	f.rebind()
}

func (f *Fleet) rebind() {
	f.version++
	f.bound = f.version
}

// setSelector says which clusters are in s: those that carry its name in the
// exclusive label, or those that its selector matches (the empty one matches
// all, a missing one none).
func setSelector(s *schemas.ClusterSet) (labels.Selector, error) {
	switch clusterv1beta2.SelectorType(s.SelectorType) {
	case "", clusterv1beta2.ExclusiveClusterSetLabel:
		return labels.SelectorFromSet(labels.Set{clusterv1beta2.ClusterSetLabel: s.Name}), nil
	case clusterv1beta2.LabelSelector:
	default:
		return nil, &schemas.FieldError{Field: "spec.clusterSelector.selectorType", Reason: fmt.Sprintf("of ManagedClusterSet %s is %q: write %s or %s", s.Name, s.SelectorType, clusterv1beta2.ExclusiveClusterSetLabel, clusterv1beta2.LabelSelector)}
	}
	if len(s.LabelSelector) == 0 {
		return labels.Nothing(), nil
	}
	var selector *metav1.LabelSelector
	err := json.Unmarshal(s.LabelSelector, &selector)
	if err == nil {
		var compiled labels.Selector
		if compiled, err = metav1.LabelSelectorAsSelector(selector); err == nil {
			return compiled, nil
		}
	}
	return nil, &schemas.FieldError{Field: "spec.clusterSelector.labelSelector", Reason: fmt.Sprintf("of ManagedClusterSet %s is not a label selector: %v", s.Name, err)}
}
