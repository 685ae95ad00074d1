package writer

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const operator = "/services/cli"

func (h hub) cordon(cluster, state string) {
	h.t.Helper()
	h.publish(events.ConfigSubject(events.KindCordon, "", cluster), schemas.TypeConfigCordon, operator, &schemas.Cordon{
		APIVersion: schemas.CordonAPIVersion, Kind: schemas.CordonKind,
		Metadata: schemas.Metadata{Name: cluster}, Spec: schemas.CordonSpec{State: state},
	})
}

func (h hub) rebalance(name, id string) {
	h.t.Helper()
	h.publish(events.ConfigSubject(events.KindRebalance, "default", name), schemas.TypeConfigRebalance, operator, &schemas.Rebalance{
		APIVersion: schemas.RebalanceAPIVersion, Kind: schemas.RebalanceKind,
		Metadata: schemas.Metadata{Namespace: "default", Name: name}, Spec: schemas.RebalanceSpec{ID: id},
	})
}

func (h hub) annotated(name, spec, key, value string) {
	h.t.Helper()
	h.place(name, spec, func(p *schemas.Placement) { p.Annotations = map[string]string{key: value} })
}

func TestCordonAndDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 40, time.Hour)
		h.place("train", onGPU)
		_, stop := start(t, b.Peer(), nil)
		h.await("train", "a")
		h.cordon("a", schemas.CordonCordoned)
		synctest.Wait()
		h.place("infer", onGPU)
		h.await("infer", "b")
		h.await("train", "a")
		stop()
		h.cordon("a", schemas.CordonDraining)
		start(t, b.Peer(), nil)
		if d := h.await("train", "b"); d.Cause != placement.CauseCordonChanged || d.Basis[events.StreamConfig] == 0 {
			t.Errorf("cause %s, basis %v", d.Cause, d.Basis)
		}
		h.cordon("a", schemas.CordonLifted)
		h.await("train", "a")
		h.await("infer", "a")
		h.cordon("a", schemas.CordonDraining)
		h.await("train", "b")
		h.publish(events.ConfigSubject(events.KindCordon, "", "a"), schemas.TypeConfigCordonDeleted, operator, &schemas.Deleted{Name: "a"}, events.Tombstone())
		h.await("train", "a")
		linear(t, b, "train")
	})
}

// An operator's word that cannot be read is kept, and changes nothing.
func TestBadCordonIsBuried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 40, time.Hour)
		h.place("train", onGPU)
		h.cordon("a", schemas.CordonCordoned)
		start(t, b.Peer(), nil)
		h.await("train", "b")
		bad, err := events.New(schemas.TypeConfigCordon, operator, &schemas.Cordon{
			APIVersion: schemas.CordonAPIVersion, Kind: schemas.CordonKind,
			Metadata: schemas.Metadata{Name: "a"}, Spec: schemas.CordonSpec{State: schemas.CordonLifted},
		})
		if err != nil {
			t.Fatal(err)
		}
		bad.DataEncoded = bytes.ReplaceAll(bad.DataEncoded, []byte(schemas.CordonLifted), []byte("open"))
		h.send(events.ConfigSubject(events.KindCordon, "", "a"), bad)
		h.publish(events.ConfigSubject(events.KindCordon, "", "b"), schemas.TypeConfigCordon, operator, &schemas.Cordon{
			APIVersion: schemas.CordonAPIVersion, Kind: schemas.CordonKind,
			Metadata: schemas.Metadata{Name: "a"}, Spec: schemas.CordonSpec{State: schemas.CordonDraining},
		})
		synctest.Wait()
		var got []string
		for _, m := range b.Messages(events.StreamDead) {
			r, err := events.Read(m)
			if err != nil {
				t.Fatal(err)
			}
			letter := r.Payload.(*schemas.DeadLetter)
			got = append(got, letter.Reason+" "+letter.Field)
		}
		slices.Sort(got)
		if want := []string{"BadPayload spec.state", "WrongSubject metadata.name"}; !slices.Equal(got, want) {
			t.Errorf("dead letters %v, want %v", got, want)
		}
		h.await("train", "b")
	})
}

// A request is honoured once, by whichever replica, over a restart, and also
// where it came while none ran.
func TestRebalanceIsHonouredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 40, time.Hour)
		h.annotated("train", onGPU, placement.AnnotationDeadBand, "500")
		_, stopA := start(t, b.Peer(), nil)
		_, stopB := start(t, b.Peer(), nil)
		h.await("train", "a")
		h.score("b", 60, time.Hour)
		synctest.Wait()
		h.rebalance("train", "r1")
		if d := h.await("train", "b"); d.Cause != placement.CauseRebalance || d.Rebalance == nil || d.Rebalance.ID != "r1" || d.Rebalance.Remaining != 0 {
			t.Errorf("cause %s, %+v", d.Cause, d.Rebalance)
		}
		stopA()
		stopB()
		h.score("a", 70, time.Hour)
		_, stop := start(t, b.Peer(), nil)
		synctest.Wait()
		time.Sleep(2 * time.Minute) // past the limit of scores
		if got := placement.SelectedNames(h.last("train")); !slices.Equal(got, []string{"b"}) {
			t.Errorf("after a restart it selects %v", got)
		}
		stop()
		h.rebalance("train", "r2")
		start(t, b.Peer(), nil)
		if d := h.await("train", "a"); d.Cause != placement.CauseRebalance || d.Rebalance.ID != "r2" {
			t.Errorf("cause %s, %+v", d.Cause, d.Rebalance)
		}
		h.rebalance("train", "r2") // published again
		h.score("b", 80, time.Hour)
		synctest.Wait()
		time.Sleep(2 * time.Minute)
		honoured := map[string]int{}
		all, _ := decisions(t, b, "train")
		for _, d := range all {
			if d.Cause == placement.CauseRebalance {
				honoured[d.Rebalance.ID]++
			}
		}
		if honoured["r1"] != 1 || honoured["r2"] != 1 {
			t.Errorf("honoured so often: %v", honoured)
		}
		linear(t, b, "train")
	})
}

func TestRebalanceGoesOnWithTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b", "c", "d")
		const two = `{"numberOfClusters":2,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"gpu","scoreName":"gpu"}},"weight":1}]}}`
		for i, name := range []string{"a", "b", "c", "d"} {
			h.score(name, int32(50-i), time.Hour)
		}
		h.place("train", two, func(p *schemas.Placement) {
			p.Annotations = map[string]string{placement.AnnotationDeadBand: "500", placement.AnnotationBudget: "1/1m"}
		})
		_, stop := start(t, b.Peer(), nil)
		h.await("train", "a", "b")
		h.score("c", 70, time.Hour)
		h.score("d", 60, time.Hour)
		synctest.Wait()
		h.rebalance("train", "r1")
		first := h.await("train", "c", "a")
		if first.Rebalance == nil || first.Rebalance.Remaining != 1 {
			t.Errorf("then %+v", first.Rebalance)
		}
		stop()
		start(t, b.Peer(), nil)
		time.Sleep(time.Minute)
		d := h.await("train", "c", "d")
		if d.Cause != placement.CauseRebalance || d.Rebalance.Remaining != 0 || d.Now.Sub(first.Now) < time.Minute {
			t.Errorf("cause %s, %+v, after %s", d.Cause, d.Rebalance, d.Now.Sub(first.Now))
		}
		linear(t, b, "train")
	})
}
