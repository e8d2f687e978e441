package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

const full = `{
"guard":{"scope":["mcp__*"],"unlisted":"ask","unattended":"deny","budget":"150s","provider":"zerto","rules":[
  {"tools":["a*"],"class":"readOnly","message":"m"},
  {"tools":["b"],"class":"mutating","when":{"path":"p","matches":"^x","equals":"y","exists":true},"vm":{"path":"q","kind":"name","match":"(x)","alias":{"1":"a","2":["b"]},"sitePath":"s"}},
  {"tools":["c"],"class":"creates","vm":[{"fixed":["z"]}]}]},
"read_only_tools":["r"],"mutating_tools":{"m":{"vm_arg":"n"}},
"exec":{"command":["c","d"],"env":["E"],"timeout":"60s"},
"zerto":{"url":"https://z","auth":{"method":"password","clientId":"i","clientSecretFile":"f","clientSecretEnv":"E","username":"u","passwordFile":"p","passwordEnv":"P","sessionMethod":1},"tls":{"caFile":"c","insecureSkipVerify":false},"tagPrefix":"t","requestTimeout":"20s","stateFile":"s"},
"audit":{"log":"l","onFailure":"block","lockTimeout":"3s","rotateBytes":100,"keepFiles":2,"keyFile":"k"},
"hook":{"stdinTimeout":"3s","stdinGrace":"50ms","deadline":"160s","maxInputBytes":4096},
"observe":{"transcript":true,"budget":"200ms","maxBytes":10},
"nats":{"url":"u","stream":"S","subject":"a.b","inlineBudget":"50ms","credsFile":"c","nkeyFile":"n","tokenFile":"t","user":"u","passwordFile":"p","tls":{"caFile":"a","certFile":"b","keyFile":"c"},"cursorFile":"f"},
"serve":{"listen":"l","socket":"s","tokenFile":"t","metrics":"m"}}`

// TestPlainAdmitsOnlyWhatTheSchemaAdmits mutates every place of a full
// configuration in many ways. The short way must never say yes where the schema
// says no, and must say yes to the ordinary.
func TestPlainAdmitsOnlyWhatTheSchemaAdmits(t *testing.T) {
	var v any
	require.NoError(t, json.Unmarshal([]byte(full), &v))
	short, total := 0, 0
	check := func(mutant any) {
		text, err := json.Marshal(mutant)
		require.NoError(t, err)
		decoded, err := event.Decode(text, 64)
		require.NoError(t, err)
		total++
		if _, ok := plain(text, decoded); ok {
			short++
			require.Empty(t, schema.Validate("config", decoded), "%s", text)
		}
	}
	others := []any{nil, true, "", "x", "5", "5s", "+5s", "1.5h", -1.0, 0.0, 1.0, 1.5, 1e12, []any{}, []any{"x"}, []any{1.0}, map[string]any{}, map[string]any{"x": "y"}}
	var walk func(at any, put func(any))
	walk = func(at any, put func(any)) {
		for _, o := range others {
			put(o)
			check(v)
		}
		put(at)
		switch at := at.(type) {
		case map[string]any:
			at["unknownKey"] = "x"
			check(v)
			delete(at, "unknownKey")
			for _, name := range slices.Sorted(maps.Keys(at)) {
				old := at[name]
				delete(at, name)
				check(v)
				walk(old, func(x any) { at[name] = x })
				at[name] = old
			}
		case []any:
			for i := range at {
				old := at[i]
				walk(old, func(x any) { at[i] = x })
				at[i] = old
			}
		}
	}
	// Once with what the short way leaves to the schema, and once without it.
	check(v)
	walk(v, func(x any) {
		if m, ok := x.(map[string]any); ok {
			v = m
		}
	})
	m := v.(map[string]any)
	nats, zerto := m["nats"].(map[string]any), m["zerto"].(map[string]any)
	delete(nats, "stream")
	delete(nats, "subject")
	delete(zerto, "tagPrefix")
	delete(zerto["auth"].(map[string]any), "sessionMethod")
	check(v)
	require.Equal(t, 1, short, "the ordinary configuration takes the short way")
	walk(v, func(x any) {
		if m, ok := x.(map[string]any); ok {
			v = m
		}
	})
	require.Greater(t, total, 2000)
	require.Greater(t, short, 100)
}

func TestBothWaysGiveTheSame(t *testing.T) {
	in := bytes.ReplaceAll([]byte(full), []byte(`"stream":"S","subject":"a.b",`), nil)
	in = bytes.ReplaceAll(in, []byte(`,"sessionMethod":1`), nil)
	in = bytes.ReplaceAll(in, []byte(`"tagPrefix":"t",`), nil)
	v, err := event.Decode(in, 64)
	require.NoError(t, err)
	a, ok := plain(in, v)
	require.True(t, ok)
	b, err := judged(in, v)
	require.NoError(t, err)
	require.Equal(t, b, a)
}
