package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// lookers are scorers that look back in every way.
var lookers = map[string]string{
	"rate":  `rate("n", duration("1m"))`,
	"mean":  `avg_over("x", {"pool": "a"}, duration("2m"))`,
	"ewma":  `ewma("x", {"pool": "b"}, duration("20s"), duration("5m"))`,
	"most":  `percentile_over("y", 95, duration("90s")) + metric("y")`,
	"few":   `count_over("x", duration("30m"))`,
	"plain": `metric("y")`,
}

func applyLookers(t testing.TB, p events.Publisher) {
	t.Helper()
	for name, cel := range lookers {
		apply(t, p, name, cel, nil)
	}
	apply(t, p, "pools", `avg_over("x", duration("1m"))`, func(s *schemas.Scorer) { s.Spec.By = "pool" })
}

// told is what a stopped engine says of every cluster by every scorer, with
// all inputs.
func told(e *Engine, now time.Time) map[string][]schemas.ScoreItem {
	out := map[string][]schemas.ScoreItem{}
	for _, c := range e.clusters {
		for _, s := range e.scorers {
			r := s.program.Evaluate(&c.Cluster, now)
			out[c.name+"/"+s.name] = r.Score()
		}
	}
	return out
}

// late is when one more cluster comes, just before the end.
const late = 145

// stroll publishes the n-th event of each cluster: values that wander, series
// that come and go, counters that begin anew, and some events that nobody can
// read.
func stroll(t testing.TB, b *eventstest.Bus, r *rand.Rand, n int) {
	t.Helper()
	clusters := []string{"c1", "c2", "c3"}
	if n >= late {
		clusters = append(clusters, "c4")
	}
	for _, cluster := range clusters {
		if r.IntN(9) == 0 {
			b.Store(events.MetricSubject(cluster, "node"), events.Header{}, []byte("no event"))
			continue
		}
		text := fmt.Sprintf("y=%d n=%d", r.IntN(50), n%17*r.IntN(3))
		for _, pool := range []string{"a", "b", "c"} {
			if r.IntN(8) > 0 {
				text += fmt.Sprintf(" x{pool=%s}=%d", pool, r.IntN(90))
			}
		}
		aged(t, b, cluster, text, r)
		if n%3 == 0 {
			metric(t, b, cluster, "edge", fmt.Sprintf("n=%d", n))
		}
	}
}

// aged publishes samples, of which some waited, and may be older than those
// before them.
func aged(t testing.TB, p events.Publisher, cluster, text string, r *rand.Rand) {
	t.Helper()
	e := newEvent(t, schemas.TypeMetricsObserved, events.ClusterSource(cluster, "node"), samples(t, text))
	if r.IntN(4) == 0 {
		e.SetExtension(events.ExtAge, fmt.Sprint(r.IntN(30_000)))
	}
	publish(t, p, events.MetricSubject(cluster, "node"), e)
}

// TestARestartedScorerSaysTheSame: one that begins now, one that ran on from
// the start, one that was cut off for a while and one whose scorers came only
// then agree in every value and every input.
func TestARestartedScorerSaysTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			b := eventstest.NewBus()
			r := rand.New(rand.NewPCG(seed, 7))
			ranOn, stopRanOn := start(t, b.Peer(), nil)
			cut := b.Peer()
			cutOff, stopCutOff := start(t, cut, nil)
			for n := range 150 {
				switch n {
				case 40:
					applyLookers(t, b)
				case 80:
					cut.Disconnect()
				case 110:
					cut.Reconnect()
				}
				stroll(t, b, r, n)
				time.Sleep(time.Duration(2+r.IntN(10)) * time.Second)
			}
			synctest.Wait()
			before := len(b.Messages(events.StreamScores))
			begun, stopNew := start(t, b.Peer(), nil)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if after := b.Messages(events.StreamScores); len(after) > before {
				t.Errorf("the restarted scorer publishes %s: %s", after[before].Subject, after[before].Data)
			}
			now := ranOn.Now()
			stopRanOn()
			stopCutOff()
			stopNew()
			want := told(ranOn, now)
			for name, e := range map[string]*Engine{"new": begun, "cut off": cutOff} {
				if diff := cmp.Diff(want, told(e, now)); diff != "" {
					t.Errorf("%s differs:\n%s", name, diff)
				}
			}
			checkTold(t, want)
		})
	}
}

// checkTold makes sure that there was something to differ in.
func checkTold(t *testing.T, told map[string][]schemas.ScoreItem) {
	t.Helper()
	reasons, windows := map[string]int{}, 0
	for _, items := range told {
		for _, it := range items {
			reasons[it.Reason]++
			for _, in := range it.Inputs {
				if in.Kind == "window" && in.Points > 5 {
					windows++
				}
			}
		}
	}
	if reasons[schemas.ScoreNoHistory] > 0 || reasons[schemas.ScoreComputedReason] < 12 || windows < 10 {
		t.Errorf("reasons are %v, %d windows were read", reasons, windows)
	}
}

