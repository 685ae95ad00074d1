package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

const (
	maxBody     = 32 << 20 // bytes of a request
	maxParallel = 16       // requests that are scored at a time
)

// config.json says what to send here, and how often: the query and its
// range, the name of the score.
//
//go:embed config.json
var config []byte

// newHandler answers for the scoring API. Scores are given to those alone who
// have the token of tokenFile, which is read at each request, so that it may
// be replaced; with no tokenFile, to everybody.
func newHandler(tokenFile string) (http.Handler, error) {
	var c struct{ Scoring struct{ Path string } }
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	if !strings.HasPrefix(c.Scoring.Path, "/") {
		return nil, fmt.Errorf("config.json: scoring.path is %q, want /…", c.Scoring.Path)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /config", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, json.RawMessage(config))
	})
	mux.HandleFunc("POST "+c.Scoring.Path, scoring(tokenFile))
	return mux, nil
}

func scoring(tokenFile string) http.HandlerFunc {
	turns := make(chan struct{}, maxParallel)
	return func(w http.ResponseWriter, r *http.Request) {
		if status, err := authorize(r, tokenFile); err != nil {
			refuse(w, status, err)
			return
		}
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-r.Context().Done():
			return
		}
		var in request
		switch err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); {
		case errors.As(err, new(*http.MaxBytesError)):
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes", maxBody))
		case err != nil:
			refuse(w, http.StatusBadRequest, fmt.Errorf("the request is not {\"data\": [{\"metric\": {}, \"values\": []}]}: %w", err))
		default:
			answer(w, http.StatusOK, response{scoreAll(in.Data)})
		}
	}
}

// authorize compares digests, which are equally long, so that the time that
// it takes tells nothing of the token.
func authorize(r *http.Request, tokenFile string) (int, error) {
	if tokenFile == "" {
		return 0, nil
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return http.StatusServiceUnavailable, errors.New("the token cannot be read here")
	}
	want := sha256.Sum256(bytes.TrimSpace(token))
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got := sha256.Sum256([]byte(given))
	if !found || len(bytes.TrimSpace(token)) == 0 || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return http.StatusUnauthorized, errors.New("this needs the right bearer token")
	}
	return 0, nil
}

func refuse(w http.ResponseWriter, status int, err error) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	answer(w, status, map[string]string{"error": err.Error()})
}

func answer(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that is gone needs no answer
}
