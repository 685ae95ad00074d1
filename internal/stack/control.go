package stack

import (
	"context"
	"fmt"
	"slices"
)

// Health is the base URL of a service's /metrics, /healthz and /readyz, or ""
// for a process that serves none.
func (s *Stack) Health(name string) string { return s.health[name] }

// Halt ends a process in good order. It stays down until Continue.
func (s *Stack) Halt(name string) error {
	c, ok := s.children[name]
	if !ok {
		return fmt.Errorf("the stack has no process %q", name)
	}
	return c.Stop()
}

// Continue starts a process that was halted, with its arguments and these
// more, and waits until it is ready.
func (s *Stack) Continue(ctx context.Context, name string, more ...string) error {
	c, ok := s.children[name]
	if !ok {
		return fmt.Errorf("the stack has no process %q", name)
	}
	program := c.Program()
	program.Args = append(slices.Clone(program.Args), more...)
	if err := s.start(program); err != nil {
		return err
	}
	return s.Ready(ctx, name)
}

// Ready waits until a service says that it is ready. A process that serves
// no health is taken for ready.
func (s *Stack) Ready(ctx context.Context, name string) error {
	if s.health[name] == "" {
		return nil
	}
	return waitForReady(ctx, name, s.health[name]+"/readyz")
}
