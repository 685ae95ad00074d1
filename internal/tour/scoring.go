package tour

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/stack"
)

const scored = "demo-scored"

var (
	//go:embed dynamicscorer.yaml
	dynamicScorerYAML string
	//go:embed scored.yaml
	scoredYAML string
)

// Scored sums the scoring tour up.
type Scored struct {
	// Scorers, and the Scores that they have on the hub.
	Scorers, Scores int
	// Stale scores have expired; Failed are clusters that a scorer failed for
	// last.
	Stale, Failed int
}

func (s Scored) String() string {
	return fmt.Sprintf("scoring: scorers=%d scores=%d stale=%d failed=%d", s.Scorers, s.Scores, s.Stale, s.Failed)
}

// Scoring gives the tour of OCM's dynamic scoring on s, each cluster of which
// has a Prometheus, within timeout. It returns an error unless all that it
// shows happened.
func Scoring(ctx context.Context, s *stack.Stack, timeout time.Duration, w io.Writer) (Scored, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	g, err := newGuide(s, w)
	if err != nil {
		return Scored{}, err
	}
	serving, stop := context.WithCancel(ctx)
	url, wait, err := serveScoring(serving)
	if err != nil {
		stop()
		return Scored{}, err
	}
	result, err := g.scoring(ctx, url)
	stop()
	return result, errors.Join(err, wait())
}

func (g *guide) scoring(ctx context.Context, url string) (Scored, error) {
	g.say("Three clusters run, each with a Prometheus. A scoring service listens on %s.", url)
	scorers := map[string]string{
		"external": "The service stands beside the hub: it is posted what its query yields in each cluster.",
		"internal": "Another stands in each cluster: the collector there posts to it, and the hub has its scores alone.",
	}
	for _, name := range []string{"external", "internal"} {
		g.say("%s", scorers[name])
		location := strings.ToUpper(name[:1]) + name[1:]
		if err := g.create(ctx, strings.NewReplacer("NAME", name, "ADDRESS", url, "LOCATION", location).Replace(dynamicScorerYAML)); err != nil {
			return Scored{}, err
		}
		if err := g.waitForScores(ctx, "demo-"+name); err != nil {
			return Scored{}, errors.Join(err, g.run(ctx, "", "get", "scorers"))
		}
	}
	if _, err := g.sumUp(ctx, len(scorers)); err != nil {
		return Scored{}, err
	}
	for _, what := range []string{"scorers", "scores"} {
		if err := g.run(ctx, "", "get", what); err != nil {
			return Scored{}, err
		}
	}
	g.say("A Placement asks for the cluster with the best score.")
	if err := g.run(ctx, scoredYAML, "apply", "-f", "-"); err != nil {
		return Scored{}, err
	}
	winner, _, err := g.waitForWinner(ctx, scored, "")
	if err != nil {
		return Scored{}, err
	}
	if winner, err = g.move(ctx, scored, winner); err != nil {
		return Scored{}, err
	}
	g.say("Why %s, down to what the service answered and what it had read:", winner)
	if err := g.run(ctx, "", "explain", "placement", namespace+"/"+scored, "--cluster", winner); err != nil {
		return Scored{}, err
	}
	return g.sumUp(ctx, len(scorers))
}

// create creates an object on the hub, as kubectl does.
func (g *guide) create(ctx context.Context, manifest string) error {
	fmt.Fprintf(g.w, "$ kubectl create -f -\n%s", indent(manifest))
	var u unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		return err
	}
	_, err := g.objects.Resource(bridge.DynamicScorers).Namespace(namespace).Create(ctx, &u, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	return err
}

// sumUp reads from the hub what came of the scorers, once they say that all
// went well, or at the end.
func (g *guide) sumUp(ctx context.Context, scorers int) (Scored, error) {
	for {
		s, err := g.count(ctx)
		if err != nil {
			return s, err
		}
		if s.Scorers == scorers && s.Scores == scorers*len(g.stack.Clusters()) && s.Stale+s.Failed == 0 {
			return s, nil
		}
		if !pause.For(ctx, between) {
			return s, errors.Join(fmt.Errorf("it ends with %s", s), g.run(context.WithoutCancel(ctx), "", "get", "scorers"))
		}
	}
}

func (g *guide) count(ctx context.Context) (Scored, error) {
	var s Scored
	list, err := g.objects.Resource(bridge.DynamicScorers).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return s, err
	}
	for i := range list.Items {
		s.Scorers++
		health, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "healthStatus")
		if health != "Active" {
			s.Failed++
		}
	}
	now := time.Now()
	for _, cluster := range g.stack.Clusters() {
		for i := range list.Items {
			score, err := g.hub.ClusterV1alpha1().AddOnPlacementScores(cluster).Get(ctx, list.Items[i].GetName(), metav1.GetOptions{})
			if err != nil {
				return s, err
			}
			s.Scores += len(score.Status.Scores)
			if until := score.Status.ValidUntil; until != nil && until.Time.Before(now) {
				s.Stale++
			}
		}
	}
	return s, nil
}
