//go:build unix

package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzRedact puts a token into whatever surroundings: it never survives, a
// second pass changes nothing, and the result stays bounded.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{"", "a", `{"password":"`, "curl -u bob:", "password='", "https://a:b@", "-----BEGIN RSA PRIVATE KEY-----\n", "mysql -p", `\"token\":\"`, "Authorization: Digest a=\"", "[redacted]", "Cookie: "} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		token := "ghp_" + x + x
		for _, in := range []string{before + " " + token + " " + after, before + "\n--password " + x + "\n" + after} {
			out := Redact(in)
			if strings.Contains(in, token) {
				require.NotContains(t, out, token)
			}
			require.Equal(t, out, Redact(out))
			require.LessOrEqual(t, len(out), 12*len(in))
		}
		for _, limit := range []int{0, 30, 100, 5000} {
			out := Text(before+" "+token+" "+after, limit)
			require.LessOrEqual(t, len(out), limit)
			require.NotContains(t, out, token)
			if utf8.ValidString(before) && utf8.ValidString(after) {
				require.True(t, utf8.ValidString(out))
			}
		}
	})
}

// FuzzEncode: whatever an event holds, it is one strict line of the schema.
func FuzzEncode(f *testing.F) {
	f.Add("a", "b", "c", int64(1), 3)
	f.Add("\x00\xff\u2028", "\U000e0001", `"\`, int64(-1), 5000)
	f.Fuzz(func(t *testing.T, a, b, c string, n int64, times int) {
		times = min(max(times, 1), 20000/(1+len(a)))
		e := *someEvent("x")
		fill(&e, b)
		e.Command, e.Message, e.HookName, e.SessionID = strings.Repeat(a, times), b+c, c, a
		e.ExitCode, e.DurationMs = &n, &n
		e.Input.HMAC = ""
		conform(t, lineOf(t, e), 2)
	})
}

// FuzzRecover: on whatever stands in the log and its head, Record fails and
// leaves both as they were, or leaves a log in which the new event is the last
// line, is strict, and follows in the chain.
func FuzzRecover(f *testing.F) {
	dir := f.TempDir()
	l, err := New(Options{Path: filepath.Join(dir, "audit.jsonl"), Host: "h", User: "u"})
	require.NoError(f, err)
	for range 3 {
		require.NoError(f, l.Record(f.Context(), someEvent("x")))
	}
	log, err := os.ReadFile(l.Path())
	require.NoError(f, err)
	head, err := os.ReadFile(l.Path() + ".head")
	require.NoError(f, err)
	f.Add(log, head)
	f.Add(log, []byte{})
	f.Add(log[:len(log)-1], head)
	f.Add(log[:len(log)/2], head)
	f.Add(append(bytes.Clone(log), log...), head)
	f.Add([]byte("hello\n"), []byte{})
	f.Add([]byte("hello\n"), head)
	f.Add([]byte{}, head)
	f.Add(append(bytes.Clone(log), "{\"time\":"...), head)
	f.Add(append(bytes.Clone(log), "\x00\x00\n\n"...), []byte{})
	f.Fuzz(func(t *testing.T, log, head []byte) {
		p := filepath.Join(t.TempDir(), "audit.jsonl")
		require.NoError(t, os.WriteFile(p, log, 0o600))
		if len(head) > 0 {
			require.NoError(t, os.WriteFile(p+".head", head, 0o600))
		}
		l := newLog(t, Options{Path: p})
		e := someEvent("toolu_new")
		err := l.Record(t.Context(), e)
		after, readErr := os.ReadFile(p)
		require.NoError(t, readErr)
		if err != nil {
			require.Equal(t, log, after)
			return
		}
		require.True(t, bytes.HasSuffix(after, []byte("\n")))
		all := bytes.Split(bytes.TrimSuffix(after, []byte("\n")), []byte("\n"))
		last, n := all[len(all)-1], len(all)
		conform(t, last, n)
		require.Contains(t, string(last), "toolu_new")
		at, ok := linePlace(last)
		require.True(t, ok)
		if n > 1 {
			require.Equal(t, lineHash(all[n-2]), e.Prev) // the line before is ours, too
			conform(t, all[n-2], n-1)
		}
		require.Equal(t, e.Seq, at.seq)
		// From here on all goes its way.
		second := someEvent("toolu_second")
		require.NoError(t, l.Record(t.Context(), second))
		require.Equal(t, e.Seq+1, second.Seq)
		require.Equal(t, lineHash(last), second.Prev)
	})
}
