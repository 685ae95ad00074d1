// Package dynamic is what OCM's dynamic scoring comes to: a DynamicScorer and
// what its scoring API says of itself become what to ask whom, and what the
// API answers becomes items of scores. It is pure; who asks is a service's
// own.
//
// The API is that of OCM's dynamic-scoring-framework: GET /healthz, GET on
// the configURL, and POST of {"data":[{"metric":{},"values":[[t,"v"]]}]},
// which is answered by {"results":[{"metric":{},"score":12.3}]}.
package dynamic
