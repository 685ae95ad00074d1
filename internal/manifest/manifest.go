// Package manifest reads what users write for `spokewire apply`: YAML or
// JSON documents, one object each.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	kjson "sigs.k8s.io/json"
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
	// Payload is a *schemas.Scorer or a *schemas.PlacementRequest, valid.
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
		return nil, errors.New("there is no document in it: want a Scorer or a Placement")
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
	if err := json.Unmarshal(data, &head); err != nil {
		return Object{}, fmt.Errorf("is not an object with apiVersion, kind and metadata: %w", err)
	}
	kind, err := KindOf(head.Kind)
	if err != nil {
		return Object{}, fmt.Errorf("kind: %w", err)
	}
	o := Object{Kind: kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name}
	if kind.Namespaced && o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if o.Payload, err = kind.read(data, o); err != nil {
		return Object{}, fmt.Errorf("%s: %w", o, err)
	}
	return o, nil
}

func readScorer(data []byte, o Object) (schemas.Payload, error) {
	s := new(schemas.Scorer)
	if err := unmarshal(data, s, ""); err != nil {
		return nil, err
	}
	if o.Namespace != "" {
		return nil, &schemas.FieldError{Field: "metadata.namespace", Reason: fmt.Sprintf("is %q, but a Scorer has no namespace: leave it out", o.Namespace)}
	}
	return s, s.Validate()
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

// unmarshal is strict and case-sensitive. Its errors name fields from the
// root of the document on.
func unmarshal(data []byte, into any, prefix string) error {
	unknown, err := kjson.UnmarshalStrict(data, into)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return &schemas.FieldError{Field: prefix + wrongType.Field, Reason: fmt.Sprintf("is a %s, want %s", wrongType.Value, wrongType.Type)}
	case err != nil:
		return err
	case len(unknown) == 0:
		return nil
	}
	var field kjson.FieldError
	if errors.As(unknown[0], &field) {
		field.SetFieldPath(prefix + field.FieldPath())
	}
	return unknown[0]
}

// trimYAML drops the prefix that names the library's steps.
func trimYAML(err error) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	return errors.New(strings.TrimPrefix(text, "yaml: "))
}
