// Package manifest reads what users write for `spokewire apply`: YAML or
// JSON documents, one object each.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// DefaultNamespace is that of a namespaced object which names none.
const DefaultNamespace = "default"

// Object is one document.
type Object struct {
	Kind            Kind
	Namespace, Name string // the namespace is empty for a kind without
	// Line is where the document starts in the text, from 1.
	Line int
	// Payload is a *schemas.Scorer, a *schemas.PlacementRequest, a
	// *schemas.PlacementPolicy, a *schemas.Cordon, a
	// *schemas.DynamicScorerRequest or a *schemas.DynamicScoringConfigRequest,
	// valid.
	Payload schemas.Payload
}

// String names the object as messages do.
func (o Object) String() string { return o.Kind.Describe(o.Namespace, o.Name) }

// Parse reads every document of text strictly: unknown and repeated fields
// are errors, as is a text without a document. An error names the document's
// line, its object where that is known, and the field.
func Parse(text []byte) ([]Object, error) {
	var objects []Object
	for _, doc := range split(text) {
		data, err := yaml.YAMLToJSONStrict(doc.text)
		if err != nil {
			return nil, fmt.Errorf("document at line %d: %w", doc.line, trimYAML(err))
		}
		if string(data) == "null" {
			continue
		}
		o, err := object(data)
		if err != nil {
			return nil, fmt.Errorf("document at line %d: %w", doc.line, err)
		}
		o.Line = doc.line
		objects = append(objects, o)
	}
	if len(objects) == 0 {
		return nil, errors.New("there is no document in it: want a Scorer, a Placement, a PlacementPolicy, a Cordon, a DynamicScorer or a DynamicScoringConfig")
	}
	return objects, nil
}

// object reads one document, given as JSON.
func object(data []byte) (Object, error) {
	var head struct {
		APIVersion string           `json:"apiVersion"`
		Kind       string           `json:"kind"`
		Metadata   schemas.Metadata `json:"metadata"`
	}
	headErr := readHead(data, &head)
	kind, err := KindOf(head.Kind)
	switch {
	case headErr != nil && (err != nil || head.Metadata.Name == ""):
		return Object{}, headErr
	case err != nil:
		return Object{}, fmt.Errorf("kind: %w", err)
	}
	o := Object{Kind: kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name}
	if kind.Namespaced && o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if headErr != nil {
		return Object{}, fmt.Errorf("%s: %w", o, headErr)
	}
	if o.Payload, err = kind.read(data, o); err != nil {
		return Object{}, fmt.Errorf("%s: %w", o, err)
	}
	return o, nil
}

// readHead reads what tells the kind, and no more: unknown fields are the
// kind's to refuse. What it can read it does, in spite of an error.
func readHead(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return fmt.Errorf("is %s, want an object with apiVersion, kind and metadata", article(wrongType.Value))
	case errors.As(err, &wrongType):
		return typeError(data, wrongType, "")
	}
	return err
}

func readScorer(data []byte, o Object) (schemas.Payload, error) {
	s := new(schemas.Scorer)
	if err := checkValidity(data); err != nil {
		return nil, err
	}
	if err := unmarshal(data, s, ""); err != nil {
		return nil, err
	}
	if o.Namespace != "" {
		return nil, &schemas.FieldError{Field: "metadata.namespace", Reason: fmt.Sprintf("is %q, but a Scorer has no namespace: leave it out", o.Namespace)}
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, checkHubName(s)
}

// checkValidity names the field of what is no duration.
func checkValidity(data []byte) error {
	var given struct {
		Spec struct {
			ValidFor json.RawMessage `json:"validFor"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &given); err != nil || given.Spec.ValidFor == nil || string(given.Spec.ValidFor) == "null" {
		return nil //nolint:nilerr // what is no object is refused where the whole is read
	}
	var d schemas.Duration
	if err := json.Unmarshal(given.Spec.ValidFor, &d); err != nil {
		return &schemas.FieldError{Field: "spec.validFor", Reason: fmt.Sprintf("is %.100s, %s", given.Spec.ValidFor, err)}
	}
	return nil
}

// checkHubName refuses a name that no object on the hub can have, which each
// cluster's score would fail at.
func checkHubName(s *schemas.Scorer) error {
	if s.Spec.Hub != nil && !*s.Spec.Hub {
		return nil
	}
	if problems := validation.IsDNS1123Subdomain(s.Metadata.Name); len(problems) > 0 {
		return &schemas.FieldError{Field: "metadata.name", Reason: fmt.Sprintf("is %.100q, which no object on the hub can be called: want at most %d lower-case letters, digits, '-' and '.', first and last a letter or digit; or keep the scores off the hub with spec.hub: false", s.Metadata.Name, validation.DNS1123SubdomainMaxLength)}
	}
	return nil
}

func readPolicy(data []byte, o Object) (schemas.Payload, error) {
	p := new(schemas.PlacementPolicy)
	if err := unmarshal(data, p, ""); err != nil {
		return nil, err
	}
	if o.Namespace != "" {
		return nil, &schemas.FieldError{Field: "metadata.namespace", Reason: fmt.Sprintf("is %q, but a PlacementPolicy has no namespace: leave it out", o.Namespace)}
	}
	return p, p.Validate()
}

func readCordon(data []byte, o Object) (schemas.Payload, error) {
	c := new(schemas.Cordon)
	if err := unmarshal(data, c, ""); err != nil {
		return nil, err
	}
	if o.Namespace != "" {
		return nil, &schemas.FieldError{Field: "metadata.namespace", Reason: fmt.Sprintf("is %q, but a Cordon has no namespace, as clusters have none: leave it out", o.Namespace)}
	}
	return c, c.Validate()
}

func readDynamicScorer(data []byte, o Object) (schemas.Payload, error) {
	d := new(schemas.DynamicScorerRequest)
	if err := unmarshal(data, d, ""); err != nil {
		return nil, err
	}
	d.Metadata.Namespace = o.Namespace
	return d, d.Validate()
}

func readScoringConfig(data []byte, o Object) (schemas.Payload, error) {
	d := new(schemas.DynamicScoringConfigRequest)
	if err := unmarshal(data, d, ""); err != nil {
		return nil, err
	}
	d.Metadata.Namespace = o.Namespace
	return d, d.Validate()
}

func readPlacement(data []byte, o Object) (schemas.Payload, error) {
	p := new(schemas.PlacementRequest)
	if err := unmarshal(data, p, ""); err != nil {
		return nil, err
	}
	p.Metadata.Namespace = o.Namespace
	if err := p.Validate(); err != nil {
		return nil, err
	}
	// Only for the errors: the API server would drop what it does not know.
	var spec clusterv1beta1.PlacementSpec
	return p, unmarshal(p.Spec, &spec, "spec.")
}

// trimYAML drops the prefix that names the library's steps.
func trimYAML(err error) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	return errors.New(strings.TrimPrefix(text, "yaml: "))
}
