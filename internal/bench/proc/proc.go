// Package proc reads /proc: what a process used, and what machine this is.
package proc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/bench"
)

// ticks a second in /proc; Linux has had no other number for user space.
const ticks = 100

// CPU returns the processor time that a process has used, all threads.
func CPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseCPU(text)
}

// parseCPU reads utime and stime: the 12th and 13th field after the command,
// which ends with the last parenthesis.
func parseCPU(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("stat has %d fields after the command, want 13 and more", len(fields))
	}
	var used int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		used += n
	}
	return time.Duration(used) * time.Second / ticks, nil
}

// Memory is what a process occupies, in bytes.
type Memory struct{ Resident, Peak int64 }

// MemoryOf reads the resident size of a process.
func MemoryOf(pid int) (Memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	return Memory{Resident: kilobytes(text, "VmRSS"), Peak: kilobytes(text, "VmHWM")}, nil
}

// kilobytes returns a field such as "VmRSS:  123 kB" in bytes, 0 without it.
func kilobytes(text []byte, name string) int64 {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), name+":")
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}

// Children returns the ids of this process's children by the name of their
// program.
func Children() map[string]int {
	found := map[string]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		end := bytes.LastIndexByte(text, ')')
		fields := bytes.Fields(text[end+1:])
		if len(fields) < 2 || string(fields[1]) != strconv.Itoa(os.Getpid()) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil {
			found[string(text[bytes.IndexByte(text, '(')+1:end])] = pid
		}
	}
	return found
}

// Pin lets a process and its threads run on one processor, counted from 0.
func Pin(ctx context.Context, pid, processor int) error {
	output, err := exec.CommandContext(ctx, "taskset", "-acp", strconv.Itoa(processor), strconv.Itoa(pid)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pin process %d to processor %d with taskset (of util-linux): %w: %s", pid, processor, err, output)
	}
	return nil
}

// Machine describes this machine as it is now.
func Machine() bench.Machine {
	m := bench.Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Kernel: read("/proc/sys/kernel/osrelease"), Revision: revision()}
	memory, _ := os.ReadFile("/proc/meminfo")
	m.Memory = kilobytes(memory, "MemTotal")
	if first, _, ok := strings.Cut(read("/proc/loadavg"), " "); ok {
		m.Load, _ = strconv.ParseFloat(first, 64)
	}
	for line := range strings.Lines(read("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}

func read(path string) string {
	text, _ := os.ReadFile(path) // what is not there is not told
	return strings.TrimSpace(string(text))
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	out := settings["vcs.revision"]
	if settings["vcs.modified"] == "true" {
		out += " and changes"
	}
	return out
}
