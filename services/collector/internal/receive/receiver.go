package receive

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/bearer"
	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/derive"
)

// Bounds of a receiver.
const (
	// concurrent requests are read at a time; others are told to come again.
	concurrent  = 4
	readTimeout = 30 * time.Second
	idleTimeout = 2 * time.Minute
	maxHeader   = 64 << 10
)

// Receiver takes what is sent to one source. Scrape and Run are for one
// goroutine each.
type Receiver struct {
	source   config.Source
	rules    sample.Rules
	derive   *derive.Tracker
	store    *store
	listener net.Listener
	now      func() time.Time
	room     chan struct{}
}

// New listens for a valid source of this kind. The error names the field.
func New(source config.Source) (*Receiver, error) {
	rules, err := source.Rules()
	if err != nil {
		return nil, err
	}
	derived, err := source.Derived()
	if err != nil {
		return nil, err
	}
	field, receive := source.Receives()
	var listening net.ListenConfig
	listener, err := listening.Listen(context.Background(), "tcp", receive.Listen)
	if err != nil {
		return nil, fmt.Errorf("%s.listen: %w", field, err)
	}
	r := &Receiver{
		source: source, rules: rules, derive: derive.New(derived), listener: listener, now: time.Now, room: make(chan struct{}, concurrent),
	}
	// What no rule keeps is not held at all, but for what is derived.
	filter := derive.New(derived).Start(rules.Start())
	r.store = newStore(filter.Wants, source.Limits.Samples, receive.ExpireAfter.Duration)
	return r, nil
}

// Address is where it listens.
func (r *Receiver) Address() string { return r.listener.Addr().String() }

// Close stops listening.
func (r *Receiver) Close() { _ = r.listener.Close() }

// Run serves until ctx ends.
func (r *Receiver) Run(ctx context.Context) error {
	server := &http.Server{
		Handler: r.handler(), ReadTimeout: readTimeout, WriteTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	var group errgroup.Group
	group.Go(func() error {
		serve := func() error { return server.Serve(r.listener) }
		if r.source.TLS.CertFile != "" {
			server.TLSConfig = r.tls()
			serve = func() error { return server.ServeTLS(r.listener, "", "") }
		}
		if err := serve(); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
			field, _ := r.source.Receives()
			return fmt.Errorf("source %s: %s: %w", r.source.Name, field, err)
		}
		return ctx.Err()
	})
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	return group.Wait()
}

// tls reads the certificate for each connection, for it is replaced in time.
func (r *Receiver) tls() *tls.Config {
	files := r.source.TLS
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
		if err != nil {
			r.store.note(credentials, fmt.Sprintf("tls: %v", err))
			return nil, errors.New("the collector has no certificate now")
		}
		return &pair, nil
	}}
}

func (r *Receiver) handler() http.Handler {
	mux := http.NewServeMux()
	path, take := RemoteWritePath, r.remoteWrite
	if r.source.OTLP != nil {
		path, take = OTLPPath, r.otlp
	}
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, request *http.Request) {
		switch err := bearer.Check(request, r.source.BearerTokenFile); {
		case errors.Is(err, bearer.ErrUnreadable):
			r.store.note(credentials, fmt.Sprintf("bearerTokenFile: %v", err))
			http.Error(w, "the collector cannot read its token now", http.StatusServiceUnavailable)
			return
		case err != nil:
			r.refuse(w, http.StatusUnauthorized, "%v", err)
			return
		}
		select {
		case r.room <- struct{}{}:
			defer func() { <-r.room }()
			take(w, request)
		default:
			w.Header().Set("Retry-After", "1")
			r.refuse(w, http.StatusServiceUnavailable, "%d requests are read already: try again later", concurrent)
		}
	})
	return mux
}

// body reads a body that is not too long.
func (r *Receiver) body(w http.ResponseWriter, request *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, r.source.Limits.BodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		r.refuse(w, http.StatusRequestEntityTooLarge, "the body has more than limits.bodyBytes, %d", r.source.Limits.BodyBytes)
		return nil, false
	case err != nil:
		r.refuse(w, http.StatusBadRequest, "the body broke off: %v", err)
		return nil, false
	}
	return body, true
}

// refuse answers an error, and keeps it for the source's status.
func (r *Receiver) refuse(w http.ResponseWriter, code int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if code != http.StatusServiceUnavailable {
		r.store.note(refused, text)
	}
	http.Error(w, text, code)
}

// Reasons of a source that is sent to.
const (
	refused     sample.Reason = "Refused"     // a request that makes no sense
	credentials sample.Reason = "Credentials" // a token or certificate file cannot be used
)

// Scrape is the snapshot of what was received of late.
func (r *Receiver) Scrape(context.Context) (sample.Snapshot, error) {
	selection := r.rules.Start()
	round := r.derive.Start(selection)
	now := r.now()
	left, ever := r.store.read(round, now)
	if !ever {
		selection.Note(sample.NoData, "nobody has sent anything to "+r.Address())
	}
	if err := round.End(now); err != nil {
		return sample.Snapshot{}, err
	}
	snapshot, err := selection.Snapshot()
	if err != nil {
		return snapshot, &failure.Error{Reason: failure.TooManySamples, Err: err}
	}
	snapshot.Left = append(snapshot.Left, left...)
	return snapshot, nil
}
