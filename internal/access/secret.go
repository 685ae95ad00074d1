package access

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/spokewire/spokewire/internal/secretfile"
)

const bcryptPrefix = "$2a$"

// Passwords maps a user's name to its password in the clear.
type Passwords map[string]string

// Issue gives every user of the layout a password out of random, which must
// return at least 128 bits that nobody can guess (crypto/rand.Text does), and
// returns them with their hashes.
//
// The hash is bcrypt at its least cost, 4: passwords of 128 random bits need
// no slow hash, the configuration holds none in the clear, and a check takes
// the server about a millisecond, where the usual cost of 10 takes 64 times
// as long: minutes of processor time when 10,000 spokes reconnect at once.
func Issue(l Layout, random func() string) (Passwords, Secrets, error) {
	passwords, secrets := Passwords{}, Secrets{}
	for _, u := range l.Users() {
		password := random()
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			return nil, nil, fmt.Errorf("hash the password of user %s: %w", u.Name, err)
		}
		passwords[u.Name], secrets[u.Name] = password, string(hash)
	}
	return passwords, secrets, nil
}

// Variables returns secrets that the server takes from its environment, for
// a configuration that is kept in the open: SW_PASSWORD_ and the user's name
// in capitals, every other character an underscore. It refuses two users
// that would share a variable, and so a password.
func Variables(l Layout) (Secrets, error) {
	secrets, taken := Secrets{}, map[string]string{}
	for _, u := range l.Users() {
		variable := "$SW_PASSWORD_" + strings.Map(variableRune, strings.ToUpper(u.Name))
		if other, ok := taken[variable]; ok {
			return nil, invalid("users", "%s and %s would share the variable %s: rename one", other, u.Name, variable)
		}
		taken[variable], secrets[u.Name] = u.Name, variable
	}
	return secrets, nil
}

func variableRune(r rune) rune {
	if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '_'
}

// URL returns servers, such as nats://127.0.0.1:4222 or several separated by
// commas, with the credentials of a user. It returns an error for a user that
// has no password.
func (p Passwords) URL(servers, user string) (string, error) {
	password, ok := p[user]
	if !ok {
		return "", fmt.Errorf("user %s has no password in this layout", user)
	}
	var urls []string
	for server := range strings.SplitSeq(servers, ",") {
		u, err := url.Parse(server)
		if err != nil {
			return "", fmt.Errorf("server %q: %w", server, err)
		}
		u.User = url.UserPassword(user, password)
		urls = append(urls, u.String())
	}
	return strings.Join(urls, ","), nil
}

// Write writes for each user the file DIR/USER.url, which holds its URL and
// is readable by its owner alone. It creates dir with mode 0700.
func (p Passwords) Write(dir, server string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for user := range p {
		line, err := p.URL(server, user)
		if err != nil {
			return err
		}
		if err := secretfile.Replace(filepath.Join(dir, user+".url"), []byte(line+"\n")); err != nil {
			return err
		}
	}
	return nil
}
