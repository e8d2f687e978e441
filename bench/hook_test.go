package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const hookConfig = `{"guard":{"scope":["*"],"rules":[{"tools":["Read"],"class":"readOnly"}]}}`

func readEvent(path string) string {
	return `{"session_id":"s","transcript_path":"/t","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"` + path + `"},"tool_use_id":"t"}` + "\n"
}

// build makes a static binary, as releases are.
func build(b *testing.B, pkg string) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), filepath.Base(pkg))
	c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return bin
}

type contestant struct {
	name    string
	command []string
	stdin   string
	took    []time.Duration
}

func (c *contestant) run(b *testing.B) {
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Stdin = strings.NewReader(c.stdin)
	start := time.Now()
	err := cmd.Run()
	c.took = append(c.took, time.Since(start))
	if err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
}

func (c *contestant) at(p float64) time.Duration {
	slices.Sort(c.took)
	return c.took[int(float64(len(c.took)-1)*p)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkHook runs the whole process of one hook call, its event on disk with
// fsync, in turns with the yardstick, with a program that only links the schema
// library, with a log of many events, and with an 8 MB Write.
//
//	go test ./bench -run '^$' -bench Hook -benchtime 100x
func BenchmarkHook(b *testing.B) {
	bin, dir := build(b, "hooktrail/cmd/hooktrail"), b.TempDir()
	config := filepath.Join(dir, "c.json")
	if err := os.WriteFile(config, []byte(hookConfig), 0o600); err != nil {
		b.Fatal(err)
	}
	long := filepath.Join(dir, "long", "audit.jsonl")
	grow(b, bin, config, long)
	hook := func(log string) []string { return []string{bin, "hook", "--config", config, "--log", log} }
	write := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x","content":"` + strings.Repeat("abcdefg\\n", 1<<20) + `"},"tool_use_id":"t"}`
	all := []*contestant{
		{name: "yardstick", command: []string{build(b, "hooktrail/bench/yardstick"), filepath.Join(dir, "y.jsonl")}, stdin: readEvent("/x")},
		{name: "onlyschema", command: []string{build(b, "hooktrail/bench/onlyschema")}},
		{name: "hook", command: hook(filepath.Join(dir, "a", "audit.jsonl")), stdin: readEvent("/x")},
		{name: "hook-long-log", command: hook(long), stdin: readEvent("/x")},
		{name: "hook-8MB", command: hook(filepath.Join(dir, "w", "audit.jsonl")), stdin: write},
	}
	for b.Loop() {
		for _, c := range all {
			c.run(b)
		}
	}
	for _, c := range all {
		b.ReportMetric(ms(c.at(0.5)), c.name+"-ms")
	}
	b.ReportMetric(float64(all[2].at(0.5))/float64(all[0].at(0.5)), "hook/yardstick")
	b.ReportMetric(float64(all[3].at(0.5))/float64(all[2].at(0.5)), "long/empty")
	b.ReportMetric(float64(all[4].peak(b))/1024, "8MB-rss-MB")
	b.ReportMetric(0, "ns/op")
}

// grow makes a log of a million lines, of which the last one is the log's own.
func grow(b *testing.B, bin, config, path string) {
	b.Helper()
	one := &contestant{name: "grow", command: []string{bin, "hook", "--config", config, "--log", path}, stdin: readEvent("/x")}
	one.run(b)

	n := 1_000_000
	if s := os.Getenv("BENCH_EVENTS"); s != "" {
		_, _ = fmt.Sscan(s, &n)
	}
	b.Logf("a log of %d events is grown by its own writer: %v", n, fill(path, n))
}

// BenchmarkTogether starts 32 hooks at once on one log, again and again.
func BenchmarkTogether(b *testing.B) {
	bin, dir := build(b, "hooktrail/cmd/hooktrail"), b.TempDir()
	config := filepath.Join(dir, "c.json")
	if err := os.WriteFile(config, []byte(hookConfig), 0o600); err != nil {
		b.Fatal(err)
	}
	var all contestant
	for b.Loop() {
		each := make([]contestant, 32)
		var wg sync.WaitGroup
		for i := range each {
			each[i] = contestant{name: "hook", command: []string{bin, "hook", "--config", config, "--log", filepath.Join(dir, "audit.jsonl")}, stdin: readEvent("/x")}
			wg.Go(func() { each[i].run(b) })
		}
		wg.Wait()
		for i := range each {
			all.took = append(all.took, each[i].took...)
		}
	}
	b.ReportMetric(ms(all.at(0.5)), "median-ms")
	b.ReportMetric(ms(all.at(0.99)), "p99-ms")
	b.ReportMetric(0, "ns/op")
	if out, err := exec.Command(bin, "verify", "--log", filepath.Join(dir, "audit.jsonl")).CombinedOutput(); err != nil {
		b.Fatalf("verify: %v: %s", err, out)
	}
}
