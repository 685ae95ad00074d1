package difftest

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func TestSame(t *testing.T) {
	placement := func(n int32, reason string, groups ...clusterv1beta1.DecisionGroupStatus) *clusterv1beta1.Placement {
		p := &clusterv1beta1.Placement{}
		p.Status.NumberOfSelectedClusters, p.Status.DecisionGroups = n, groups
		p.Status.Conditions = []metav1.Condition{{Type: "PlacementSatisfied", Status: "True", Reason: reason}, {Type: "PlacementMisconfigured", Status: "False", Reason: "Succeedconfigured"}}
		return p
	}
	group := func(index int32, name string, count int32, pages ...string) clusterv1beta1.DecisionGroupStatus {
		return clusterv1beta1.DecisionGroupStatus{DecisionGroupIndex: index, DecisionGroupName: name, ClustersCount: count, Decisions: pages}
	}
	page := func(name, index, group string, clusters ...string) clusterv1beta1.PlacementDecision {
		d := clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			clusterv1beta1.DecisionGroupIndexLabel: index, clusterv1beta1.DecisionGroupNameLabel: group,
		}}}
		for _, name := range clusters {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: name})
		}
		return d
	}
	pages := func(p ...clusterv1beta1.PlacementDecision) []clusterv1beta1.PlacementDecision { return p }
	one := group(0, "", 2, "p1")
	reference := Read(placement(2, "AllDecisionsScheduled", one), pages(page("p1", "0", "", "a", "b")))
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	cases := map[string]struct {
		other Answer
		want  bool
	}{
		"same":                {Read(placement(2, "AllDecisionsScheduled", one), pages(page("p1", "0", "", "a", "b"))), true},
		"other pages":         {Read(placement(2, "AllDecisionsScheduled", group(0, "", 2, "p1", "p2")), pages(page("p1", "0", "", "b"), page("p2", "0", "", "a"))), true},
		"other clusters":      {Read(placement(2, "AllDecisionsScheduled", one), pages(page("p1", "0", "", "a", "c"))), false},
		"a cluster twice":     {Read(placement(2, "AllDecisionsScheduled", group(0, "", 2, "p1", "p2")), pages(page("p1", "0", "", "a", "b"), page("p2", "0", "", "b"))), false},
		"other number":        {Read(placement(3, "AllDecisionsScheduled", one), pages(page("p1", "0", "", "a", "b"))), false},
		"other reason":        {Read(placement(2, "NotAllDecisionsScheduled", one), pages(page("p1", "0", "", "a", "b"))), false},
		"other group name":    {Read(placement(2, "AllDecisionsScheduled", group(0, "x", 2, "p1")), pages(page("p1", "0", "x", "a", "b"))), false},
		"other group count":   {Read(placement(2, "AllDecisionsScheduled", group(0, "", 1, "p1")), pages(page("p1", "0", "", "a", "b"))), false},
		"two groups":          {Read(placement(2, "AllDecisionsScheduled", group(0, "", 1, "p1"), group(1, "", 1, "p2")), pages(page("p1", "0", "", "a"), page("p2", "1", "", "b"))), false},
		"label without name":  {Read(placement(2, "AllDecisionsScheduled", one), pages(page("p1", "0", "y", "a", "b"))), false},
		"label without index": {Read(placement(2, "AllDecisionsScheduled", one), pages(page("p1", "", "", "a", "b"))), false},
		"page not in status":  {Read(placement(2, "AllDecisionsScheduled", one), pages(page("p2", "0", "", "a", "b"))), false},
		"group out of order":  {Read(placement(2, "AllDecisionsScheduled", group(1, "", 2, "p1")), pages(page("p1", "0", "", "a", "b"))), false},
		"not decided at all":  {Read(&clusterv1beta1.Placement{}, nil), false},
		"no misconfiguration": {Answer{Clusters: reference.Clusters, Selected: 2, Satisfied: reference.Satisfied, Groups: reference.Groups}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Same(reference, c.other); got != c.want {
				t.Errorf("Same is %v for\n%s\n%s", got, reference, c.other)
			}
		})
	}
	if empty := Read(&clusterv1beta1.Placement{}, nil); Same(empty, empty) {
		t.Error("two answers that were never given are the same")
	}
	if large := Read(placement(101, "AllDecisionsScheduled", group(0, "", 101, "p1")), pages(page("p1", "0", "", many...))); Same(large, large) {
		t.Error("a page may have 101 decisions")
	}
}
