package child

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// Ports are taken from below the range from which the kernel gives ports to
// outgoing connections, so that a process can be started again on its own.
const (
	firstPort = 20000
	ports     = 12000
)

// given counts the ports that this process has tried, from a place of its own:
// one that was given to a program that does not listen yet is free, and must
// not be given to another.
var given = startAt(rand.Uint32N(ports))

func startAt(n uint32) *atomic.Uint32 {
	var count atomic.Uint32
	count.Store(n)
	return &count
}

// FreeAddress returns a loopback address that nobody listens on, another one
// each time.
func FreeAddress(ctx context.Context) (string, error) {
	for range 1000 {
		if address := "127.0.0.1:" + strconv.Itoa(firstPort+int(given.Add(1)%ports)); IsFree(ctx, address) {
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
