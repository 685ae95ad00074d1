package bearer_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/spokewire/spokewire/internal/bearer"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"token": "secret\n", "empty": " \n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		file, header string
		want         error
	}{
		"nobody needs one": {"", "", nil},
		"the token":        {filepath.Join(dir, "token"), "Bearer secret", nil},
		"none":             {filepath.Join(dir, "token"), "", bearer.ErrOther},
		"another":          {filepath.Join(dir, "token"), "Bearer secret2", bearer.ErrOther},
		"another scheme":   {filepath.Join(dir, "token"), "Basic secret", bearer.ErrOther},
		"an empty file":    {filepath.Join(dir, "empty"), "Bearer ", bearer.ErrOther},
		"no file":          {filepath.Join(dir, "none"), "Bearer secret", bearer.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &http.Request{Header: http.Header{"Authorization": {tt.header}}}
			if err := bearer.Check(r, tt.file); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
