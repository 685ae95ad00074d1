package scoringapi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// maxToken bounds a token, in bytes.
const maxToken = 64 << 10

// tokenName is what Kubernetes takes for the name of a Secret or a key in it.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,253}$`)

// Tokens is a directory of mounted Secrets: the key K of Secret S is the file
// S/K. "" is none.
type Tokens string

// Path is the file of the token that ref names. Its error is a
// *dynamic.Failure.
func (t Tokens) Path(ref schemas.TokenRef) (string, error) {
	for _, name := range []string{ref.Name, ref.Key} {
		if !tokenName.MatchString(name) || name == "." || name == ".." {
			return "", dynamic.Failf(dynamic.TokenMissing, "%.100q is not the name of a Secret or of a key in it", name)
		}
	}
	if t == "" {
		return "", dynamic.Failf(dynamic.TokenMissing, "the key %s of Secret %s is wanted, but no directory of tokens is given: mount the Secret and set --token-dir", ref.Key, ref.Name)
	}
	return filepath.Join(string(t), ref.Name, ref.Key), nil
}

// Read returns the token that ref names, as it is now: mounted Secrets
// change. Its error is a *dynamic.Failure that does not tell the token.
func (t Tokens) Read(ref schemas.TokenRef) (string, error) {
	path, err := t.Path(ref)
	if err != nil {
		return "", err
	}
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", dynamic.Failf(dynamic.TokenMissing, "there is no file %s/%s in --token-dir: mount the Secret %s there", ref.Name, ref.Key, ref.Name)
	case err != nil:
		return "", dynamic.Failf(dynamic.TokenMissing, "the file %s/%s in --token-dir cannot be read: %v", ref.Name, ref.Key, reasonOf(err))
	case text == "":
		return "", dynamic.Failf(dynamic.TokenMissing, "the file %s/%s in --token-dir is empty", ref.Name, ref.Key)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", dynamic.Failf(dynamic.TokenMissing, "the file %s/%s in --token-dir holds what no HTTP header takes", ref.Name, ref.Key)
	}
	return text, nil
}

func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if len(text) > maxToken {
		return "", fmt.Errorf("it has more than %d bytes", maxToken)
	}
	return strings.TrimSpace(string(text)), err
}

// reasonOf leaves out the path, which is the reader's own business.
func reasonOf(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
