package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// unmarshal is strict and case-sensitive. Its errors name fields from the
// root of the document on.
func unmarshal(data []byte, into any, prefix string) error {
	unknown, err := kjson.UnmarshalStrict(data, into)
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return typeError(data, wrongType, prefix)
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

// typeError names the field of data, with the keys and the positions that err
// leaves out, and the types as they stand in a manifest.
func typeError(data []byte, err *json.UnmarshalTypeError, prefix string) error {
	want := err.Type.String()
	switch err.Type.Kind() {
	case reflect.Map, reflect.Struct:
		want = "an object"
	case reflect.Slice, reflect.Array:
		want = "an array"
	}
	return &schemas.FieldError{Field: prefix + schemas.FieldAt(data, err.Offset), Reason: fmt.Sprintf("is %s, want %s", article(err.Value), want)}
}

// article puts one before the name of a JSON type.
func article(noun string) string {
	if strings.IndexByte("aeio", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}
