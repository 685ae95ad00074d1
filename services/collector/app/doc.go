// Package app puts the collector together.
package app
