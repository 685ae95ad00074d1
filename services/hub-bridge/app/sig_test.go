package app_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/app"
)

// installSIG has the shared hub serve SIG-Multicluster's resources, and
// returns what a bridge that was to write them said before that.
var installSIG = sync.OnceValues(func() (before, err error) {
	ctx := context.Background()
	o := app.DefaultOptions()
	o.Config, o.LeaderElect, o.Slices = theHub.Admin(), false, true
	before = app.RunOn(ctx, eventstest.NewBus(), o, process.Runtime{
		Name: "test", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Tracer: noop.NewTracerProvider(), Health: process.NewHealth(),
	})
	return before, hub.InstallDefinitions(ctx, theHub.Admin(), filepath.Join(hubtest.BinDir(), "crds-sig"))
})

// startSIG runs a bridge with rights of its own: those of the shipped roles,
// and of one file of those for SIG-Multicluster's resources.
func startSIG(t *testing.T, file string, change func(*env)) *env {
	t.Helper()
	if _, err := installSIG(); err != nil {
		t.Fatal(err)
	}
	e := prepare(t)
	user := "sig-" + e.ns
	added, err := theHub.AddUser(user)
	if err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(added.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return via{e.calls, next} })
	e.options.Config, e.options.LeaderElect = config, false
	grantSIG(t, e, user, file)
	change(e)
	e.run()
	return e
}

