// Package schemas holds the payloads of Spokewire's events: what stands in
// the data of each CloudEvent on the bus.
//
// Every payload has a Go struct, a versioned event type, a JSON Schema
// (draft 2020-12, see [JSONSchema]) and a Validate method that names the
// field it refuses. [Decode] is strict: a field that the type does not know,
// a second value after the first, or a number that JSON cannot carry (NaN,
// infinity) is an error. A breaking change is a new type version beside the
// old one, never a changed one.
//
// The package depends on the standard library alone.
package schemas