// TestTwoReplicasLookBack: one linear history in which nothing is said twice
// in a row, and which ends where one that begins now would end.
func TestTwoReplicasLookBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		_, stopFirst := start(t, b.Peer(), nil)
		applyLookers(t, b)
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 90 {
			if n == 45 {
				start(t, b.Peer(), nil)
			}
			stroll(t, b, r, n)
			time.Sleep(5 * time.Second)
		}
		stopFirst()
		synctest.Wait()
		last := map[string]string{}
		for _, cluster := range []string{"c1", "c2", "c3"} {
			for name := range lookers {
				got := history(t, b, cluster, name)
				last[cluster+name] = got[len(got)-1]
			}
		}
		third, stop := start(t, b.Peer(), nil)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		now := third.Now()
		stop()
		said := told(third, now)
		for key, want := range last {
			items := said[key[:2]+"/"+key[2:]]
			value := "-"
			if items[0].Value != nil {
				value = fmt.Sprint(*items[0].Value)
			}
			if got := value + " " + items[0].Reason; got != want {
				t.Errorf("%s ends with %s, one that begins now says %s", key, want, got)
			}
		}
	})
}

// TestWindowsFollowTheScorers: nothing is kept where nobody looks back, and
// what a new scorer looks back at is read from the log.
func TestWindowsFollowTheScorers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "plain", `metric("x")`, nil)
		for n := range 5 {
			metric(t, b, "c", "node", fmt.Sprintf("x=%d", n))
			time.Sleep(15 * time.Second)
		}
		synctest.Wait()
		if n := decidertest.Total(t, e.counts.windows); n != 0 {
			t.Errorf("windows take %d bytes though nobody looks back", n)
		}
		apply(t, b, "mean", `avg_over("x", duration("1m"))`, nil)
		expect(t, b, "c", "mean", "3 Computed") // 1 2 3 4
		metric(t, b, "c", "node", "x=14")
		expect(t, b, "c", "mean", "3 Computed", "6 Computed") // 2 3 4 14, rounded
		if n := decidertest.Total(t, e.counts.windows); n == 0 {
			t.Error("the windows' size is not told")
		}
		apply(t, b, "mean", `max_over("x", {"pool": "a"}, duration("1m"))`, nil)
		expect(t, b, "c", "mean", "3 Computed", "6 Computed", "- NoSample")
		deleteScorer(t, b, "mean")
		synctest.Wait()
		metric(t, b, "c", "node", "x=1")
		synctest.Wait()
		if n := decidertest.Total(t, e.counts.windows); n != 0 {
			t.Errorf("windows take %d bytes though nobody looks back any more", n)
		}
	})
}

// TestRoomForThePastIsBounded: where it ends the scores say so, and those
// that do not look back go on.
func TestRoomForThePastIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, err := New(decidertest.Config(t, b, nil))
		if err != nil {
			t.Fatal(err)
		}
		e.past.room.limit, e.historian.limit = 4000, 4000
		decidertest.Run(t, e)
		apply(t, b, "mean", `avg_over("x", duration("1m"))`, nil)
		apply(t, b, "plain", `metric("x")`, nil)
		for n := range 4 {
			for cluster := range 10 {
				metric(t, b, fmt.Sprintf("c%d", cluster), "node", fmt.Sprintf("x=%d", n))
			}
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		ends := map[string]int{}
		for cluster := range 10 {
			got := history(t, b, fmt.Sprintf("c%d", cluster), "mean")
			_, reason, _ := strings.Cut(got[len(got)-1], " ")
			ends[reason]++
			if got := history(t, b, fmt.Sprintf("c%d", cluster), "plain"); got[len(got)-1] != "3 Computed" {
				t.Errorf("plain scores end with %v", got)
			}
		}
		if ends["Computed"] == 0 || ends["NoHistory"] == 0 || ends["Computed"]+ends["NoHistory"] != 10 {
			t.Errorf("the scores end with %v", ends)
		}
		if n := decidertest.Total(t, e.counts.windows); n > 6000 {
			t.Errorf("windows take %d bytes", n)
		}
	})
}

// TestLookingBackOnARealServer: one that begins when the log has dropped the
// first events knows the same past as one that read each of them.
func TestLookingBackOnARealServer(t *testing.T) {
	t.Parallel()
	const n = window.MaxEvents + 10
	server := eventstest.RunServer(t)
	bus := connect(t, server.URL())
	if err := bus.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	applyLookers(t, bus)
	ranOn, stopRanOn := start(t, bus, nil)
	testwait.Eventually(t, "the streams are read", func() bool { return ranOn.Ready() == nil })
	for i := range n {
		metric(t, bus, "c", "node", fmt.Sprintf("y=%d n=%d x{pool=a}=%d x{pool=b}=%d", i%7, i%19, i*i%101, i*3%17))
	}
	testwait.Eventually(t, "all events are folded", func() bool {
		return decidertest.Total(t, ranOn.Counts.Folded.WithLabelValues(events.StreamMetrics)) == n
	})
	restarted, stopRestarted := start(t, connect(t, server.URL()), nil)
	testwait.Eventually(t, "the past is read", func() bool { return decidertest.Total(t, restarted.counts.windows) > 1000 })
	now := restarted.Now()
	stopRanOn()
	stopRestarted()
	want := told(ranOn, now)
	if diff := cmp.Diff(want, told(restarted, now)); diff != "" {
		t.Errorf("-ran on +restarted\n%s", diff)
	}
	if few := want["c/few"][0]; few.Raw == nil || *few.Raw != 2*window.MaxEvents {
		t.Errorf("count_over two series is %+v, want all that the log keeps", few)
	}
}

func connect(t *testing.T, url string) *jetstream.Bus {
	t.Helper()
	bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	return bus
}