func grantSIG(t *testing.T, e *env, user, file string) {
	t.Helper()
	rbac := kubernetes.NewForConfigOrDie(theHub.Admin()).RbacV1()
	if _, err := grant(); err != nil { // creates the bridge's own ClusterRole
		t.Fatal(err)
	}
	roles := []string{"spokewire-hub-bridge"}
	files, err := k8s.Interoperability()
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(files, file)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(string(text), "fleet", e.ns), "\n---\n")
	if strings.Contains(first, "kind: Role\n") {
		var role rbacv1.Role
		if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
			t.Fatal(err)
		}
		grantIn(t, e.ns, user, role)
	} else {
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
			t.Fatal(err)
		}
		role.Name += "-" + e.ns
		if _, err := rbac.ClusterRoles().Create(t.Context(), &role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, role.Name)
	}
	for _, role := range roles {
		_, err := rbac.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role + "-" + user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func sigHub() sigclient.Interface { return sigclient.NewForConfigOrDie(theHub.Admin()) }

// slices are the SIG PlacementDecisions of a Placement, by name.
func (e *env) slices(placement string) []sig.PlacementDecision {
	e.t.Helper()
	list, err := sigHub().ApisV1alpha1().PlacementDecisions(e.ns).List(e.t.Context(), metav1.ListOptions{
		LabelSelector: sig.DecisionKeyLabel + "=" + placement,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b sig.PlacementDecision) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

// slicesSay waits until the slices of a Placement name exactly these clusters.
func (e *env) slicesSay(placement string, want ...string) {
	e.t.Helper()
	slices.Sort(want)
	eventually(e.t, fmt.Sprintf("the slices of %s say %d clusters", placement, len(want)), func() error {
		got := []string{}
		for _, s := range e.slices(placement) {
			for _, d := range s.Decisions {
				got = append(got, d.ClusterProfileRef.Name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("they say %v", got)
		}
		return nil
	})
}

func TestAHubWithoutTheDefinitionsIsNamed(t *testing.T) {
	t.Parallel()
	before, err := installSIG()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"--sig-placement-decisions", "placementdecisions.multicluster.x-k8s.io", "crds-sig"} {
		if before == nil || !strings.Contains(before.Error(), part) {
			t.Errorf("the bridge ended with %v, want it to name %s", before, part)
		}
	}
}

// TestSlices runs the one bridge on the shared hub that writes slices: it does
// so in every namespace.
func TestSlices(t *testing.T) {
	t.Parallel()
	e := startSIG(t, "slices.yaml", func(e *env) { e.options.Slices = true })
	t.Run("of a direct Placement", e.slicesFollowDecisions)
	t.Run("of a native Placement", e.slicesFollowOCM)
	t.Run("are restored", e.slicesAreRestored)
	t.Run("outlive a handover", e.slicesOutliveAHandover)
	t.Run("are none beside others'", e.slicesStepBack)
}

func (e *env) slicesFollowDecisions(t *testing.T) {
	p := e.placement("wide", true)
	names := make([]string, 150)
	for i := range names {
		names[i] = fmt.Sprintf("c%03d", i)
	}
	e.applied(decision(p, names...))
	e.slicesSay("wide", names...)
	got := e.slices("wide")
	if len(got) != 2 || got[0].Name != "wide-slice-0" || got[1].Name != "wide-slice-1" || len(got[0].Decisions) != 100 {
		t.Fatalf("slices are %+v", got)
	}
	s := got[1]
	if s.SchedulerName != "spokewire" || s.Labels[sig.DecisionIndexLabel] != "1" || s.Labels[sig.PlacementKeyLabel] != "wide" || !metav1.IsControlledBy(&s, p) {
		t.Errorf("the slice is %+v", s)
	}
	if ref := s.Decisions[0].ClusterProfileRef; ref.Namespace != e.ns {
		t.Errorf("the slice refers to %+v, want the namespace of the Placement", ref)
	}
	e.applied(decision(p, names[:20]...))
	e.slicesSay("wide", names[:20]...)
	if got := e.slices("wide"); len(got) != 1 {
		t.Errorf("%d slices for 20 clusters", len(got))
	}
	e.applied(decision(p))
	e.slicesSay("wide")
	if got := e.slices("wide"); len(got) != 1 {
		t.Errorf("%d slices say that nothing is selected", len(got))
	}
	e.publish(events.DecisionSubject(events.KindPlacement, e.ns, "wide"), schemas.TypePlacementDecisionDeleted,
		&schemas.Deleted{Namespace: e.ns, Name: "wide", UID: string(p.UID)}, events.Tombstone())
	eventually(t, "the slices are gone with the decision", func() error {
		if got := e.slices("wide"); len(got) > 0 {
			return fmt.Errorf("there is %s", got[0].Name)
		}
		return nil
	})
}

func (e *env) slicesFollowOCM(t *testing.T) {
	page := bridge.NewPageObject(e.placement("native", false), bridge.Page{Number: 1})
	delete(page.Labels, bridge.LabelManagedBy)
	decisions := e.hub.ClusterV1beta1().PlacementDecisions(e.ns)
	page, err := decisions.Create(t.Context(), page, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "a"}, {ClusterName: "b"}}
	if _, err := decisions.UpdateStatus(t.Context(), page, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.slicesSay("native", "a", "b")
	if got := e.slices("native")[0].SchedulerName; got != bridge.ManagerOCM {
		t.Errorf("the scheduler is %s", got)
	}
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "native", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.slicesSay("native")
}

func (e *env) slicesAreRestored(t *testing.T) {
	e.applied(decision(e.placement("kept", true), "a"))
	e.slicesSay("kept", "a")
	client := sigHub().ApisV1alpha1().PlacementDecisions(e.ns)
	e.retry(func() error {
		s := e.slices("kept")[0]
		s.Decisions[0].ClusterProfileRef.Name = "evil"
		_, err := client.Update(t.Context(), &s, metav1.UpdateOptions{})
		return err
	})
	e.slicesSay("kept", "a")
	if err := client.Delete(t.Context(), "kept-slice-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.slicesSay("kept", "a")
}

// slicesStepBack has somebody write as OCM's copier does.
func (e *env) slicesStepBack(t *testing.T) {
	d := decision(e.placement("copied", true), "a")
	e.applied(d)
	e.slicesSay("copied", "a")
	client := sigHub().ApisV1alpha1().PlacementDecisions(e.ns)
	copied, err := client.Create(t.Context(), &sig.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{Name: "copied-decision-1", Namespace: e.ns, Labels: map[string]string{
			sig.LabelClusterManagerKey: bridge.ManagerOCM, sig.DecisionKeyLabel: "copied", sig.PlacementKeyLabel: "copied", sig.DecisionIndexLabel: "0",
		}},
		Decisions: []sig.ClusterDecision{{ClusterProfileRef: sig.ClusterProfileReference{Namespace: e.ns, Name: "b"}}}, SchedulerName: bridge.ManagerOCM,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e.slicesSay("copied", "b")
	eventually(t, "a receipt says why", func() error {
		r, err := last[*schemas.Receipt](e, events.StreamReceipts, events.ReceiptSubject(events.KindSlice, e.ns, "copied"))
		if err == nil && (r.Outcome != schemas.OutcomeRefused || r.Reason != bridge.ReasonNotOurs || !strings.Contains(r.Message, "copied-decision-1")) {
			err = fmt.Errorf("it is %+v", *r)
		}
		return err
	})
	e.selects("copied", "a")
	if err := client.Delete(t.Context(), copied.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.slicesSay("copied", "a")
}

func (e *env) slicesOutliveAHandover(t *testing.T) {
	e.applied(decision(e.placement("handed", true), "a"))
	e.slicesSay("handed", "a")
	before := e.slices("handed")[0].UID
	e.retry(func() error {
		p := e.get("handed")
		delete(p.Annotations, clusterv1beta1.PlacementDisableAnnotation)
		_, err := e.hub.ClusterV1beta1().Placements(e.ns).Update(t.Context(), p, metav1.UpdateOptions{})
		return err
	})
	eventually(t, "the slice says that OCM decides", func() error {
		s := e.slices("handed")
		if len(s) != 1 || s[0].UID != before || len(s[0].Decisions) != 1 {
			t.Fatalf("slices are %+v", s)
		}
		if s[0].SchedulerName != bridge.ManagerOCM {
			return errors.New(s[0].SchedulerName)
		}
		return nil
	})
}
