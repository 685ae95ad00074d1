// Package bearer holds callers to a token that is in a file.
package bearer

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Errors of Check.
var (
	// ErrUnreadable: there is no telling, for the file cannot be read.
	ErrUnreadable = errors.New("the token file cannot be read")
	// ErrOther is the caller's fault.
	ErrOther = errors.New("the bearer token is missing or another one")
)

// Check reports whether a request has the token of a file, which is read each
// time, for tokens are replaced; without a file nobody needs one. An empty
// file is nobody's token.
func Check(r *http.Request, file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	token := strings.TrimSpace(string(text))
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" || !found || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
		return ErrOther
	}
	return nil
}
