package schemas

import (
	"fmt"
	"strings"
)

// API version, kinds and the one name of OCM's dynamic scoring.
const (
	DynamicScoringAPIVersion = "dynamic-scoring.open-cluster-management.io/v1alpha1"
	DynamicScorerKind        = "DynamicScorer"
	DynamicScoringConfigKind = "DynamicScoringConfig"
	// DynamicScoringConfigName is the name of the DynamicScoringConfig whose
	// masks count in its namespace; others say nothing.
	DynamicScoringConfigName = "dynamic-scoring-config"
)

// Values of a DynamicScorer's fields.
const (
	SyncFull = "Full" // the scorer's configuration endpoint says how to score
	SyncNone = "None" // the resource does

	LocationInternal = "Internal" // the scoring API is in each cluster, and is called there
	LocationExternal = "External" // the hub calls it

	SourcePrometheus = "Prometheus"
	SourceNone       = "None"

	DestinationAddOnScore = "AddOnPlacementScore"
	DestinationNone       = "None"
)

// Bounds of what a dynamic scorer says of itself, in characters.
const (
	MaxDynamicText  = 4096
	MaxDynamicQuery = 16384
	MaxMasks        = 10_000
)

// DynamicScorer is OCM's resource of that name as the bridge saw it on the
// hub.
type DynamicScorer struct {
	Name       string            `json:"name"`
	Namespace  string            `json:"namespace"`
	UID        string            `json:"uid"`
	Generation int64             `json:"generation"`
	Deleting   bool              `json:"deleting,omitempty"`
	Spec       DynamicScorerSpec `json:"spec"`
}

// DynamicScorerRequest asks for a dynamic scorer over the bus.
type DynamicScorerRequest struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   Metadata          `json:"metadata"`
	Spec       DynamicScorerSpec `json:"spec"`
}

// DynamicScorerSpec names a scoring API, what it is given and where its
// scores go.
type DynamicScorerSpec struct {
	Description string `json:"description"`
	// ConfigURL is where the scoring API says how it wants to be asked. Its
	// scheme and host are those of the API where nothing else says so.
	ConfigURL string `json:"configURL"`
	// ConfigSyncMode is Full or None.
	ConfigSyncMode string `json:"configSyncMode"`
	// Location is Internal or External. Default External.
	Location string          `json:"location,omitempty"`
	Source   *DynamicSource  `json:"source,omitempty"`
	Scoring  *DynamicScoring `json:"scoring,omitempty"`
	// ScoreDestination is AddOnPlacementScore or None, which keeps the scores
	// off the hub. Default AddOnPlacementScore.
	ScoreDestination string `json:"scoreDestination,omitempty"`
	// ScoreDimensionFormat is the name of a score's item, with placeholders.
	// Default ${scoreName}.
	ScoreDimensionFormat string `json:"scoreDimensionFormat,omitempty"`
}

// DynamicSource is where the data comes from that the scoring API is given.
type DynamicSource struct {
	// Type is Prometheus or None.
	Type   string               `json:"type,omitempty"`
	Host   string               `json:"host,omitempty"`
	Path   string               `json:"path,omitempty"`
	Params *DynamicSourceParams `json:"params,omitempty"`
	Auth   *DynamicAuth         `json:"auth,omitempty"`
}

// DynamicSourceParams is a range query.
type DynamicSourceParams struct {
	// Query is one PromQL expression, or several with semicolons between.
	Query string `json:"query"`
	// Range and Step are in seconds.
	Range int64 `json:"range"`
	Step  int64 `json:"step"`
}

// DynamicScoring is where the scoring API is.
type DynamicScoring struct {
	Host   string                `json:"host,omitempty"`
	Path   string                `json:"path,omitempty"` // default /score
	Params *DynamicScoringParams `json:"params,omitempty"`
	Auth   *DynamicAuth          `json:"auth,omitempty"`
}

// DynamicScoringParams say under which name and how often it scores.
type DynamicScoringParams struct {
	Name string `json:"name"`
	// Interval is in seconds.
	Interval int64 `json:"interval"`
}

// DynamicAuth names a bearer token.
type DynamicAuth struct {
	TokenSecretRef TokenRef `json:"tokenSecretRef"`
}

// TokenRef is a key of a Secret: never the token, which is read from the file
// of that name where it is used.
type TokenRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// DynamicScoringConfig is OCM's resource of that name as the bridge saw it.
type DynamicScoringConfig struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid"`
	Masks     []Mask `json:"masks,omitempty"`
}

