package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// archive lists what is below dir in a container, its volumes included.
func archive(ctx context.Context, container, dir string) ([]*tar.Header, error) {
	c := exec.CommandContext(ctx, "docker", "cp", container+":"+dir, "-")
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	var list []*tar.Header
	reader := tar.NewReader(out)
	for err == nil {
		var h *tar.Header
		if h, err = reader.Next(); err == nil {
			list = append(list, h)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	_, copied := io.Copy(io.Discard, out) // the tar's padding
	if err = errors.Join(err, copied, c.Wait()); err != nil {
		return nil, fmt.Errorf("docker cp %s:%s: %w", container, dir, err)
	}
	return list, nil
}
