package flap

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
)

// TestRecommendedPolicy is a short run of what `make flapsim` does.
func TestRecommendedPolicy(t *testing.T) {
	t.Parallel()
	recorded, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(append(Generate(2, 10), recorded...))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("%s: %v", c.Summary(), err)
	}
	if bare, steady := c.Bare.Moves(c.Traces, KindNoise), c.Steady.Moves(c.Traces, KindNoise); steady < 5 || bare < 10*steady {
		t.Errorf("on noise %d moves at once, %d with Steady: the traces are blunt", bare, steady)
	}
	if n := c.Recommended.Moves(c.Traces, KindStep); n < 20 {
		t.Errorf("%d moves for 20 steps", n)
	}
}

func TestErrSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	traces := []Trace{{Kind: KindNoise}, {Kind: KindStep}}
	result := func(moves int, delay time.Duration) Result {
		return Result{Outcomes: []Outcome{{Moves: moves}, {Delays: []time.Duration{delay}}}}
	}
	for name, tt := range map[string]struct {
		ours, steady  Result
		wantErr, want string
	}{
		"a tenth":  {result(2, time.Second), result(20, time.Second), "", "flap: traces=2 moves=2 steady=20 late=0"},
		"too many": {result(3, 0), result(20, 0), "3 moves on noise", "flap: traces=2 moves=3 steady=20 late=0"},
		"too few":  {result(1, 0), result(9, 0), "1 moves on noise, and Steady's 9 are too few", "flap: traces=2 moves=1 steady=9 late=0"},
		"late":     {result(0, time.Second), result(20, 0), "later than Steady on 1 steps", "flap: traces=2 moves=0 steady=20 late=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Comparison{Traces: traces, Recommended: tt.ours, Steady: tt.steady}
			err := c.Err()
			if (err == nil) != (tt.wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), tt.wantErr) || c.Summary() != tt.want {
				t.Errorf("got %v and %q", err, c.Summary())
			}
		})
	}
}

func TestGenerateIsRepeatable(t *testing.T) {
	t.Parallel()
	if a, b := Generate(7, 2), Generate(7, 2); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave other traces")
	}
	if a, b := Generate(7, 2), Generate(8, 2); reflect.DeepEqual(a, b) {
		t.Error("another seed gave the same traces")
	}
}

// TestReplayCounts holds Replay against a trace that can be followed by hand:
// the second cluster is better by 20 from the third of six samples on.
func TestReplayCounts(t *testing.T) {
	t.Parallel()
	trace := Trace{
		Every: time.Minute, Falls: []Fall{{0, 2}},
		Truth: [][]float64{{50, 50, 40, 40, 40, 40}, {40, 40, 60, 60, 60, 60}},
		Seen:  [][]int32{{50, 50, 40, 40, 40, 40}, {40, 40, 60, 60, 60, 60}},
	}
	for name, tt := range map[string]struct {
		policy Policy
		want   Outcome
	}{
		"at once":     {Policy{Weight: 1}, Outcome{Moves: 1, Delays: []time.Duration{0}}},
		"steady":      {Policy{Weight: 5, Steady: 1}, Outcome{Moves: 0, Regret: 80, Delays: []time.Duration{4 * time.Minute}}},
		"weak steady": {Policy{Weight: 6, Steady: 1}, Outcome{Moves: 1, Delays: []time.Duration{0}}},
		"window": {
			Policy{Weight: 1, Annotations: map[string]string{placement.AnnotationWindow: "2m"}},
			Outcome{Moves: 1, Regret: 40, Delays: []time.Duration{2 * time.Minute}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Replay(&trace, tt.policy)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestRecordedTraces(t *testing.T) {
	t.Parallel()
	all, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range all {
		if len(trace.Seen) != 4 || trace.Samples() < 300 {
			t.Errorf("%s has %d clusters and %d samples", trace.Name, len(trace.Seen), trace.Samples())
		}
	}
	for name, text := range map[string]string{"not JSON": "{", "a vector": `{"data":{"resultType":"vector","result":[]}}`, "text": `{"data":{"resultType":"matrix","result":[{"values":[[1,"x"]]},{"values":[]}]}}`} {
		if _, err := readRecording([]byte(text), recording{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
