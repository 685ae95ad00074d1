package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// reader reads the PlacementDecisions of one Placement by their label, as a
// consumer does, in every state that the API server has ever had them in.
type reader struct {
	pages map[string]*clusterv1beta1.PlacementDecision
	check func([]string) string
	watch watch.Interface
	done  chan struct{}

	stopped    atomic.Bool
	states     int
	violations []string
}

// read follows from now on; check says what is wrong with a selection, which
// is sorted.
func (h handover) read(t *testing.T, set, name string, check func([]string) string) *reader {
	t.Helper()
	client := h.hub.ocm.ClusterV1beta1().PlacementDecisions(set)
	options := metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name}
	list, err := client.List(t.Context(), options)
	must(t, err)
	r := &reader{pages: map[string]*clusterv1beta1.PlacementDecision{}, check: check, done: make(chan struct{})}
	for i := range list.Items {
		r.pages[list.Items[i].Name] = &list.Items[i]
	}
	options.ResourceVersion = list.ResourceVersion
	w, err := client.Watch(t.Context(), options)
	must(t, err)
	r.watch = w
	r.look()
	go func() {
		defer close(r.done)
		for e := range w.ResultChan() {
			r.take(e)
		}
		if !r.stopped.Load() {
			r.violations = append(r.violations, "the watch has ended")
		}
	}()
	return r
}

func (r *reader) take(e watch.Event) {
	page, ok := e.Object.(*clusterv1beta1.PlacementDecision)
	switch {
	case !ok && r.stopped.Load():
		return
	case !ok:
		r.violations = append(r.violations, fmt.Sprintf("%s: %v", e.Type, e.Object))
	case e.Type == watch.Deleted:
		r.violations = append(r.violations, page.Name+" was deleted")
		delete(r.pages, page.Name)
	default:
		r.pages[page.Name] = page
	}
	r.look()
}

func (r *reader) look() {
	var selected []string
	for _, page := range r.pages {
		selected = append(selected, clustersOn(page)...)
	}
	slices.Sort(selected)
	r.states++
	if wrong := r.check(selected); wrong != "" {
		r.violations = append(r.violations, wrong)
	}
}

// stop ends the reading, fails for what was wrong, and returns how many
// states were seen.
func (r *reader) stop(t *testing.T) int {
	t.Helper()
	r.stopped.Store(true)
	r.watch.Stop()
	<-r.done
	if len(r.violations) > 0 {
		t.Errorf("of %d states that a reader saw, %d are wrong: %.1000v", r.states, len(r.violations), r.violations)
	}
	return r.states
}

// pause waits, unless the test ends: two writers are to meet at random.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// lateHub writes a kubeconfig that leads to the API server of another one by
// a detour, on which each piece of data waits up to late in each direction.
func lateHub(t *testing.T, kubeconfig string, late time.Duration) (string, error) {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = listener.Close() })
	for _, cluster := range config.Clusters {
		server, err := url.Parse(cluster.Server)
		if err != nil {
			return "", err
		}
		go detour(listener, server.Host, late)
		server.Host = listener.Addr().String()
		cluster.Server = server.String()
	}
	path := filepath.Join(filepath.Dir(kubeconfig), "late-hub")
	return path, clientcmd.WriteToFile(*config, path)
}

// detour leads the listener's connections to address until it is closed.
func detour(listener net.Listener, address string, late time.Duration) {
	for {
		in, err := listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", address)
		if err != nil {
			_ = in.Close()
			continue
		}
		go lead(in, out, late)
	}
}

func lead(in, out net.Conn, late time.Duration) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			_, _ = io.Copy(lateWriter{way[1], late}, way[0])
			_ = way[1].Close()
		})
	}
	both.Wait()
}

type lateWriter struct {
	io.Writer
	late time.Duration
}

func (w lateWriter) Write(p []byte) (int, error) {
	time.Sleep(rand.N(w.late))
	return w.Writer.Write(p)
}
