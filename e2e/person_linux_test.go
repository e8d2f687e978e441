//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A terminal is the far side of a client that believes to be in front of a
// person.
type terminal struct {
	*os.File
	mu     sync.Mutex
	screen bytes.Buffer
}

// openTerminal returns both ends of a pseudo terminal.
func openTerminal(t *testing.T) (*terminal, *os.File) {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160}))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	term := &terminal{File: f}
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, err := f.Read(b)
			term.mu.Lock()
			term.screen.Write(b[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = f.Close() })
	return term, tty
}

// shows tells whether the words have stood on the screen. The client moves the
// cursor where a text has blanks, so they are looked for without any.
func (term *terminal) shows(words string) bool {
	term.mu.Lock()
	defer term.mu.Unlock()
	var plain strings.Builder
	escape := false
	for _, c := range term.screen.String() {
		switch {
		case c == 0x1b:
			escape = true
		case escape:
			escape = c == '[' || c == '?' || c == ';' || c == '>' || c == '<' || c == '=' || c >= '0' && c <= '9'
		case c > ' ':
			plain.WriteRune(c)
		}
	}
	return strings.Contains(plain.String(), strings.ReplaceAll(words, " ", ""))
}

// TestAPersonSaysNo is the row of the table of denials that needs a person: the
// interactive client asks on its terminal, and Escape is the answer.
func TestAPersonSaysNo(t *testing.T) {
	bin := client(t)
	s := observed(t, "", nil, nil)
	dir := t.TempDir()
	r := &run{Home: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), model: newModel(t, s.Turns)}
	require.NoError(t, os.MkdirAll(filepath.Join(r.Home, ".claude"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(r.Project, ".git"), 0o755))
	user := strings.ReplaceAll(s.User, "@HOME@", r.Home)
	require.NoError(t, os.WriteFile(filepath.Join(r.Home, ".claude", "settings.json"), []byte(user), 0o600))
	known, err := json.Marshal(obj{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": obj{"approved": []any{"none"}, "rejected": []any{}},
		"projects":              obj{r.Project: obj{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.Home, ".claude.json"), known, 0o600))

	term, tty := openTerminal(t)
	cmd := exec.CommandContext(t.Context(), bin, "--permission-mode", "default", "go on")
	cmd.Dir = r.Project
	cmd.Env = r.env("xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	_ = tty.Close()
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // after two times ^C the status is the client's own affair
		close(ended)
	}()

	press := func(keys string) {
		_, err := term.WriteString(keys)
		require.NoError(t, err)
	}
	wait := func(what string, ok func() bool) {
		require.Eventually(t, ok, 60*time.Second, 50*time.Millisecond, "waiting for %s", what)
	}
	wait("the question", func() bool { return term.shows("Do you want to proceed?") })
	press("\x1b")
	rejected := func() bool {
		found, _ := filepath.Glob(filepath.Join(r.Home, ".claude", "projects", "*", "*.jsonl"))
		for _, path := range found {
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte("user-rejected")) {
				return true
			}
		}
		return false
	}
	wait("the host's record", rejected)
	press("\x03")
	wait("the question whether to leave", func() bool { return term.shows("again to exit") })
	press("\x03")
	select {
	case <-ended:
	case <-time.After(60 * time.Second):
		t.Fatal("the client did not end")
	}

	require.False(t, r.made("ran"))
	facts := r.facts(t)
	require.Len(t, facts, 1)
	require.Equal(t, "permission denied permission_user", fact(facts[0], "layer", "decision", "reason"))
	require.Equal(t, "toolu_msg_1_0", facts[0]["toolUseId"])
}
