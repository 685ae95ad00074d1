package blackbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// busIsClosed tries a wrong password, and none.
func (s *suite) busIsClosed(ctx context.Context) error {
	right, err := url.Parse(s.target.NATSURL)
	if err != nil {
		return err
	}
	for what, user := range map[string]*url.Userinfo{
		"a wrong password": url.UserPassword(right.User.Username(), "wrong"),
		"no password":      nil,
	} {
		wrong := *right
		wrong.User = user
		_, err := s.nats(ctx, "--server", wrong.String(), "stream", "ls")
		if err == nil || !strings.Contains(err.Error(), "Authorization Violation") {
			return fmt.Errorf("with %s: error %w, want an authorization violation", what, errOr(err, errors.New("none")))
		}
	}
	return nil
}

func (s *suite) hubIsClosed(ctx context.Context) error {
	err := s.hub.asStranger(ctx)
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return fmt.Errorf("a stranger lists clusters: error %w, want forbidden", errOr(err, errors.New("none")))
	}
	return nil
}

func (s *suite) refuse(ctx context.Context) error {
	err := s.apply(ctx, "apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: broken}\nspec: {cel: 'metric(', validFor: 1m}\n")
	if err == nil || !strings.Contains(err.Error(), "spec.cel does not compile") {
		return fmt.Errorf("error %w, want one that names spec.cel", errOr(err, errors.New("none")))
	}
	return nil
}

func (s *suite) doctor(ctx context.Context) error {
	return eventually(ctx, settle, func(ctx context.Context) error {
		out, err := s.spokewire(ctx, "doctor")
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}

func (s *suite) keepBadInput(ctx context.Context) error {
	before, err := s.hub.selected(ctx, name)
	if err != nil {
		return err
	}
	if err := s.publish(ctx, "spoke-2", "blackbox-bad", `{"samples":7}`); err != nil {
		return err
	}
	err = eventually(ctx, settle, func(ctx context.Context) error {
		out, err := s.spokewire(ctx, "dead", "list", "-o", "json")
		if err != nil {
			return err
		}
		for _, want := range []string{"sw.metric.spoke-2.blackbox-bad", "samples is a number, want array"} {
			if !strings.Contains(out, want) {
				return fmt.Errorf("the dead letters do not have %q: %s", want, out)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	after, err := s.hub.selected(ctx, name)
	if err == nil && !slices.Equal(before, after) {
		err = fmt.Errorf("bad input moved the decision from %v to %v", before, after)
	}
	return err
}

func (s *suite) crash(ctx context.Context, part string) error {
	if err := s.target.Crash(ctx, part); err != nil {
		return err
	}
	// Twice: what was on its way hides nothing.
	return errors.Join(s.move(ctx), s.move(ctx))
}

// cycle compares what is there before and after, and that it still works.
func (s *suite) cycle(ctx context.Context) error {
	before, err := s.remember(ctx)
	if err != nil {
		return err
	}
	if s.target, err = s.target.Cycle(ctx); err != nil {
		return err
	}
	if s.hub, err = newHub(s.target.Kubeconfig); err != nil {
		return err
	}
	if err := eventually(ctx, recovery, func(ctx context.Context) error {
		after, err := s.remember(ctx)
		if err == nil && after != before {
			err = fmt.Errorf("%s is now %s", before, after)
		}
		return err
	}); err != nil {
		return err
	}
	return s.move(ctx)
}

// memory is what must outlast a stop.
type memory struct{ uid, selected, scores, dead string }

func (m memory) String() string {
	return fmt.Sprintf("Placement %s selecting %s by scores %s with dead letters %s", m.uid, m.selected, m.scores, m.dead)
}

func (s *suite) remember(ctx context.Context) (m memory, err error) {
	if m.uid, err = s.hub.uid(ctx); err != nil {
		return m, err
	}
	selected, err := s.hub.selected(ctx, name)
	if err != nil {
		return m, err
	}
	m.selected = fmt.Sprint(selected)
	var scores []struct {
		Cluster, Scorer string
		Value           int
	}
	if err := s.get(ctx, "scores", &scores); err != nil {
		return m, err
	}
	m.scores = fmt.Sprint(scores)
	m.dead, err = s.spokewire(ctx, "dead", "list", "-o", "json")
	return m, err
}

func (s *suite) remove(ctx context.Context) error {
	kinds := [][2]string{{"placement", namespace + "/" + name}, {"scorer", name}}
	if s.target.OCM {
		kinds = append(kinds, [2]string{"placement", namespace + "/" + nativeName})
	}
	for _, k := range kinds {
		if _, err := s.spokewire(ctx, "delete", k[0], k[1]); err != nil {
			return err
		}
	}
	return eventually(ctx, settle, func(ctx context.Context) error {
		for _, cluster := range clusters() {
			if _, err := s.hub.score(ctx, cluster); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the score of %s is still on the hub (%w)", cluster, errOr(err, errors.New("no error")))
			}
		}
		left, err := s.hub.selected(ctx, name)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("the hub still selects %v", left)
		}
		return err
	})
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// id is a new event id.
func id() string { return rand.Text() }
