package hublook

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// reviewed is a user whose rights the API server is asked about.
type reviewed struct {
	client kubernetes.Interface
	user
}

// refusals returns what of the rules the user may not do in a namespace, ""
// for all of them.
func (r reviewed) refusals(ctx context.Context, namespace string, rules []rbacv1.PolicyRule) ([]string, error) {
	var refused []string
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				allowed, err := r.allows(ctx, action(namespace, rule, resource, verb))
				if err != nil {
					return nil, err
				}
				if !allowed {
					refused = append(refused, verb+" "+resource)
				}
			}
		}
	}
	return refused, nil
}

// unleased returns what the user may not do to hold the Lease, in that of the
// namespaces in which it may most.
func (r reviewed) unleased(ctx context.Context, namespaces []string, rules []rbacv1.PolicyRule) ([]string, error) {
	var least []string
	for i, namespace := range namespaces {
		refused, err := r.refusals(ctx, namespace, rules)
		if err != nil || len(refused) == 0 {
			return nil, err
		}
		for k := range refused {
			refused[k] += " in namespace " + namespace
		}
		if i == 0 || len(refused) < len(least) {
			least = refused
		}
	}
	return least, nil
}

func action(namespace string, rule rbacv1.PolicyRule, resource, verb string) *authorizationv1.ResourceAttributes {
	kind, sub, _ := strings.Cut(resource, "/")
	a := &authorizationv1.ResourceAttributes{Namespace: namespace, Group: rule.APIGroups[0], Resource: kind, Subresource: sub, Verb: verb}
	if len(rule.ResourceNames) > 0 {
		a.Name = rule.ResourceNames[0]
	}
	return a
}

func (r reviewed) allows(ctx context.Context, action *authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: r.name, Groups: r.groups, ResourceAttributes: action},
	}
	answer, err := r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}
