package decider

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change    func(*Options)
		wantError string
	}{
		"sound":             {func(*Options) {}, ""},
		"no server":         {func(o *Options) { o.Bus.URL = "" }, "NATS_URL"},
		"nothing in flight": {func(o *Options) { o.MaxInFlight = 0 }, "--max-in-flight is 0"},
		"too much":          {func(o *Options) { o.MaxInFlight = 5000 }, "--max-in-flight is 5000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := DefaultOptions(64)
			o.Bus.URL = "nats://127.0.0.1:4222"
			tt.change(&o)
			err := o.Validate()
			if (err == nil) != (tt.wantError == "") || err != nil && !strings.Contains(err.Error(), tt.wantError) {
				t.Fatalf("Validate = %v, want %q", err, tt.wantError)
			}
		})
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	o := DefaultOptions(64)
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse([]string{"--nats-url", "nats://there", "--max-in-flight", "7"}); err != nil || o.Bus.URL != "nats://there" || o.MaxInFlight != 7 {
		t.Errorf("options %+v, %v", o, err)
	}
}
