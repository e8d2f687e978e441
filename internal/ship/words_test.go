package ship

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func TestToken(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "build-box_7", "build-box_7"},
		{"empty", "", "none"},
		{"a dot makes no token more", "host.example.com", "host%2Eexample%2Ecom"},
		{"wildcards", "*", "%2A"},
		{"the rest of all", ">", "%3E"},
		{"space and newline", "a b\n", "a%20b%0A"},
		{"percent is not taken for an escape", "%41", "%2541"},
		{"emoji", "☃", "%E2%98%83"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, Token(tt.in)) })
	}
	long := Token(strings.Repeat("☃", 4000))
	require.LessOrEqual(t, len(long), 64)
	require.NotEqual(t, long, Token(strings.Repeat("☃", 4001)))
}

func FuzzToken(f *testing.F) {
	f.Add("pre-bash.sh")
	f.Add("* > .")
	f.Fuzz(func(t *testing.T, s string) {
		got := Token(s)
		require.NotEmpty(t, got)
		require.LessOrEqual(t, len(got), maxToken)
		for i := range len(got) {
			require.True(t, plainByte(got[i]) || got[i] == '%', got)
		}
	})
}

func TestServers(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"nats://127.0.0.1:4222", "nats://127.0.0.1:4222"},
		{"box", "nats://box:4222"},
		{" tls://a , b:1 ,", "tls://a:4222 nats://b:1"},
		{"wss://u:p@a/x", "wss://u:p@a/x"},
	} {
		got, err := servers(tt.in)
		require.NoError(t, err, tt.in)
		require.Equal(t, tt.want, strings.Join(got, " "))
	}
	for _, bad := range []string{
		"", ",", "::bad", "http://SECRETx@h", "nats://", "nats://u:SECRETx/y@h:4222", "nats://u:SECRETx%zz@h:4222",
		"nats://h:SECRETx", "nats://u:SECRETx@", "nats://u:SEC RETx@h", "\x00", "nats://[::1", "ftp://x", "file:///etc/SECRETx",
	} {
		_, err := servers(bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "SECRETx")
	}
}

func TestMaskURL(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"dial nats://u:pw@h:4222 failed", "dial nats://***@h:4222 failed"},
		{`parse "nats://u:p@ss/w@h:1": x`, `parse "nats://***@h:1": x`},
		{"nats://h:1,nats://tok@g", "nats://h:1,nats://***@g"},
		{"tls://a@b", "tls://***@b"},
		{"no url, but a@b", "no url, but a@b"},
		{"nats://", "nats://"},
	} {
		require.Equal(t, tt.want, MaskURL(tt.in))
	}
	require.Equal(t, "said ***", mask("said hunter2", []string{"hunter2", "ab"}))
}

func TestShorten(t *testing.T) {
	l := newTestLog(t)
	long := strings.Repeat("ä\\\"\n☃x", 2000)
	line := l.line(`,"command":` + quote(long) + `,"message2":"y","input":{"bytes":1000000,"hmac":"` + strings.Repeat("a", 64) +
		`","truncated":true},"schemaErrors":[{"path":"/a","message":"` + strings.Repeat("m", 400) + `"}],"cwd":"/home/u/` + strings.Repeat("d/", 500) + `"`)
	for limit := 16000; limit > 700; limit -= 97 {
		got, ok := shorten(line, limit)
		require.True(t, ok, limit)
		require.LessOrEqual(t, len(got), limit)
		require.True(t, gjson.ValidBytes(got))
		require.True(t, utf8.Valid(got))
		doc := gjson.ParseBytes(got)
		require.True(t, doc.Get("truncated").Bool())
		for _, core := range []string{"time", "eventId", "seq", "prev", "host", "kind", "layer", "decision", "reason", "toolUseId", "tool"} {
			require.Equal(t, gjson.GetBytes(line, core).Raw, doc.Get(core).Raw, core)
		}
		require.True(t, doc.Get("message").Exists())
	}
	// With room for most of it, most of it is there.
	got, _ := shorten(line, 8000)
	require.Greater(t, len(got), 7000)
	require.EqualValues(t, 1000000, gjson.GetBytes(got, "input.bytes").Int())
	_, ok := shorten(line, 200)
	require.False(t, ok)
	_, ok = shorten([]byte("nonsense"), 200)
	require.False(t, ok)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func FuzzShorten(f *testing.F) {
	f.Add([]byte(`{"eventId":"a","message":"hello world, this is long enough to be cut somewhere in the middle of it"}`), 60)
	f.Fuzz(func(t *testing.T, line []byte, limit int) {
		got, ok := shorten(line, limit)
		if !ok {
			return
		}
		require.LessOrEqual(t, len(got), limit)
		if gjson.ValidBytes(line) {
			require.True(t, gjson.ValidBytes(got), "%s", got)
		}
	})
}
