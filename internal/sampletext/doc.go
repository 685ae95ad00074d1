// Package sampletext reads metric samples as people write them: one series
// and its value on a command line, or a page of Prometheus text.
package sampletext
