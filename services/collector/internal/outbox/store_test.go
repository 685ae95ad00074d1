package outbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var (
	alpha = Source{"c", "alpha"}
	beta  = Source{"c", "beta"}
)

func none(Source) bool { return false }

func newEvent(t testing.TB, source Source, value float64, unit string) event.Event {
	t.Helper()
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(source.Cluster, source.Name),
		&schemas.Metrics{Samples: []schemas.Sample{{Name: "v", Value: value, Unit: unit}}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t testing.TB, s *Store, source Source) uint64 {
	t.Helper()
	sequence, err := s.Put(source, time.Now(), newEvent(t, source, 1, ""))
	if err != nil {
		t.Fatal(err)
	}
	return sequence
}

func wantSequence(t *testing.T, what string, got Snapshot, ok bool, want uint64) {
	t.Helper()
	if !ok || got.Sequence != want {
		t.Fatalf("%s is %d (%v), want %d", what, got.Sequence, ok, want)
	}
}

func wantNone(t *testing.T, what string, got Snapshot, ok bool) {
	t.Helper()
	if ok {
		t.Fatalf("%s is %d, want none", what, got.Sequence)
	}
}

func done(t *testing.T, s *Store, snapshot Snapshot) {
	t.Helper()
	if err := s.Done(snapshot); err != nil {
		t.Fatal(err)
	}
}

func TestNewestAndSuperseded(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), Options{})
	first, second, third := put(t, s, alpha), put(t, s, alpha), put(t, s, alpha)
	other := put(t, s, beta)

	newest, ok := s.TakeNewest(alpha)
	wantSequence(t, "newest", newest, ok, third)
	again, ok := s.TakeNewest(alpha)
	wantNone(t, "newest while it is taken", again, ok)
	old, ok := s.TakeSuperseded(none)
	wantSequence(t, "superseded", old, ok, first)
	next, ok := s.TakeSuperseded(none)
	wantNone(t, "superseded while an earlier one is taken", next, ok)

	s.Release(old)
	old, ok = s.TakeSuperseded(none)
	wantSequence(t, "superseded after a release", old, ok, first)
	done(t, s, old)
	old, ok = s.TakeSuperseded(none)
	wantSequence(t, "superseded", old, ok, second)
	done(t, s, old)

	// That the newest is gone makes no older one current.
	gamma := Source{"c", "gamma"}
	put(t, s, gamma)
	put(t, s, gamma)
	last, _ := s.TakeNewest(gamma)
	done(t, s, last)
	if s.HasNewest(gamma) {
		t.Error("a superseded snapshot became current")
	}
	old, ok = s.TakeSuperseded(none)
	wantSequence(t, "superseded of gamma", old, ok, 5)
	done(t, s, old)

	// The newest is overtaken while it is being sent: it is superseded now,
	// and nothing of its source may be sent until its fate is known.
	fourth := put(t, s, alpha)
	put(t, s, alpha)
	next, ok = s.TakeSuperseded(none)
	wantNone(t, "superseded while the former newest is taken", next, ok)
	s.Release(newest)
	old, ok = s.TakeSuperseded(none)
	wantSequence(t, "superseded", old, ok, third)
	done(t, s, old)
	old, ok = s.TakeSuperseded(none)
	wantSequence(t, "superseded", old, ok, fourth)

	if !s.HasNewest(beta) {
		t.Error("beta has no newest")
	}
	skipped, ok := s.TakeSuperseded(func(Source) bool { return true })
	wantNone(t, "superseded of a source to skip", skipped, ok)
	newest, ok = s.TakeNewest(beta)
	wantSequence(t, "newest of beta", newest, ok, other)
	if !s.HasNewest(beta) {
		t.Error("beta has no newest while it is taken")
	}
	done(t, s, newest)
	if s.HasNewest(beta) {
		t.Error("beta has a newest after it was sent")
	}
}

func TestSnapshotOnTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := openStore(t, dir, Options{Now: func() time.Time { return created }})
	e := newEvent(t, alpha, 2.5, "bytes")
	e.SetExtension(events.ExtTraceParent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	taken := time.Now()
	if _, err := s.Put(alpha, taken, e); err != nil {
		t.Fatal(err)
	}
	got, ok := s.TakeNewest(alpha)
	wantSequence(t, "newest", got, ok, 1)
	if got.Source != alpha || !got.Taken.Equal(taken) || !strings.HasSuffix(got.MessageID, "-1") || len(got.MessageID) < 26 {
		t.Errorf("took %+v", got)
	}
	want := map[string]string{
		events.ExtEpoch:       "1767323045000000000",
		events.ExtSequence:    "00000000000000000001",
		events.ExtTraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	for name, value := range want {
		if got.Event.Extensions()[name] != value {
			t.Errorf("%s is %v, want %s", name, got.Event.Extensions()[name], value)
		}
	}
	if got.Event.ID() != e.ID() || string(got.Event.Data()) != string(e.Data()) || got.Event.Source() != e.Source() {
		t.Errorf("event is %v, want %v", got.Event, e)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	put(t, s, alpha)
	last := put(t, s, alpha)
	before, _ := s.TakeNewest(alpha)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openStore(t, dir, Options{})
	if s.HasNewest(alpha) {
		t.Error("a snapshot from before the restart is current")
	}
	newest, ok := s.TakeNewest(alpha)
	wantNone(t, "newest after a restart", newest, ok)
	for _, want := range []uint64{1, last} {
		old, ok := s.TakeSuperseded(none)
		wantSequence(t, "superseded after a restart", old, ok, want)
		if want == last && (old.MessageID != before.MessageID || old.Event.Extensions()[events.ExtEpoch] != before.Event.Extensions()[events.ExtEpoch]) {
			t.Errorf("the store has another identity after a restart: %s, was %s", old.MessageID, before.MessageID)
		}
		done(t, s, old)
	}
	if sequence := put(t, s, alpha); sequence != last+1 {
		t.Errorf("sequence is %d after a restart, want %d", sequence, last+1)
	}
}

func TestRecreatedStore(t *testing.T) {
	t.Parallel()
	identities := map[string]bool{}
	var epoch string
	for range 3 {
		s := openStore(t, t.TempDir(), Options{})
		put(t, s, alpha)
		got, _ := s.TakeNewest(alpha)
		now, _ := got.Event.Extensions()[events.ExtEpoch].(string)
		if now <= epoch {
			t.Errorf("epoch %s does not grow from %s", now, epoch)
		}
		epoch = now
		identities[got.MessageID] = true
	}
	if len(identities) != 3 {
		t.Errorf("message ids repeat: %v", identities)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), Options{})
	put(t, s, alpha)
	size := s.Stats().Bytes
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = openStore(t, t.TempDir(), Options{MaxBytes: 4*size + size/2})
	for range 3 {
		put(t, s, alpha)
	}
	put(t, s, beta)
	held, _ := s.TakeSuperseded(none) // 1
	put(t, s, alpha)                  // 5, in place of 2
	if stats := s.Stats(); stats.Dropped != 1 || stats.Depth != 4 || stats.Bytes > 4*size+size/2 {
		t.Errorf("stats are %+v", stats)
	}
	done(t, s, held)
	next, ok := s.TakeSuperseded(none)
	wantSequence(t, "superseded", next, ok, 3)
	newest, ok := s.TakeNewest(beta)
	wantSequence(t, "the only one of beta", newest, ok, 4)

	// What is taken cannot go; the pending one of the source itself can.
	small := openStore(t, t.TempDir(), Options{MaxBytes: size + size/2})
	put(t, small, alpha)
	put(t, small, alpha)
	newest, ok = small.TakeNewest(alpha)
	wantSequence(t, "newest", newest, ok, 2)
	if _, err := small.Put(alpha, time.Now(), newEvent(t, alpha, 1, "")); !errors.Is(err, ErrFull) {
		t.Errorf("error is %v, want ErrFull", err)
	}
	if small.Err() == nil {
		t.Error("Err forgets that the last Put failed")
	}
	done(t, small, newest)
	put(t, small, alpha)
	if err := small.Err(); err != nil {
		t.Errorf("Err remembers for ever: %v", err)
	}
}

func TestFileShrinksAfterAnOutage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir, Options{shrinkOver: 100_000, shrinkEvery: time.Nanosecond})
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, fileName))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for range 200 {
		put(t, s, alpha)
	}
	large := size()
	for {
		old, ok := s.TakeSuperseded(none)
		if !ok {
			break
		}
		done(t, s, old)
	}
	if now := size(); now > large/2 {
		t.Errorf("the file has %d bytes after an outage, %d in it", now, large)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("the file is not locked any more")
	}
	newest, ok := s.TakeNewest(alpha)
	wantSequence(t, "newest", newest, ok, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, Options{})
	old, ok := s.TakeSuperseded(none)
	wantSequence(t, "superseded after a restart", old, ok, 200)
	if old.MessageID != newest.MessageID || put(t, s, alpha) != 201 {
		t.Error("the store lost its identity or its sequence")
	}
}

func TestBrokenFileIsPutAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(strings.Repeat("no outbox ", 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, openStore(t, dir, Options{}), alpha)
	aside, err := filepath.Glob(filepath.Join(dir, fileName+".broken-*"))
	if err != nil || len(aside) != 1 {
		t.Errorf("put aside: %v, %v", aside, err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openStore(t, dir, Options{})
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{dir: "in use by another collector", file: "not a directory"} {
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that holds %q", err, want)
		}
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), Options{})
	changed := s.Changed()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("Close does not wake those who wait")
	}
	if _, err := s.Put(alpha, time.Now(), newEvent(t, alpha, 1, "")); !errors.Is(err, ErrClosed) {
		t.Errorf("Put returns %v", err)
	}
	if err := s.Done(Snapshot{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Done returns %v", err)
	}
	if _, ok := s.TakeSuperseded(none); ok || !errors.Is(s.Err(), ErrClosed) {
		t.Error("a closed store still works")
	}
}

func BenchmarkPutTakeDone(b *testing.B) {
	s := openStore(b, b.TempDir(), Options{})
	samples := make([]schemas.Sample, 1000)
	for i := range samples {
		samples[i] = schemas.Sample{Name: "node_value", Value: float64(i), Labels: map[string]string{"pod": strings.Repeat("x", i%30), "n": time.Duration(i).String()}}
	}
	e, err := events.New(schemas.TypeMetricsObserved, "/clusters/c/sources/alpha", &schemas.Metrics{Samples: samples})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Put(alpha, time.Now(), e); err != nil {
			b.Fatal(err)
		}
		snapshot, _ := s.TakeNewest(alpha)
		if err := s.Done(snapshot); err != nil {
			b.Fatal(err)
		}
	}
}