// DynamicScoringConfigRequest asks for masks over the bus.
type DynamicScoringConfigRequest struct {
	APIVersion string                   `json:"apiVersion"`
	Kind       string                   `json:"kind"`
	Metadata   Metadata                 `json:"metadata"`
	Spec       DynamicScoringConfigSpec `json:"spec"`
}

// DynamicScoringConfigSpec says which clusters get no score.
type DynamicScoringConfigSpec struct {
	Masks []Mask `json:"masks,omitempty"`
}

// Mask keeps a cluster without the score of that name.
type Mask struct {
	ClusterName string `json:"clusterName"`
	ScoreName   string `json:"scoreName"`
}

// SyncedConfig is what a scoring API said of itself at its configURL.
type SyncedConfig struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Source      SyncedSource  `json:"source"`
	Scoring     SyncedScoring `json:"scoring"`
}

// SyncedSource is the part about its data.
type SyncedSource struct {
	Type   string              `json:"type,omitempty"`
	Host   string              `json:"host,omitempty"`
	Path   string              `json:"path"`
	Params DynamicSourceParams `json:"params"`
}

// SyncedScoring is the part about the scoring.
type SyncedScoring struct {
	Host   string               `json:"host,omitempty"`
	Path   string               `json:"path"`
	Params DynamicScoringParams `json:"params"`
}

// Validate checks the names. What the spec says is the scorer's to judge,
// for the hub has taken it.
func (d *DynamicScorer) Validate() error {
	return required("name", d.Name, "namespace", d.Namespace, "uid", d.UID)
}

// Validate checks the frame, and what OCM's resource definition checks.
func (d *DynamicScorerRequest) Validate() error {
	if err := checkKind(d.APIVersion, d.Kind, DynamicScoringAPIVersion, DynamicScorerKind); err != nil {
		return err
	}
	if err := required("metadata.name", d.Metadata.Name, "metadata.namespace", d.Metadata.Namespace, "spec.configURL", d.Spec.ConfigURL); err != nil {
		return err
	}
	s := &d.Spec
	for _, e := range []struct {
		field, value string
		required     bool
		known        []string
	}{
		{"spec.configSyncMode", s.ConfigSyncMode, true, []string{SyncFull, SyncNone}},
		{"spec.location", s.Location, false, []string{LocationInternal, LocationExternal}},
		{"spec.scoreDestination", s.ScoreDestination, false, []string{DestinationAddOnScore, DestinationNone}},
	} {
		if err := oneOf(e.field, e.value, e.required, e.known...); err != nil {
			return err
		}
	}
	return checkTexts(
		text{"spec.description", s.Description, MaxDynamicText}, text{"spec.configURL", s.ConfigURL, MaxDynamicText},
		text{"spec.scoreDimensionFormat", s.ScoreDimensionFormat, MaxDynamicText},
	)
}

// Validate checks the names.
func (d *DynamicScoringConfig) Validate() error {
	if err := checkMasks("masks", d.Masks); err != nil {
		return err
	}
	return required("name", d.Name, "namespace", d.Namespace, "uid", d.UID)
}

// Validate checks the frame and the masks.
func (d *DynamicScoringConfigRequest) Validate() error {
	if err := checkKind(d.APIVersion, d.Kind, DynamicScoringAPIVersion, DynamicScoringConfigKind); err != nil {
		return err
	}
	if d.Metadata.Name != DynamicScoringConfigName {
		return fieldErrorf("metadata.name", "is %q, want %s: the masks of no other name count", d.Metadata.Name, DynamicScoringConfigName)
	}
	if err := required("metadata.namespace", d.Metadata.Namespace); err != nil {
		return err
	}
	return checkMasks("spec.masks", d.Spec.Masks)
}

func checkMasks(field string, masks []Mask) error {
	if len(masks) > MaxMasks {
		return fieldErrorf(field, "has %d items, at most %d are taken", len(masks), MaxMasks)
	}
	for i, m := range masks {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := required(at+".clusterName", m.ClusterName, at+".scoreName", m.ScoreName); err != nil {
			return err
		}
	}
	return nil
}

// text is a field of at most limit characters.
type text struct {
	field, value string
	limit        int
}

func checkTexts(texts ...text) error {
	for _, t := range texts {
		if reason := checkText(t.value, t.limit); reason != "" {
			return fieldErrorf(t.field, "%s", reason)
		}
	}
	return nil
}

func oneOf(field, value string, required bool, known ...string) error {
	if value == "" && !required {
		return nil
	}
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	return fieldErrorf(field, "is %q, want %s", value, strings.Join(known, " or "))
}
