// Package process is the plumbing that every Spokewire process shares:
// command line, signals, logs, health, metrics, traces and the way to the
// bus. It knows nothing of clusters or scores.
package process
