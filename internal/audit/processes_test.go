//go:build unix

package audit

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFortyProcessesWriteAThousandWholeLines(t *testing.T) {
	p := filepath.Join(t.TempDir(), "audit.jsonl")
	took := fortyProcesses(t, p, 40, 25)
	all := lines(t, p)
	require.Len(t, all, 1001)
	for i := 1; i < len(all); i++ {
		q, ok := linePlace(all[i])
		require.True(t, ok)
		require.Equal(t, uint64(i)+1, q.seq)
		require.Equal(t, lineHash(all[i-1]), q.prev)
	}
	require.Empty(t, verify(t, p))
	t.Logf("median %v, p99 %v, slowest %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}

func TestProcessesAcrossRotations(t *testing.T) {
	p := filepath.Join(t.TempDir(), "audit.jsonl")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(15 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				_ = os.Rename(p, p+"."+strconv.Itoa(i))
			}
		}
	}()
	fortyProcesses(t, p, 8, 40)
	close(stop)
	<-done
	record(t, newLog(t, Options{Path: p}), 1)
	require.Empty(t, verify(t, p))
	files, err := Files(p)
	require.NoError(t, err)
	require.Greater(t, len(files), 2)
	ids := map[string]bool{}
	for _, f := range files {
		for _, e := range events(t, f) {
			if e.Kind == Invocation {
				require.False(t, ids[e.ToolUseID+e.EventID])
				ids[e.ToolUseID+e.EventID] = true
			}
		}
	}
	require.Len(t, ids, 321)
}

// fortyProcesses has n processes record m events each, and returns how long each
// Record took, sorted.
func fortyProcesses(t *testing.T, path string, n, m int) []time.Duration {
	t.Helper()
	cmds := make([]*exec.Cmd, n)
	outs := make([]bytes.Buffer, n)
	errs := make([]bytes.Buffer, n)
	for i := range cmds {
		cmds[i] = childCmd(t, path, "record "+strconv.Itoa(m))
		cmds[i].Stdout, cmds[i].Stderr = &outs[i], &errs[i]
		require.NoError(t, cmds[i].Start())
	}
	var took []time.Duration
	for i := range cmds {
		require.NoError(t, cmds[i].Wait(), errs[i].String())
		for word := range strings.FieldsSeq(outs[i].String()) {
			us, err := strconv.Atoi(word)
			require.NoError(t, err)
			took = append(took, time.Duration(us)*time.Microsecond)
		}
	}
	slices.Sort(took)
	return took
}

// TestKilledAtAnyMoment kills writers at random moments. What they have been
// told is on disk must be there, no line may be wrong, and the next event
// must be whole.
func TestKilledAtAnyMoment(t *testing.T) {
	p := filepath.Join(t.TempDir(), "audit.jsonl")
	told := map[string]bool{}
	for round := range 20 {
		cmds := make([]*exec.Cmd, 3)
		outs := make([]telling, 3)
		works := make(chan struct{}, len(cmds))
		for i := range cmds {
			cmds[i] = childCmd(t, p, "forever")
			outs[i].works = works
			cmds[i].Stdout = &outs[i]
			require.NoError(t, cmds[i].Start())
		}
		<-works
		time.Sleep(rand.N(40 * time.Millisecond)) // the random moment
		for i := range cmds {
			require.NoError(t, cmds[i].Process.Kill())
		}
		for i := range cmds {
			_ = cmds[i].Wait()
			s := bufio.NewScanner(&outs[i].said)
			for s.Scan() {
				told[s.Text()] = true
			}
		}
		e := someEvent("after")
		require.NoError(t, newLog(t, Options{Path: p}).Record(t.Context(), e), "round %d", round)
	}
	require.NotEmpty(t, told)
	for _, e := range events(t, p) {
		delete(told, e.ToolUseID)
	}
	require.Empty(t, told, "told to be on disk, and lost")
	require.Empty(t, verify(t, p))
}

// telling is the output of a writer. Its first line goes to works as well.
type telling struct {
	said  bytes.Buffer // not embedded: its ReadFrom would go past Write
	works chan<- struct{}
}

func (o *telling) Write(p []byte) (int, error) {
	if o.said.Len() == 0 {
		o.works <- struct{}{}
	}
	return o.said.Write(p)
}

func TestOneKeyForManyProcesses(t *testing.T) {
	p := filepath.Join(t.TempDir(), "d", "audit.jsonl")
	cmds := make([]*exec.Cmd, 12)
	outs := make([]bytes.Buffer, len(cmds))
	for i := range cmds {
		cmds[i] = childCmd(t, p, "key")
		cmds[i].Stdout = &outs[i]
		require.NoError(t, cmds[i].Start())
	}
	for i := range cmds {
		require.NoError(t, cmds[i].Wait())
		require.Equal(t, outs[0].String(), outs[i].String())
	}
	require.Regexp(t, `^[0-9a-f]{64} <nil>`, outs[0].String())
	names, err := os.ReadDir(filepath.Dir(p))
	require.NoError(t, err)
	require.Len(t, names, 1)
}
