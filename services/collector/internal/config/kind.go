package config

import (
	"errors"
	"net/url"
	"strings"
)

// Kinds of a source, by the field that names them.
const (
	kindURL        = "url"
	kindPrometheus = "prometheus"
	kindKubernetes = "kubernetes"
	kindJSON       = "json"

	kindRemoteWrite = "remoteWrite"
	kindOTLP        = "otlp"
)

// kinds are the kinds that the source names.
func (s *Source) kinds() []string {
	var named []string
	for _, kind := range []struct {
		name string
		is   bool
	}{
		{kindURL, s.URL != ""}, {kindPrometheus, s.Prometheus != nil}, {kindKubernetes, s.Kubernetes != nil},
		{kindJSON, s.JSON != nil}, {kindRemoteWrite, s.RemoteWrite != nil}, {kindOTLP, s.OTLP != nil},
	} {
		if kind.is {
			named = append(named, kind.name)
		}
	}
	return named
}

// kind is the only kind that the source names, or "".
func (s *Source) kind() string {
	if named := s.kinds(); len(named) == 1 {
		return named[0]
	}
	return ""
}

// validateKind checks that there is one kind, and what belongs to it.
func (s *Source) validateKind() error {
	switch named := s.kinds(); {
	case len(named) == 0:
		return fieldErrorf(kindURL, "is missing, for instance http://127.0.0.1:9100/metrics (or name another kind of source: prometheus, kubernetes, json, remoteWrite, otlp)")
	case len(named) > 1:
		return fieldErrorf(named[1], "is given beside %s: a source is of one kind", named[0])
	}
	if s.kind() != kindURL && s.Format != "" {
		return fieldErrorf("format", "is of a url alone")
	}
	switch s.kind() {
	case kindPrometheus:
		return within("prometheus.", s.Prometheus.validate())
	case kindJSON:
		return within("json.", s.JSON.validate())
	case kindRemoteWrite, kindOTLP:
		return within(s.kind()+".", s.validateReceive())
	case kindKubernetes:
		if s.BearerTokenFile != "" || s.TLS != (TLS{}) {
			return fieldErrorf(kindKubernetes, "takes its credentials from the kubeconfig or the service account: leave out bearerTokenFile and tls")
		}
		return within("kubernetes.", s.Kubernetes.validate())
	}
	return s.validateURL()
}

func (s *Source) validateURL() error {
	if err := checkURL("url", s.URL); err != nil {
		return err
	}
	switch s.Format {
	case FormatAuto, FormatText, FormatOpenMetrics:
		return nil
	}
	return fieldErrorf("format", "is %q, want auto, text or openmetrics", s.Format)
}

// checkURL checks an address of field. Its errors tell no password.
func checkURL(field, text string) error {
	u, err := url.Parse(text)
	switch {
	case strings.TrimSpace(text) == "":
		return fieldErrorf(field, "is missing")
	case err != nil:
		return fieldErrorf(field, "is not a URL: %v", withoutURL(err))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fieldErrorf(field, "is %q, want http://HOST[:PORT]/PATH or https://…", u.Redacted())
	}
	return nil
}

// withoutURL takes the URL out of an error, for it may hold a password.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
