package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestMain is the benchmarks, or the small parent that peak starts.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_PEAK") == "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin = os.Stdin
	if err := cmd.Run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
}

// peak runs the command once more and returns the most memory it held, in
// kilobytes. Linux counts the parent's memory from before exec as the child's, and
// this process holds the events: so the parent is a fresh one, and stdin a file.
func (c *contestant) peak(b *testing.B) (kilobytes int) {
	b.Helper()
	in, err := os.CreateTemp(b.TempDir(), "stdin")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if _, err := in.WriteString(c.stdin); err != nil {
		b.Fatal(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], c.command...)
	cmd.Env = append(os.Environ(), "BENCH_PEAK=1")
	cmd.Stdin = in
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
	// The hook's answer, if it has one, comes before.
	lines := strings.Fields(string(out))
	if _, err := fmt.Sscan(lines[len(lines)-1], &kilobytes); err != nil {
		b.Fatalf("%s: %v: %s", c.name, err, out)
	}
	return kilobytes
}
