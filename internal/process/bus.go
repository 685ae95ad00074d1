package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// BusOptions says how to reach NATS. The URL may carry a user and password,
// so it comes from the environment rather than from the command line, where
// every user of the machine could read it.
type BusOptions struct {
	URL string
	// URLFile is the path of a file that holds the URL, for where secrets
	// are files. URL comes first.
	URLFile     string
	Credentials string // path of an NKey or JWT credentials file
	RootCA      string // path of the CA that signed the server's certificate
	InboxPrefix string
	// Replicas is how many servers hold the streams that are created, see
	// jetstream.Options. No flag sets it.
	Replicas int
}

// DefaultBusOptions takes the URL from NATS_URL, or from the file that
// NATS_URL_FILE names.
func DefaultBusOptions() BusOptions {
	return BusOptions{URL: os.Getenv("NATS_URL"), URLFile: os.Getenv("NATS_URL_FILE"), InboxPrefix: os.Getenv("NATS_INBOX_PREFIX")}
}

// AddFlags adds the options to fs.
func (o *BusOptions) AddFlags(fs *pflag.FlagSet) {
	// The URL is not the flag's default, for --help would print its password.
	fs.Func("nats-url", "NATS server (default $NATS_URL)", func(url string) error {
		o.URL = url
		return nil
	})
	fs.StringVar(&o.URLFile, "nats-url-file", o.URLFile, "file that holds the NATS server's URL, where no URL is given (default $NATS_URL_FILE)")
	fs.StringVar(&o.Credentials, "nats-creds", o.Credentials, "NATS credentials file")
	fs.StringVar(&o.RootCA, "nats-ca", o.RootCA, "CA file for the NATS server's certificate")
	fs.StringVar(&o.InboxPrefix, "nats-inbox-prefix", o.InboxPrefix, "prefix of this client's inboxes, where its permissions ask for one (default $NATS_INBOX_PREFIX)")
}

// Validate says what is missing.
func (o BusOptions) Validate() error {
	if o.URL == "" && o.URLFile == "" {
		return errors.New("no NATS server is named: set NATS_URL (with a local stack: eval \"$(spokewire env)\") or --nats-url")
	}
	return nil
}

// url returns URL, or what the file holds without the space around it.
func (o BusOptions) url() (string, error) {
	if o.URL != "" {
		return o.URL, nil
	}
	text, err := os.ReadFile(o.URLFile)
	if err != nil {
		return "", fmt.Errorf("URL of the NATS server (NATS_URL_FILE or --nats-url-file): %w", err)
	}
	url := strings.TrimSpace(string(text))
	if url == "" {
		return "", fmt.Errorf("NATS_URL_FILE or --nats-url-file: %s is empty, want the NATS server's URL", o.URLFile)
	}
	return url, nil
}

// Connect connects as rt's service. It waits for the server until ctx ends.
func (o BusOptions) Connect(ctx context.Context, rt Runtime) (*jetstream.Bus, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	url, err := o.url()
	if err != nil {
		return nil, err
	}
	return jetstream.Connect(ctx, jetstream.Options{
		URL:         url,
		Credentials: o.Credentials,
		RootCA:      o.RootCA,
		InboxPrefix: o.InboxPrefix,
		Replicas:    o.Replicas,
		Name:        rt.Name,
		Log:         rt.Log,
	})
}
