//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test program stand in for an MCP server, and for a spy.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "spy" {
		os.Exit(spy(os.Args[2], os.Args[3], os.Args[4:]))
	}
	if os.Getenv("E2E_MCP_SERVER") == "1" {
		serveMCP()
		return
	}
	os.Exit(m.Run())
}

// serveMCP is a server on standard input and output with a tool that changes a
// machine and one that only looks. Both write down that they ran.
func serveMCP() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
				Name            string `json:"name"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		var result any
		switch m.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "vsphere", "version": "1"}}
		case "tools/list":
			vm := map[string]any{"type": "object", "properties": map[string]any{"vm_name": map[string]any{"type": "string"}}}
			result = map[string]any{"tools": []any{
				map[string]any{"name": "vm_power_off", "description": "Power a machine off", "inputSchema": vm},
				map[string]any{"name": "vm_list", "description": "List machines", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{}}},
			}}
		case "tools/call":
			_ = os.WriteFile("mcp-"+m.Params.Name, nil, 0o600)
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "done " + m.Params.Name}}}
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
			continue
		}
		b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		fmt.Printf("%s\n", b)
	}
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hooktrail-e2e-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "hooktrail")
	cmd := exec.Command("go", "build", "-o", bin, "hooktrail/cmd/hooktrail")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

func product(t *testing.T) string {
	t.Helper()
	client(t)
	bin, err := build()
	require.NoError(t, err)
	return bin
}

// A guarded is what an installation consists of in these tests.
type guarded struct {
	settings string // the user's settings, our entries in them
	config   string
	state    string // the state folder, with the log and the record
	home     string // of the installation, not of the session
}

// install installs the product into a home of its own, as a user would, and
// returns what it wrote. The session gets the same files at the same places.
func install(t *testing.T, config string, args ...string) (session, guarded) {
	t.Helper()
	bin := product(t)
	g := guarded{home: t.TempDir()}
	g.config = filepath.Join(g.home, "hooktrail.json")
	g.state = filepath.Join(g.home, "audit.jsonl")
	text := strings.Replace(config, "@LOG@", g.state, 1)
	require.NoError(t, os.WriteFile(g.config, []byte(text), 0o600))
	file := filepath.Join(g.home, "settings.json")
	cmd := exec.Command(bin, append([]string{"install", "--file", file, "--guard", g.config}, args...)...)
	cmd.Env = []string{"HOME=" + g.home, "PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	g.settings = string(b)
	return session{User: g.settings, Args: bypass}, g
}

// events returns the audited events.
func (g guarded) events(t *testing.T) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(g.state)
	require.NoError(t, err)
	var all []map[string]any
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// decided returns the events of a hook event that the guard judged.
func (g guarded) decided(t *testing.T, hookEvent string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, e := range g.events(t) {
		if e["kind"] == "invocation" && e["hookEvent"] == hookEvent {
			all = append(all, e)
		}
	}
	return all
}

const rules = `{"audit": {"log": "@LOG@"}, "guard": {"unlisted": "allow", "rules": [
  {"tools": ["mcp__vsphere__vm_list"], "class": "readOnly"},
  {"tools": ["mcp__vsphere__vm_power_off"], "class": "deny", "message": "Machines are not powered off here"},
  {"tools": ["Bash"], "class": "deny", "when": {"path": "command", "matches": "forbidden"}, "message": "This command is not allowed"}
]}}`

func mcp(tool string, in map[string]any) turn { return turn{{"mcp__vsphere__" + tool, object(in)}} }

func TestDenyStopsTheCallAndTellsTheModel(t *testing.T) {
	s, g := install(t, rules)
	s.MCP = true
	s.Turns = []turn{bash("touch forbidden"), mcp("vm_power_off", map[string]any{"vm_name": "web-01"}), mcp("vm_list", map[string]any{}), bash("touch ran")}
	r := play(t, s)
	require.False(t, r.made("forbidden"))
	require.False(t, r.made("mcp-vm_power_off"))
	require.True(t, r.made("mcp-vm_list"), "a call that only looks runs")
	require.True(t, r.made("ran"))
	first, ok := r.result(0, 0)
	require.True(t, ok)
	require.True(t, first.Error)
	require.Contains(t, first.Text, "This command is not allowed")
	second, _ := r.result(1, 0)
	require.Contains(t, second.Text, "Machines are not powered off here")
	var reasons []any
	for _, e := range g.decided(t, "PreToolUse") {
		reasons = append(reasons, e["reason"])
	}
	require.Equal(t, []any{"guard_rule_denied", "guard_rule_denied", "guard_read_only", "guard_tool_unlisted"}, reasons)
	require.NotEmpty(t, g.decided(t, "PostToolBatch"), "the observer saw what became of the calls")
}

func TestAskInPrintModeHoldsTheCallBack(t *testing.T) {
	s, g := install(t, strings.Replace(rules, `"unlisted": "allow"`, `"unlisted": "ask"`, 1))
	s.Turns = []turn{bash("touch ran")}
	r := play(t, s)
	require.False(t, r.made("ran"))
	told, _ := r.result(0, 0)
	require.True(t, told.Error)
	require.NotEmpty(t, told.Text)
	e := g.decided(t, "PreToolUse")
	require.Len(t, e, 1)
	require.Contains(t, []any{"guard_tool_unlisted", "guard_unattended"}, e[0]["reason"])
}

func TestABrokenConfigurationBlocks(t *testing.T) {
	s, g := install(t, rules)
	require.NoError(t, os.WriteFile(g.config, []byte(`{"guard": {"rulez": []}}`), 0o600))
	s.Turns = []turn{bash("touch ran")}
	r := play(t, s)
	require.False(t, r.made("ran"))
}

func TestAProgramThatIsGoneBlocks(t *testing.T) {
	s, _ := install(t, rules)
	s.User = strings.Replace(s.User, `/hooktrail",`, `/gone/hooktrail",`, 1)
	s.Turns = []turn{bash("touch ran")}
	r := play(t, s)
	require.False(t, r.made("ran"), "onFailure block holds where exit status 2 cannot")
}

// reword changes a text that is a JSON object.
func reword(t *testing.T, text string, change func(all obj)) string {
	t.Helper()
	var all obj
	require.NoError(t, json.Unmarshal([]byte(text), &all))
	change(all)
	b, err := json.Marshal(all)
	require.NoError(t, err)
	return string(b)
}

// TestDisarmingInMidSession: a session that rewrites the settings does not get
// rid of the guard; each attempt is one event.
func TestDisarmingInMidSession(t *testing.T) {
	for _, tt := range []struct{ name, command string }{
		{"disableAllHooks in the project", `mkdir -p .claude; echo '{"disableAllHooks":true}' > .claude/settings.json; sleep 4`},
		{"a user file that is not JSON", `echo '{' > @HOME@/.claude/settings.json; sleep 4`},
		{"entries taken out", `echo '{"model":"opus"}' > @HOME@/.claude/settings.json; sleep 4`},
		{"onFailure in other case", `sed -i 's/"block"/"Block"/' @HOME@/.claude/settings.json; sleep 4`},
		{"env that reaches into hooks", `mkdir -p .claude; echo '{"env":{"BASH_ENV":"/tmp/x"}}' > .claude/settings.local.json; sleep 4`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, g := install(t, rules)
			// The record names the file of the installation; the session's lies
			// in a home of its own.
			s.Env = []string{"E2E=1"}
			s.Turns = []turn{bash(tt.command), bash("touch forbidden"), bash("touch ran")}
			r := playInstalled(t, s, g)
			require.False(t, r.made("forbidden"), "the guard is still there")
			found := 0
			for _, e := range g.decided(t, "ConfigChange") {
				if e["reason"] == "settings_disarm" {
					require.Equal(t, "blocked", e["decision"])
					found++
				}
			}
			require.GreaterOrEqual(t, found, 1)
			require.Len(t, g.decided(t, "PreToolUse"), 3)
		})
	}
}

// playInstalled plays a session in the home into which the product was
// installed, so that the record fits.
func playInstalled(t *testing.T, s session, g guarded) *run {
	t.Helper()
	s.home = g.home
	require.NoError(t, os.MkdirAll(filepath.Join(g.home, ".claude"), 0o700))
	cmd := exec.Command(product(t), "install", "--guard", g.config)
	cmd.Env = []string{"HOME=" + g.home, "PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.User = ""
	return play(t, s)
}

// TestCheckTellsTheTruthAboutTheInstallation closes the circle: what install
// writes is sound by check, and doctor is content with it.
func TestCheckTellsTheTruthAboutTheInstallation(t *testing.T) {
	bin := product(t)
	_, g := install(t, rules)
	file := filepath.Join(g.home, "settings.json")
	out, err := exec.Command(bin, "check", "--strict", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(bin, "doctor", "--file", file, "--client", "2.1.328")
	cmd.Env = []string{"HOME=" + g.home, "PATH=/usr/bin:/bin"}
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
