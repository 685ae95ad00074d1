package events

import (
	"fmt"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// NoNamespace is the subject token of an object without a namespace.
const NoNamespace = "_"

// EncodeToken turns any name into one token of a subject, reversibly:
// letters, digits and '-' stand for themselves, as does '_' unless it is the
// whole name; every other byte becomes %XX. The empty name has no token.
func EncodeToken(name string) string {
	if name == NoNamespace {
		return "%5F"
	}
	if strings.IndexFunc(name, func(r rune) bool { return r > 127 || !isTokenByte(byte(r)) }) < 0 {
		return name
	}
	var b strings.Builder
	b.Grow(len(name) + 8)
	for i := range len(name) {
		if c := name[i]; isTokenByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}

// DecodeToken is the reverse of EncodeToken. It refuses what EncodeToken
// would not have written, so that one name has exactly one token.
func DecodeToken(token string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		c := token[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(token) {
			return "", badToken(token)
		}
		hi, lo := strings.IndexByte(upperHex, token[i+1]), strings.IndexByte(upperHex, token[i+2])
		if hi < 0 || lo < 0 {
			return "", badToken(token)
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	name := b.String()
	if name == "" || EncodeToken(name) != token {
		return "", badToken(token)
	}
	return name, nil
}

func badToken(token string) error {
	return fmt.Errorf("%w: %q is not an encoded token", ErrBadSubject, token)
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
