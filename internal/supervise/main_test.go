//go:build unix

package supervise

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain makes the test binary a hook of many habits: with HOOK_HABIT set it
// does what the words say, one after the other, and exits 0 if nothing else was
// asked for.
func TestMain(m *testing.M) {
	if habit := os.Getenv("HOOK_HABIT"); habit != "" {
		for _, h := range strings.Split(habit, ",") {
			word, arg, _ := strings.Cut(h, ":")
			live(word, arg)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func live(word, arg string) {
	n, _ := strconv.Atoi(arg)
	switch word {
	case "exit":
		os.Exit(n)
	case "sleep": // milliseconds
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "read":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "close":
		_ = os.Stdin.Close()
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "out":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("o"), n))
	case "err":
		_, _ = os.Stderr.Write(bytes.Repeat([]byte("e"), n))
	case "say":
		fmt.Println(arg)
	case "die": // by this signal
		raise(n)
	case "deaf": // to TERM and HUP
		ignoreTerm()
	case "child", "daemon": // leave one behind that holds the pipes
		again := exec.Command(os.Args[0])
		again.Env = append(os.Environ(), "HOOK_HABIT=deaf,sleep:60000")
		again.Stdout, again.Stderr = os.Stdout, os.Stderr
		if word == "daemon" {
			again.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		}
		if again.Start() != nil {
			os.Exit(99)
		}
	}
}
