package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const bashEvent = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t"}`

// supervisor returns "hooktrail run" with a hook that is a piece of shell, and
// the path of its log.
func supervisor(t *testing.T, script string) (cmd *exec.Cmd, log string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	log = filepath.Join(t.TempDir(), "audit.jsonl")
	cmd = &exec.Cmd{
		Path: self, Args: []string{"hooktrail", "run", "--name", "h", "--log", log, "--", "sh", "-c", script},
		Env: append(os.Environ(), "HOME="+t.TempDir()), Stdin: strings.NewReader(bashEvent),
	}
	return cmd, log
}

// startChild starts cmd and returns the process id that its hook writes into the
// named pipe.
func startChild(t *testing.T, cmd *exec.Cmd, fifo string) int {
	t.Helper()
	require.NoError(t, cmd.Start())
	f, err := os.Open(fifo)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	line, err := bufio.NewReader(f).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return pid
}

// needSetsid skips where the shell has no word that leaves its process group and
// session, which is what a daemon does.
func needSetsid(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid (package util-linux) is not here: no hook of this test could leave a daemon")
	}
}

func pipe(t *testing.T) string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "pid")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	return fifo
}

// gone waits for a process to end, with patience for a busy machine.
func gone(pid int) bool {
	for range 500 {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || bytes.Contains(b, []byte(") Z ")) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// TestAHostThatEndsRunGetsItsBlock: a host ends a late hook with TERM and, 1.5 s
// later, KILL. In between, run ends its own hook, records, and blocks.
func TestAHostThatEndsRunGetsItsBlock(t *testing.T) {
	fifo := pipe(t)
	cmd, log := supervisor(t, `trap '' TERM HUP; echo $$ >`+fifo+`; while :; do sleep 1; done`)
	var out bytes.Buffer
	cmd.Stdout = &out
	child := startChild(t, cmd, fifo)
	start := time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 2, status(cmd.Wait()))
	require.Less(t, time.Since(start), 1500*time.Millisecond)
	require.True(t, gone(child))
	require.Contains(t, out.String(), `"permissionDecision":"deny"`)
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(b), `"gate":"timeout_block"`)
	require.Contains(t, string(b), "host gave up")
}

func TestAKilledRunLeavesNoHook(t *testing.T) {
	fifo := pipe(t)
	cmd, _ := supervisor(t, `echo $$ >`+fifo+`; exec sleep 60`)
	child := startChild(t, cmd, fifo)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.True(t, gone(child))
}

func TestRunLeavesNoDaemon(t *testing.T) {
	needSetsid(t)
	fifo := pipe(t)
	cmd, _ := supervisor(t, `setsid sh -c 'trap "" TERM HUP; echo $$ >`+fifo+`; exec sleep 60' & exit 0`)
	child := startChild(t, cmd, fifo)
	require.Equal(t, 0, status(cmd.Wait()))
	require.True(t, gone(child))
}

// TestAnAnswerThatNobodyTakesBlocks closes the reading end of standard output.
func TestAnAnswerThatNobodyTakesBlocks(t *testing.T) {
	cmd, _ := supervisor(t, `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	cmd.Stdout = w
	require.Equal(t, 2, status(cmd.Run()))
	require.NoError(t, w.Close())
}

// TestTheHookGetsAnUntouchedSignalTable: a hook that inherits an ignored SIGPIPE
// does not end when its reader does.
func TestTheHookGetsAnUntouchedSignalTable(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "status")
	cmd, _ := supervisor(t, `exec grep SigIgn /proc/self/status >`+kept)
	require.Equal(t, 0, status(cmd.Run()))
	b, err := os.ReadFile(kept)
	require.NoError(t, err)
	mask, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(string(b), "SigIgn:")), 16, 64)
	require.NoError(t, err)
	require.Zero(t, mask&(1<<(uint(syscall.SIGPIPE)-1)))
}
