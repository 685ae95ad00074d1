package child

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range from which the kernel gives ports to
// outgoing connections, so that a process can be started again on its own.
const (
	firstPort = 20000
	ports     = 12000
)

// FreeAddress returns a loopback address that nobody listens on.
func FreeAddress(ctx context.Context) (string, error) {
	for range 100 {
		if address := "127.0.0.1:" + strconv.Itoa(firstPort+rand.N(ports)); IsFree(ctx, address) {
			return address, nil
		}
	}
	return "", errors.New("no free port on 127.0.0.1")
}

// IsFree reports whether nobody listens on address.
func IsFree(ctx context.Context, address string) bool {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	return err == nil && listener.Close() == nil
}
