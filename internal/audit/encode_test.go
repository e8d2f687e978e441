//go:build unix

package audit

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lineOf returns e as it would stand in a log.
func lineOf(t testing.TB, e Event) []byte {
	t.Helper()
	l, err := New(Options{Path: "x", Host: "h", User: "u", Product: "hooktrail/0"})
	require.NoError(t, err)
	d, err := l.draft(e)
	require.NoError(t, err)
	b := d.seal(nil, 2, strings.Repeat("0f", 32))
	return b[:len(b)-1]
}

// fill sets every text of a struct that is no word of ours.
func fill(e *Event, s string) {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch name {
		case "EventID", "Prev", "Kind", "Layer", "Decision", "Reason", "Action", "Gate", "ConfigSHA256":
			continue
		}
		if v.Field(i).Kind() == reflect.String {
			v.Field(i).SetString(s)
		}
	}
	e.Product = "hooktrail/0"
	e.Checkpoint = &CheckpointInfo{Provider: s, VM: s, VPG: s, Site: s, Platform: s, Tag: s, ID: s, State: "late", Time: time.Unix(0, 0)}
	for range 30 {
		e.SchemaErrors = append(e.SchemaErrors, SchemaError{s, s})
	}
}

func TestEveryFieldHostileStillFits(t *testing.T) {
	for _, unit := range []string{"a", "ä", "\x00", "\u2028", "\U000e0041", "\xff", `"`, `\`, "\n", "a ", "\u202e ", "🚀", "password=x "} {
		for _, n := range []int{1, 100, 5000, 200000} {
			e := *someEvent("x")
			fill(&e, strings.Repeat(unit, n))
			line := lineOf(t, e)
			require.LessOrEqual(t, len(line)+1, MaxLine, "%q", unit)
			conform(t, line, 2)
			got, err := Decode(line)
			require.NoError(t, err)
			require.NotEmpty(t, got.SessionID)
			require.Equal(t, Invocation, got.Kind)
			require.Equal(t, "allow", got.Gate)
			require.Len(t, got.SchemaErrors, 10)
			if n > 5000 {
				require.True(t, got.Truncated, "%q", unit)
				require.True(t, got.Input.Truncated)
				require.Contains(t, got.Command, "…[cut, ")
				require.Contains(t, got.SessionID, "…[cut, ")
			}
		}
	}
}

func TestACommandOf8KBStaysWhole(t *testing.T) {
	e := *someEvent("x")
	e.Command = "echo " + strings.Repeat("x y ", 2000)
	got, err := Decode(lineOf(t, e))
	require.NoError(t, err)
	require.Equal(t, e.Command, got.Command)
	require.False(t, got.Truncated)
}

func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	e := *someEvent("x")
	e.Command = "a\x00b\x1b[31m\u2028\u202e\u200d\U000e0041\"\\\n\tü🚀"
	e.Checkpoint = &CheckpointInfo{Provider: "zerto", VM: "v", VPG: "g", Site: "s", Platform: "p", Tag: "t", ID: "7", State: "late", Time: time.Unix(5, 6).UTC(), CadenceS: 5, WaitedMs: 6}
	e.SchemaErrors = []SchemaError{{"/a", "b"}, {"", "c"}}
	e.PromptID, e.AgentID, e.PermissionMode, e.TranscriptPath = "p", "a", "default", "/t"
	e.MCPServer, e.Target, e.Evidence, e.ConfigSHA256 = "m", "/x", "batch:text", strings.Repeat("ab", 32)
	e.Time = time.Unix(1, 2).UTC()
	line := lineOf(t, e)
	got, err := Decode(line)
	require.NoError(t, err)
	e.EventID, e.Seq, e.Prev = got.EventID, 2, strings.Repeat("0f", 32)
	e.SchemaVersion, e.Product, e.Host, e.User, e.Layer = 1, "hooktrail/0", "h", "u", "guard"
	require.Equal(t, e, got)
	for _, raw := range []string{`a\u0000b\u001b[31m\u2028\u202e\u200d\udb40\udc41\"\\\n\tü🚀`} {
		require.Contains(t, string(line), raw)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(lineOf(t, *someEvent("x")))
	_, err := Decode([]byte(good))
	require.NoError(t, err)
	for name, line := range map[string]string{
		"nothing": "", "null": "null", "a list": "[]", "half": good[:len(good)-5], "two": good + good, "garbage behind": good + "x",
		"a name twice": `{"seq":2,` + good[1:], "seq a string": strings.Replace(good, `"seq":2`, `"seq":"2"`, 1),
		"seq a fraction": strings.Replace(good, `"seq":2`, `"seq":2.5`, 1), "seq negative": strings.Replace(good, `"seq":2`, `"seq":-2`, 1),
		"a bad time": strings.Replace(good, `"time":"2`, `"time":"x`, 1), "no kind": strings.Replace(good, `"kind"`, `"kinD"`, 1),
		"timedOut a string":          strings.Replace(good, `"timedOut":false`, `"timedOut":"false"`, 1),
		"schemaErrors of no objects": `{"schemaErrors":[1],` + good[1:],
	} {
		_, err := Decode([]byte(line))
		require.Error(t, err, name)
	}
	e, err := Decode([]byte(strings.Replace(good, `"kind"`, `"later":{"a":[1]},"kind"`, 1)))
	require.NoError(t, err) // a newer program's field
	require.Equal(t, Invocation, e.Kind)
}

func TestNumbersStayWhereJSONReadsThemExactly(t *testing.T) {
	e := *someEvent("x")
	big, small, late := int64(math.MaxInt64), int64(math.MinInt64), true
	e.ExitCode, e.DurationMs, e.DeadlineMs, e.TimedOut = &small, &small, &big, &late
	e.Input.Bytes = big
	line := lineOf(t, e)
	conform(t, line, 2)
	require.Contains(t, string(line), `"exitCode":-9007199254740992,"timedOut":true,"gate":"allow","durationMs":0,"deadlineMs":9007199254740992`)
}

func TestSecretsOfEveryFreeField(t *testing.T) {
	e := *someEvent("x")
	fill(&e, "ghp_"+x+x)
	line := string(lineOf(t, e))
	for _, id := range []string{"host", "user"} { // of the machine, not of the input
		line = strings.Replace(line, `"`+id+`":"ghp_`+x+x+`"`, "", 1)
	}
	e.Input = nil
	require.NotContains(t, strings.Replace(line, `"hmac":"ghp_`+x+x+`"`, "", 1), x)
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"plain ü 🚀 text":         "plain ü 🚀 text",
		"a\x1b[2Jb":              `a\u001b[2Jb`,
		"a\nb\r\tc":              `a\nb\r\tc`,
		"\x00\x7f\u009b":         `\u0000\u007f\u009b`,
		"\u202e\u2066\u200b":     `\u202e\u2066\u200b`,
		"\u2028\ufeff\U000e0041": `\u2028\ufeff\udb40\udc41`,
		"a\xffb":                 "a\ufffdb",
	} {
		require.Equal(t, want, Printable(in), "%q", in)
	}
}

func BenchmarkEncode(b *testing.B) {
	l, err := New(Options{Path: "x", Host: "h", User: "u"})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.draft(*someEvent("x")); err != nil {
			b.Fatal(err)
		}
	}
}
