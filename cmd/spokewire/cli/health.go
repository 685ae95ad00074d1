package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// defaultHealthURL is where the services in containers listen.
const defaultHealthURL = "http://127.0.0.1:8080"

// maxHealthAnswer bounds what is read of an answer, in bytes.
const maxHealthAnswer = 64 << 10

// healthAnswer is what health says with -o; without, it is silent where all
// is well.
type healthAnswer struct {
	URL   string `json:"url"`
	Ready bool   `json:"ready"`
	// Detail says what is not ready.
	Detail string `json:"detail,omitempty"`
}

func (a *app) newHealth() *cobra.Command {
	timeout, rootCA := 5*time.Second, ""
	c := &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a process whether it is ready",
		Long: `Ask URL/readyz, or URL itself where it has a path, once. Ends with status 0 if
the answer is 200, and says what is not ready if not. Made for the health
checks of containers, which have no shell and no curl.`,
		Example: `  spokewire health http://127.0.0.1:8080
  spokewire health --ca ca.crt https://127.0.0.1:6443`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			target := defaultHealthURL
			if len(args) > 0 {
				target = args[0]
			}
			if timeout <= 0 {
				return fmt.Errorf("--timeout is %s, want more than 0", timeout)
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			target, err := healthURL(target)
			if err != nil {
				return err
			}
			err = askHealth(ctx, target, rootCA)
			answer := healthAnswer{URL: target, Ready: err == nil}
			if err != nil {
				answer.Detail = err.Error()
			}
			return errors.Join(err, a.print(c.OutOrStdout(), answer, func(io.Writer) error { return nil }))
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", timeout, "how long the answer may take")
	c.Flags().StringVar(&rootCA, "ca", "", "CA file for the server's certificate")
	a.addOutput(c)
	return c
}

// askHealth returns nil if target answers 200.
func askHealth(ctx context.Context, target, rootCA string) error {
	client, err := healthClient(rootCA)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealthAnswer))
	if err != nil {
		return fmt.Errorf("not ready: %s answers %s: %w", target, response.Status, err)
	}
	return fmt.Errorf("not ready: %s answers %s: %s", target, response.Status, strings.TrimSpace(string(body)))
}

// healthURL adds /readyz to a URL without a path.
func healthURL(target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no URL of a process, want for instance %s", target, defaultHealthURL)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/readyz"
	}
	return u.String(), nil
}

// healthClient asks directly, without a proxy, and takes the first answer.
func healthClient(rootCA string) (*http.Client, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	if rootCA != "" {
		text, err := os.ReadFile(rootCA)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, errors.New("--ca: " + rootCA + " holds no certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
