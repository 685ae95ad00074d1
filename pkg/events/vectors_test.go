package events_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
)

// vectors is testdata/vectors.json: what every implementation has to agree
// on. The Python package is tested against it too.
type vectors struct {
	Tokens []struct {
		Name, Token string
		Bytes       []byte // the name where it is no text
	}
	RefusedTokens []struct{ Why, Token string }
	Subjects      []struct {
		Text   string `json:"subject"`
		Parsed events.Subject
	}
	RefusedSubjects []struct{ Why, Subject string }
	Sources         []struct{ Cluster, Name, Metric, Score string }
	HeaderValues    []struct{ Text, Header string }
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if len(v.Tokens) == 0 || len(v.RefusedTokens) == 0 || len(v.Subjects) == 0 || len(v.RefusedSubjects) == 0 {
		t.Fatal("the vectors are not all there")
	}
	return v
}

func TestSources(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).Sources {
		if got := events.ClusterSource(v.Cluster, v.Name); got != v.Metric {
			t.Errorf("ClusterSource(%q, %q) = %q, want %q", v.Cluster, v.Name, got, v.Metric)
		}
		if got := events.ScorerSource(v.Cluster, v.Name); got != v.Score {
			t.Errorf("ScorerSource(%q, %q) = %q, want %q", v.Cluster, v.Name, got, v.Score)
		}
	}
}

func TestHeaderValues(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).HeaderValues {
		e := event.New()
		e.SetID("1")
		e.SetType("t")
		e.SetSource("/s")
		e.SetSubject(v.Text)
		header, _, err := events.Encode(e)
		if err != nil || header.Get("ce-subject") != v.Header {
			t.Errorf("%q is written as %q, %v, want %q", v.Text, header.Get("ce-subject"), err, v.Header)
		}
	}
}
