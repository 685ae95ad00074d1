package process

import (
	"fmt"
	"io"
	"log/slog"
)

// newLogger returns a logger that says of every line which service wrote it.
func newLogger(w io.Writer, name string, o Options) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.LogLevel)); err != nil {
		return nil, fmt.Errorf("--log-level is %q, want debug, info, warn or error", o.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)).With("service", name), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)).With("service", name), nil
	}
	return nil, fmt.Errorf("--log-format is %q, want text or json", o.LogFormat)
}
