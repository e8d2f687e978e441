package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const runEvent = `{"session_id":"s","transcript_path":"/t","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t"}` + "\n"

// BenchmarkRun compares a hook under "hooktrail run", its event on disk with
// fsync, with the same hook bare. Both are run in turns, so that whatever slows
// the machine slows both; the medians and their ratio are reported. The hooks are
// one that does next to nothing, and one in Python, as guards often are.
func BenchmarkRun(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "hooktrail")
	if out, err := exec.Command("go", "build", "-o", bin, "hooktrail/cmd/hooktrail").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, child := range []struct {
		name    string
		command []string
	}{
		{"sh", []string{"sh", "-c", "cat >/dev/null"}},
		{"python3", []string{"python3", "-c", "import json, sys; json.load(sys.stdin)"}},
	} {
		b.Run(child.name, func(b *testing.B) {
			path, err := exec.LookPath(child.command[0])
			if err != nil {
				b.Skip(err)
			}
			// A version manager's shim would be measured otherwise.
			if real, err := exec.Command(path, "-c", "import sys; print(sys.executable)").Output(); err == nil && child.name == "python3" {
				path = strings.TrimSpace(string(real))
			}
			command := append([]string{path}, child.command[1:]...)
			log := filepath.Join(b.TempDir(), "audit.jsonl")
			wrapped := append([]string{bin, "run", "--log", log, "--"}, command...)
			var bare, under []time.Duration
			for b.Loop() {
				bare = append(bare, once(b, command))
				under = append(under, once(b, wrapped))
			}
			slices.Sort(bare)
			slices.Sort(under)
			x, y := bare[len(bare)/2], under[len(under)/2]
			b.ReportMetric(float64(x.Microseconds())/1000, "bare-ms")
			b.ReportMetric(float64(y.Microseconds())/1000, "run-ms")
			b.ReportMetric(float64(y)/float64(x), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// once runs a hook as a host does, and returns how long it took.
func once(b *testing.B, command []string) time.Duration {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(runEvent)
	cmd.Env = append(os.Environ(), "HOME="+b.TempDir())
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return time.Since(start)
}
