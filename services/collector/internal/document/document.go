// Package document takes snapshots out of JSON documents that are fetched
// over HTTP.
package document

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/mapping"
)

// Source fetches the document of one source. It is for one goroutine.
type Source struct {
	source  config.Source
	rules   sample.Rules
	client  *fetch.Client
	mapping *mapping.Mapping
	body    bytes.Buffer
}

// New returns a Source for a valid source of this kind. The error names the
// field.
func New(source config.Source) (*Source, error) {
	rules, err := source.Rules()
	if err != nil {
		return nil, err
	}
	compiled, err := mapping.Compile(*source.JSON)
	if err != nil {
		var field *schemas.FieldError
		if errors.As(err, &field) {
			field.Field = "json." + field.Field
		}
		return nil, err
	}
	client, err := fetch.New(source.Fetch())
	if err != nil {
		return nil, err
	}
	return &Source{source: source, rules: rules, client: client, mapping: compiled}, nil
}

// Close closes idle connections.
func (s *Source) Close() { s.client.Close() }

// Scrape fetches and maps once. Every error is a *failure.Error.
func (s *Source) Scrape(ctx context.Context) (sample.Snapshot, error) {
	selection := s.rules.Start()
	err := fetch.Within(ctx, s.source.Timeout.Duration, func(ctx context.Context) error {
		if err := s.fetch(ctx); err != nil {
			return err
		}
		document, err := decode(s.body.Bytes())
		if err != nil {
			return err
		}
		return s.mapping.Apply(ctx, document, selection)
	})
	if err != nil {
		return sample.Snapshot{}, err
	}
	snapshot, err := selection.Snapshot()
	if err != nil {
		return snapshot, &failure.Error{Reason: failure.TooManySamples, Err: err}
	}
	return snapshot, nil
}

// fetch fills s.body.
func (s *Source) fetch(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.source.JSON.URL, http.NoBody)
	if err != nil {
		return &failure.Error{Reason: failure.Unreachable, Err: err}
	}
	request.Header.Set("Accept", "application/json")
	answer, err := s.client.Do(request, &s.body)
	if err == nil {
		err = answer.OK()
	}
	if err != nil {
		return err
	}
	return checkType(answer.Header.Get("Content-Type"))
}

// checkType refuses what is certainly no JSON, for its syntax error would
// tell less.
func checkType(contentType string) error {
	media, _, err := mime.ParseMediaType(contentType)
	if contentType == "" || err == nil && (strings.Contains(media, "json") || media == "text/plain" || media == "application/octet-stream") {
		return nil
	}
	return failure.Newf(failure.BadType, "the Content-Type is %.100q, want application/json", contentType)
}

// decode reads one document and nothing behind it.
func decode(body []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, failure.Newf(failure.BadAnswer, "the document cannot be read, at byte %d: %.300w", decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, failure.Newf(failure.BadAnswer, "the document ends at byte %d, but the answer does not", decoder.InputOffset())
	}
	return document, nil
}
