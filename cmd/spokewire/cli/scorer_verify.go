package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/conformance"
	"github.com/spokewire/spokewire/internal/table"
)

// verifying is one call of scorer verify.
type verifying struct {
	app                 *app
	tokenFile, dataFile string
	timeout             time.Duration
}

func (a *app) newScorerVerify() *cobra.Command {
	v := &verifying{app: a, timeout: 30 * time.Second}
	c := &cobra.Command{
		Use:   "verify URL",
		Short: "Check whether a scoring service speaks the scoring API",
		Long: `Ask a scoring service for its health, its configuration and for scores, in every
way that those who ask for scores do, and in some that they do not: with nothing
to score, with metrics that nobody has heard of, with a thousand series, with
the wrong token, with what is not JSON. Any language, any library.

URL is that of the service, or of its configuration where that is not at
/config. The token goes to its host alone. Ends with status 1 if a check fails.`,
		Example: `  spokewire scorer verify http://127.0.0.1:8000
  spokewire scorer verify --token-file token https://scorer.example/power/config`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return v.run(c, args[0]) },
	}
	c.Flags().StringVar(&v.tokenFile, "token-file", "", "file with the bearer token that the service wants")
	c.Flags().StringVar(&v.dataFile, "data", "", `file with a request, {"data":[…]}, that has to be scored (default: made-up series, which need not be)`)
	c.Flags().DurationVar(&v.timeout, "timeout", v.timeout, "how long one answer may take")
	a.addOutput(c)
	return c
}

func (v *verifying) run(c *cobra.Command, url string) error {
	options, err := v.options(url)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return v.verify(ctx, c.OutOrStdout(), options)
}

func (v *verifying) verify(ctx context.Context, w io.Writer, o conformance.Options) error {
	results, err := conformance.Verify(ctx, conformance.NewHTTP(v.timeout), o)
	if err != nil {
		return err
	}
	err = v.app.print(w, results, func(w io.Writer) error {
		t := table.New(w, "CHECK", "OK", "DETAIL")
		for _, r := range results {
			t.Add(r.Check, yesNo(r.OK), r.Detail)
		}
		return t.Flush()
	})
	if err != nil {
		return err
	}
	failed := 0
	for _, r := range results {
		if !r.OK {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed: see above", failed, len(results))
	}
	return nil
}

// options reads the files that the flags name.
func (v *verifying) options(url string) (conformance.Options, error) {
	o := conformance.Options{URL: url, Now: time.Now()}
	if v.timeout <= 0 {
		return o, fmt.Errorf("--timeout is %s, want more than 0", v.timeout)
	}
	if v.tokenFile != "" {
		text, err := os.ReadFile(v.tokenFile)
		if err != nil {
			return o, fmt.Errorf("--token-file: %w", err)
		}
		if o.Token = strings.TrimSpace(string(text)); o.Token == "" {
			return o, fmt.Errorf("--token-file: %s is empty", v.tokenFile)
		}
		if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return o, fmt.Errorf("--token-file: %s holds more than a token: want printable ASCII on one line", v.tokenFile)
		}
	}
	if v.dataFile != "" {
		text, err := os.ReadFile(v.dataFile)
		if err != nil {
			return o, fmt.Errorf("--data: %w", err)
		}
		if !json.Valid(text) {
			return o, fmt.Errorf("--data: %s is not JSON", v.dataFile)
		}
		o.Data = text
	}
	return o, nil
}
