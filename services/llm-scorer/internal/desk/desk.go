// Package desk serves OCM's scoring API out of what a language model says.
package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"github.com/spokewire/spokewire/internal/bearer"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/llm"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/config"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/model"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/record"
)

// maxRequest bounds what is posted, in bytes.
const maxRequest = 16 << 20

// Model answers a question's body.
type Model interface {
	Ask(ctx context.Context, body []byte) ([]byte, *dynamic.Failure)
}

// Options of a Desk.
type Options struct {
	Config  config.Config
	Model   Model
	Records *record.Store
	Metrics prometheus.Registerer
	Log     *slog.Logger
}

// Desk serves.
type Desk struct {
	Options
	scorers map[string]config.Scorer
	once    singleflight.Group
	ratings *prometheus.CounterVec
}

// New returns a Desk.
func New(o Options) (*Desk, error) {
	d := &Desk{Options: o, scorers: map[string]config.Scorer{}, ratings: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "spokewire_llm_scorer_ratings_total", Help: "Ratings that were asked for, by score and outcome: Asked, Known (the same question was answered before), or why there is none.",
	}, []string{"score_name", "outcome"})}
	for _, s := range o.Config.Scorers {
		d.scorers[s.Name] = s
	}
	return d, o.Metrics.Register(d.ratings)
}

// Handler serves the scoring API of every scorer at /scorers/NAME, and records at
// /records/DIGEST.
func (d *Desk) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /scorers/{scorer}/config", d.describe)
	mux.HandleFunc("POST /scorers/{scorer}/score", d.permitted(d.score))
	mux.HandleFunc("GET /records/{digest}", d.permitted(d.show))
	return mux
}

// permitted wants the callers' token, if there is one.
func (d *Desk) permitted(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch err := bearer.Check(r, d.Config.TokenFile); {
		case errors.Is(err, bearer.ErrUnreadable):
			d.Log.Error("no caller can be let in", "err", err)
			http.Error(w, "the token cannot be read: the log says why", http.StatusInternalServerError)
		case err != nil:
			http.Error(w, err.Error(), http.StatusUnauthorized)
		default:
			next(w, r)
		}
	}
}

func (d *Desk) describe(w http.ResponseWriter, r *http.Request) {
	s, known := d.scorers[r.PathValue("scorer")]
	if !known {
		http.NotFound(w, r)
		return
	}
	text, err := s.Synced()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // to one who may have gone
}

// score answers for one cluster. Where there is no rating there is no 200, so
// that nobody takes a failure for a number.
func (d *Desk) score(w http.ResponseWriter, r *http.Request) {
	s, known := d.scorers[r.PathValue("scorer")]
	if !known {
		http.NotFound(w, r)
		return
	}
	var request struct {
		Data []dynamic.Series `json:"data"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&request); err != nil {
		http.Error(w, fmt.Sprintf("the request is not {\"data\":[{\"metric\":{},\"values\":[[0,\"0\"]]}]}: %.200v", err), http.StatusBadRequest)
		return
	}
	if len(request.Data) == 0 { // no question, so no answer
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"results":[]}`)
		return
	}
	digest, rating, failed := d.rate(r.Context(), &s, request.Data)
	if failed != nil {
		d.ratings.WithLabelValues(s.Name, failed.Reason).Inc()
		http.Error(w, failed.Error(), codeOf(failed))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"results": []any{map[string]any{ // to one who may have gone
		"metric": map[string]string{"reason": rating.Reason, "record": digest}, "score": rating.Score,
	}}})
}

// codeOf tells callers whose fault it is.
func codeOf(f *dynamic.Failure) int {
	switch f.Reason {
	case dynamic.NoData, dynamic.TooManySeries:
		return http.StatusUnprocessableEntity
	case model.BudgetExhausted, model.RateLimited:
		return http.StatusTooManyRequests
	}
	return http.StatusBadGateway
}

// rate returns what the model said of the same question before, or asks it.
func (d *Desk) rate(ctx context.Context, s *config.Scorer, series []dynamic.Series) (string, llm.Rating, *dynamic.Failure) {
	question, failed := llm.Ask(d.Config.Model.Name, s.Rubric, series)
	if failed != nil {
		return "", llm.Rating{}, failed
	}
	if rating, known := d.Records.Rating(question.Digest); known {
		d.ratings.WithLabelValues(s.Name, "Known").Inc()
		return question.Digest, rating, nil
	}
	// Several clusters may be alike; who waits for another's answer is not
	// left alone when that one's caller goes.
	out, _, _ := d.once.Do(question.Digest, func() (any, error) {
		rating, failed := d.ask(context.WithoutCancel(ctx), s, question)
		return outcome{rating, failed}, nil
	})
	o := out.(outcome) //nolint:forcetypeassert // it is
	return question.Digest, o.rating, o.failed
}

type outcome struct {
	rating llm.Rating
	failed *dynamic.Failure
}

func (d *Desk) ask(ctx context.Context, s *config.Scorer, q *llm.Question) (llm.Rating, *dynamic.Failure) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(d.Config.Model.TimeoutSeconds)*time.Second)
	defer cancel()
	answer, failed := d.Model.Ask(ctx, q.Body)
	if failed != nil {
		return llm.Rating{}, failed
	}
	rating, failed := llm.ReadAnswer(answer)
	if failed != nil {
		return rating, failed
	}
	d.ratings.WithLabelValues(s.Name, "Asked").Inc()
	r := &record.Record{Digest: q.Digest, At: time.Now().UTC(), Scorer: s.Name, Asked: q.Body, Answer: answer, Rating: rating}
	if err := d.Records.Put(r); err != nil {
		d.Log.Error("a record is not kept through a restart", "digest", q.Digest, "err", err)
	}
	return rating, nil
}

func (d *Desk) show(w http.ResponseWriter, r *http.Request) {
	found, err := d.Records.Get(r.PathValue("digest"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, "there is no such record, or none any more", http.StatusNotFound)
		return
	case err != nil:
		d.Log.Error("a record cannot be read", "err", err)
		http.Error(w, "the record cannot be read: the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found) // to one who may have gone
}
