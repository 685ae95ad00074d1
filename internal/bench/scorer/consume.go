package scorer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/bench/wire"
)

// consume runs the plain consumer as a process of its own. It returns how
// long that took by its own account, and its processor time.
func (m *runner) consume(ctx context.Context, first uint64, decode string) (took, cpu time.Duration, err error) {
	words := []string{m.rig.Env.Executable, "bench", "consume",
		"--first", strconv.FormatUint(first, 10), "--events", strconv.Itoa(m.options.Events), "--decode", decode}
	if m.options.Pin {
		words = append([]string{"taskset", "-c", strconv.Itoa(m.processor())}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "NATS_URL="+m.rig.URL)
	cmd.Stderr = m.rig.Env.Progress
	output, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("the plain consumer: %w", err)
	}
	var said wire.Consumed
	if err := json.Unmarshal(output, &said); err != nil {
		return 0, 0, fmt.Errorf("the plain consumer says %q: %w", output, err)
	}
	return said.Took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
