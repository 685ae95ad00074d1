// Package bench is what benchmarks say: results with the machine and the
// command that made them, summaries of samples, and the document that is
// rendered from them. It measures nothing; the packages below it do.
package bench
