// A scoring service: it turns metrics of clusters into scores. The logic is
// in score.go, what is asked for in config.json; the rest speaks the API.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	listen := flag.String("listen", ":8000", "HOST:PORT to listen on")
	tokenFile := flag.String("token-file", os.Getenv("TOKEN_FILE"), "file with the bearer token that callers need (default $TOKEN_FILE; empty: none)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, *tokenFile); err != nil {
		fmt.Fprintln(os.Stderr, "headroom:", err)
		return 1
	}
	return 0
}

// serve answers until ctx ends, and then lets requests end.
func serve(ctx context.Context, listen, tokenFile string) error {
	handler, err := newHandler(tokenFile)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println("ready http://" + listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = server.Shutdown(ending) // what is left then is cut off
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
