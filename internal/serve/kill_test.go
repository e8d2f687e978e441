package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
	"hooktrail/internal/ship"
)

// The test binary is also the server that is killed.
func TestMain(m *testing.M) {
	path := os.Getenv("HOOKTRAIL_TEST_SERVE")
	if path == "" {
		os.Exit(m.Run())
	}
	log, err := audit.New(audit.Options{Path: path, Product: "hooktrail/test", Now: time.Now})
	if err != nil {
		panic(err)
	}
	s, err := New(Options{Handler: flow(NewGroupLog(log, 0)), Token: testToken, Listen: "127.0.0.1:0", Now: time.Now})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Addrs()[0])
	_ = s.Run(context.Background())
}

// kill -9 at a random moment under 8 clients: each answer that came is of an
// event in the log, once, and the log is sound.
func TestServeKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	answered := map[string]bool{}
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "HOOKTRAIL_TEST_SERVE="+path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		addr, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		url := "http://" + strings.TrimSpace(addr) + "/hook"
		var mu sync.Mutex
		var wg sync.WaitGroup
		for c := range 8 {
			wg.Go(func() {
				client := &http.Client{Timeout: 10 * time.Second}
				for i := 0; ; i++ {
					req, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(fmt.Sprintf("toolu_%d_%d", c, i)))
					req.Header.Set("Authorization", "Bearer "+testToken)
					resp, err := client.Do(req)
					if err != nil {
						return // killed
					}
					b, err := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if err == nil && len(b) == 36 {
						mu.Lock()
						answered[string(b)] = true
						mu.Unlock()
					}
				}
			})
		}
		time.Sleep(time.Duration(50+rand.IntN(200)) * time.Millisecond) // the moment is what is tried
		require.NoError(t, cmd.Process.Kill())
		wg.Wait()
		_ = cmd.Wait()
	}
	stored := map[string]int{}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // a test
	require.NoError(t, audit.Scan(f, func(l audit.Line) error {
		if m, ok := ship.ParseMeta(l.Bytes); ok {
			stored[m.EventID]++
		}
		return nil
	}))
	require.NotEmpty(t, answered)
	for id := range answered {
		require.Equal(t, 1, stored[id], id)
	}
	report, err := audit.Verify(context.Background(), path)
	require.NoError(t, err)
	require.True(t, report.Sound(), "%v", report.Findings)
}
