package hublook

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// refusals returns what of the rules the user may not do.
func refusals(ctx context.Context, client kubernetes.Interface, user string, groups []string, rules []rbacv1.PolicyRule) ([]string, error) {
	var refused []string
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				allowed, err := allows(ctx, client, user, groups, action(rule.APIGroups[0], resource, verb))
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

func action(group, resource, verb string) *authorizationv1.ResourceAttributes {
	name, sub, _ := strings.Cut(resource, "/")
	return &authorizationv1.ResourceAttributes{Group: group, Resource: name, Subresource: sub, Verb: verb}
}

func allows(ctx context.Context, client kubernetes.Interface, user string, groups []string, action *authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: action},
	}
	answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}
