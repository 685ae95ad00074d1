package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// maxResults is how many results of an answer are taken.
const maxResults = 10_000

// score asks for scores in every way that those who ask do, and in some that
// they do not.
func (v *verification) score(ctx context.Context) {
	normal, needed := []byte(`{"data":null}`), true
	if v.config.hasSeries() {
		normal, needed = body(ordinary(v.options.Now)), false
	}
	if len(v.options.Data) > 0 {
		normal, needed = v.options.Data, true
	}
	v.check("scores", func() (string, error) { return v.scored(ctx, normal, needed) })
	if v.config.hasSeries() {
		v.check("empty data", func() (string, error) { return v.scored(ctx, []byte(`{"data":[]}`), false) })
		v.check("null data", func() (string, error) { return v.scored(ctx, []byte(`{"data":null}`), false) })
		v.check("unknown metrics", func() (string, error) { return v.scored(ctx, body(unknown(v.options.Now)), false) })
		v.check("no numbers", func() (string, error) { return v.scored(ctx, body(noNumbers(v.options.Now)), false) })
		v.check("large input", func() (string, error) { return v.scored(ctx, body(large(v.options.Now)), false) })
		v.check("malformed JSON", func() (string, error) { return v.refused(ctx, v.options.Token, []byte(`{"data":[{"metric`), 400, 422) })
	}
	if v.options.Token != "" {
		v.check("wrong token", func() (string, error) { return v.refused(ctx, v.options.Token+"x", normal, 401, 403) })
		v.check("no token", func() (string, error) { return v.refused(ctx, "", normal, 401, 403) })
	}
}

func (v *verification) post(ctx context.Context, token string, body []byte) (Response, error) {
	return v.caller.Call(ctx, Request{Method: "POST", URL: v.url(v.config.Scoring.Path), Token: token, Body: body})
}

// scored posts what has to be answered by scores, by at least one where that
// is needed.
func (v *verification) scored(ctx context.Context, body []byte, needed bool) (string, error) {
	answer, err := v.post(ctx, v.options.Token, body)
	switch {
	case err != nil:
		return "", err
	case (answer.Status == 401 || answer.Status == 403) && v.options.Token == "":
		return "", fmt.Errorf("it answers %d%s: does it want a token?", answer.Status, shown(answer.Body))
	case answer.Status != 200:
		return "", fmt.Errorf("it answers %d%s, want 200", answer.Status, shown(answer.Body))
	case answer.Took > v.config.interval():
		return "", fmt.Errorf("it answers within %s, but is asked every %s", answer.Took.Round(time.Millisecond), v.config.interval())
	}
	scores, err := readScores(answer.Body)
	switch {
	case err != nil:
		return "", err
	case len(scores) == 0 && needed:
		return "", errors.New("it gives no score")
	}
	return summary(scores), nil
}

// refused posts what must not be scored.
func (v *verification) refused(ctx context.Context, token string, body []byte, want, or int) (string, error) {
	answer, err := v.post(ctx, token, body)
	if err != nil {
		return "", err
	}
	if answer.Status != want && answer.Status != or {
		return "", fmt.Errorf("it answers %d%s, want %d or %d", answer.Status, shown(answer.Body), want, or)
	}
	return fmt.Sprintf("it answers %d", answer.Status), nil
}

// readScores reads an answer, and says which of its results is wrong.
func readScores(body []byte) ([]float64, error) {
	if len(body) == 0 {
		return nil, errors.New("it answers nothing")
	}
	var answer struct {
		Results *[]json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		if errors.As(err, new(*json.UnmarshalTypeError)) {
			return nil, fmt.Errorf("it answers%s, want {\"results\":[]}", shown(body))
		}
		return nil, fmt.Errorf("it answers what is not JSON: %w%s", err, shown(body))
	}
	switch {
	case answer.Results == nil:
		return nil, fmt.Errorf("it answers%s, without results", shown(body))
	case len(*answer.Results) > maxResults:
		return nil, fmt.Errorf("it answers %d results, at most %d are taken", len(*answer.Results), maxResults)
	}
	scores := make([]float64, len(*answer.Results))
	for i, raw := range *answer.Results {
		var result struct {
			Metric map[string]string
			Score  *float64
		}
		if err := json.Unmarshal(raw, &result); err != nil {
			return nil, fmt.Errorf("results[%d] is%s, want {\"metric\":{\"label\":\"text\"},\"score\":1.0}: %w", i, shown(raw), err)
		}
		if result.Score == nil {
			return nil, fmt.Errorf("results[%d].score is missing: leave a result without a number out", i)
		}
		scores[i] = *result.Score
	}
	return scores, nil
}

func summary(scores []float64) string {
	text := fmt.Sprintf("%d scores", len(scores))
	for _, s := range scores {
		if s < -100 || s > 100 {
			return text + fmt.Sprintf("; %v is outside of -100 to 100, and is clamped", s)
		}
	}
	return text
}
