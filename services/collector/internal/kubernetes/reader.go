package kubernetes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// reader knows nodes and pods alone. client-go's own clients know every API
// group, which is half of what a collector would have in memory.
type reader struct {
	rest   *rest.RESTClient
	params runtime.ParameterCodec
}

func newReader(c *rest.Config) (*reader, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c.GroupVersion, c.APIPath = &corev1.SchemeGroupVersion, "/api"
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	r, err := rest.RESTClientFor(c)
	return &reader{rest: r, params: runtime.NewParameterCodec(scheme)}, err
}

// listed lists and watches a resource as change narrows it.
func listed[L any, P interface {
	*L
	runtime.Object
}](c *reader, resource string, change func(*metav1.ListOptions)) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			change(&o)
			var list L
			err := c.rest.Get().Resource(resource).VersionedParams(&o, c.params).Do(ctx).Into(P(&list))
			return P(&list), err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watcher, error) {
			change(&o)
			o.Watch = true
			return c.rest.Get().Resource(resource).VersionedParams(&o, c.params).Watch(ctx)
		},
	}
}
