package decisions

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// writes are those for one decision, over all attempts. Before each of them
// the decision must still be the last of its subject in the log, and, but for
// what is given up, the Placement Spokewire's.
type writes struct {
	applier   *Applier
	entry     *Entry
	placement *clusterv1beta1.Placement
	objects   []*clusterv1beta1.PlacementDecision
	written   []schemas.ObjectRef
	again     time.Duration // until the next look, 0 for none
}

func (w *writes) current() error {
	if !w.applier.Ledger.Last(w.entry) {
		return errOvertaken
	}
	return nil
}

// entitled is current, and that the Placement, as far as is known, is the one
// that the writes were planned for and still Spokewire's to write for.
func (w *writes) entitled() error {
	p := w.applier.Hub.Placement(w.placement.Namespace, w.placement.Name)
	if p == nil || p.UID != w.placement.UID || !bridge.Direct(p) || p.DeletionTimestamp != nil {
		return errNotEntitled
	}
	return w.current()
}

func (w *writes) step(ctx context.Context, s bridge.Step) error {
	if err := w.entitled(); err != nil {
		return err
	}
	if s.Kind == bridge.CreatePage {
		return w.note(w.applier.Hub.CreatePage(ctx, bridge.NewPageObject(w.placement, s.Page)))
	}
	o := w.find(w.nameOf(s.Page))
	switch {
	case o == nil:
		return nil // planned from these very objects
	case s.Kind == bridge.DeletePage:
		return w.delete(ctx, o)
	case s.Kind == bridge.LabelPage:
		return w.note(w.applier.Hub.UpdatePage(ctx, bridge.Mark(w.placement, o, s.Page)))
	}
	filled := o.DeepCopy()
	filled.Status.Decisions = s.Page.Decisions
	if filled.Status.Decisions == nil {
		filled.Status.Decisions = []clusterv1beta1.ClusterDecision{}
	}
	return w.note(w.applier.Hub.UpdatePageStatus(ctx, filled))
}

func (w *writes) nameOf(page bridge.Page) string {
	if page.Name != "" {
		return page.Name
	}
	return bridge.PageName(w.placement.Name, page.Number)
}

func (w *writes) find(name string) *clusterv1beta1.PlacementDecision {
	i := slices.IndexFunc(w.objects, func(o *clusterv1beta1.PlacementDecision) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return w.objects[i]
}

// note replaces the object by what was written, for the next step.
func (w *writes) note(o *clusterv1beta1.PlacementDecision, err error) error {
	if err != nil {
		return err
	}
	w.objects = slices.DeleteFunc(slices.Clone(w.objects), func(old *clusterv1beta1.PlacementDecision) bool { return old.Name == o.Name })
	w.objects = append(w.objects, o)
	w.add("PlacementDecision", o)
	return nil
}

func (w *writes) delete(ctx context.Context, o *clusterv1beta1.PlacementDecision) error {
	if err := w.current(); err != nil {
		return err
	}
	if err := w.applier.Hub.DeletePage(ctx, o); err != nil {
		return err
	}
	w.add("PlacementDecision", o)
	return nil
}

func (w *writes) deleteNamed(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := w.delete(ctx, w.find(name)); err != nil {
			return err
		}
	}
	return nil
}

// release takes our label off the pages, so that what OCM makes of them
// counts as its own, and our condition off the Placement: OCM leaves it there,
// and what it says ends here. It deletes nothing.
func (w *writes) release(ctx context.Context) error {
	for _, o := range w.objects {
		if !bridge.Ours(o) || !metav1.IsControlledBy(o, w.placement) {
			continue
		}
		if err := w.current(); err != nil {
			return err
		}
		released := o.DeepCopy()
		released.Labels = maps.Clone(o.Labels)
		delete(released.Labels, bridge.LabelManagedBy)
		if err := w.note(w.applier.Hub.UpdatePage(ctx, released)); err != nil {
			return err
		}
	}
	status, differs := bridge.Unexplained(w.placement)
	if !differs {
		return nil
	}
	if err := w.current(); err != nil {
		return err
	}
	return w.putStatus(ctx, status)
}

func (w *writes) status(ctx context.Context, status clusterv1beta1.PlacementStatus) error {
	if err := w.entitled(); err != nil {
		return err
	}
	return w.putStatus(ctx, status)
}

func (w *writes) putStatus(ctx context.Context, status clusterv1beta1.PlacementStatus) error {
	p := w.placement.DeepCopy()
	p.Status = status
	written, err := w.applier.Hub.UpdatePlacementStatus(ctx, p)
	if err != nil {
		return err
	}
	w.placement = written
	w.add("Placement", written)
	return nil
}

func (w *writes) add(kind string, o metav1.Object) {
	w.written = append(w.written, schemas.ObjectRef{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), ResourceVersion: o.GetResourceVersion()})
}

func (w *writes) outcome() string {
	if len(w.written) > 0 {
		return schemas.OutcomeApplied
	}
	return schemas.OutcomeUnchanged
}

// refs are the objects that hold the decision now.
func (w *writes) refs(pages []bridge.Page) []schemas.ObjectRef {
	var out []schemas.ObjectRef
	for _, page := range pages {
		if o := w.find(w.nameOf(page)); o != nil {
			out = append(out, schemas.ObjectRef{Kind: "PlacementDecision", Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion})
		}
	}
	return append(out, schemas.ObjectRef{
		Kind: "Placement", Namespace: w.placement.Namespace, Name: w.placement.Name, ResourceVersion: w.placement.ResourceVersion,
	})
}
