package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty object", `{}`, ""},
		{"the contract's example", `{"guard":{"scope":["mcp__*"],"unlisted":"ask","budget":"150s","rules":[
			{"tools":["mcp__*__vm_list*"],"class":"readOnly"},
			{"tools":["a"],"class":"mutating","vm":{"path":"vm_name","kind":"name"}},
			{"tools":["b"],"class":"mutating","vm":{"path":"vmid","alias":{"101":"app01","102":["x","y"]}}},
			{"tools":["c"],"class":"mutating","vm":[{"path":"a"},{"path":"b"}]},
			{"tools":["d"],"class":"mutating","when":{"path":"cli","matches":"^aws"},"vm":{"path":"cli","match":"(i-[0-9a-f]+)"}}]},
			"zerto":{"url":"https://zvm.example","auth":{"clientId":"zerto-api","clientSecretFile":"s"},"tls":{"caFile":"ca.pem"}}}`, ""},
		{"the older spelling", `{"read_only_tools":["list"],"mutating_tools":{"stop":{"vm_arg":"name"}}}`, ""},
		{"a byte order mark", "\xef\xbb\xbf{}", ""},
		{"an unknown key", `{"gard":{}}`, "gard"},
		{"an unknown key inside", `{"guard":{"unlistd":"ask"}}`, "unlistd"},
		{"a key in another case", `{"Guard":{}}`, "Guard"},
		{"a key twice", `{"guard":{},"guard":{}}`, "twice"},
		{"a wrong word", `{"guard":{"unlisted":"yes"}}`, "/guard/unlisted"},
		{"a wrong duration", `{"guard":{"budget":"150"}}`, "/guard/budget"},
		{"a wrong class", `{"guard":{"rules":[{"tools":["a"],"class":"readonly"}]}}`, "/guard/rules/0/class"},
		{"a comment", "{} // x", "follows"},
		{"empty", "", "empty"},
		{"a list", "[]", "object"},
		{"zerto without url", `{"zerto":{}}`, "url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Parse([]byte(tt.in))
			if tt.want == "" {
				require.NoError(t, err)
				require.Len(t, c.SHA256, 64)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestParseReadsOneOrMany(t *testing.T) {
	c, err := Parse([]byte(`{"guard":{"budget":"1m30s","rules":[{"tools":["b"],"class":"mutating","vm":{"path":"vmid","alias":{"1":"a","2":["b","c"]}}}]}}`))
	require.NoError(t, err)
	require.Equal(t, Duration(90*time.Second), c.Guard.Budget)
	require.Equal(t, VMs{{Path: "vmid", Alias: map[string]Strings{"1": {"a"}, "2": {"b", "c"}}}}, c.Guard.Rules[0].VM)
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "h.json")
	require.NoError(t, os.WriteFile(p, []byte(`{"audit":{"log":"logs/a.jsonl"},"exec":{"command":["./snap","x"]},"zerto":{"url":"https://z","auth":{"clientSecretFile":"/abs"}}}`), 0o600))
	c, err := Load(p)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "logs/a.jsonl"), c.Audit.Log)
	require.Equal(t, filepath.Join(dir, "snap"), c.Exec.Command[0])
	require.Equal(t, "/abs", c.Zerto.Auth.ClientSecretFile)
	require.Equal(t, p, c.Path)

	for _, bad := range []string{filepath.Join(dir, "none.json"), dir} {
		_, err := Load(bad)
		require.ErrorIs(t, err, reason.ConfigInvalid)
		require.ErrorContains(t, err, bad)
	}
}
