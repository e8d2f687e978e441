package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hooktrail/internal/cli"
)

func TestMain(m *testing.M) {
	hurry()
	testscript.Main(m, map[string]func(){
		"hooktrail":   hooktrail,
		"nats-server": natsServer,
	})
}

// hooktrail is the program. At its end it writes what the system says of the
// process to the file that PROCESS_STATUS names, for a test that asks: what the
// parent is told of a child's memory counts the parent's own, from before exec.
func hooktrail() {
	code := cli.Main(context.Background(), os.Args[1:], cli.OS())
	if kept := os.Getenv("PROCESS_STATUS"); kept != "" {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil || os.WriteFile(kept, b, 0o600) != nil {
			code = 99
		}
	}
	os.Exit(code)
}

// hurry takes away the second that each process waits at its end under -race:
// it is there for races of the last moment, and there are hundreds of processes.
func hurry() {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
}

// TestScripts runs the specification of the command line, one file a promise.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := e.WorkDir + "/home"
			e.Setenv("HOME", home)
			e.Setenv("XDG_STATE_HOME", "")
			e.Setenv("NO_COLOR", "1")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"blocks": blocks,
			"counts": counts,
		},
	})
}

// blocks runs a command and requires that it block the call. The built-in
// "! exec" is not enough: it also accepts exit status 1, which lets calls through.
// The 2 is spelled out: a test that read it from cli would follow a wrong edit.
func blocks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: blocks command [args...]")
	}
	err := ts.Exec(args[0], args[1:]...)
	var e *exec.ExitError
	if !errors.As(err, &e) || e.ExitCode() != 2 {
		ts.Fatalf("got %v, want exit status 2", err)
	}
}

// counts requires that a file hold a text a number of times.
func counts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: counts N TEXT FILE")
	}
	if got := strings.Count(ts.ReadFile(args[2]), args[1]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s holds %q %d times, want %s", args[2], args[1], got, args[0])
	}
}
