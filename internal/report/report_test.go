package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// month writes n events of several hosts with seeded faults: failing hooks,
// retries, calls that ran though they were stopped, numbers that are missing or
// stand twice, a changed configuration.
func month(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	seq := map[string]int{}
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		host := pick("ws-1", "ws-2", "ci-1")
		seq[host]++
		if r.IntN(500) == 0 {
			seq[host] += 1 + r.IntN(3) // lost
		}
		if r.IntN(700) == 0 && seq[host] > 1 {
			seq[host]-- // doubled
		}
		at := start.Add(time.Duration(i) * (30 * 24 * time.Hour / time.Duration(n)))
		e := map[string]any{
			"time": at.Format("2006-01-02T15:04:05.000000000Z"), "eventId": fmt.Sprintf("01a22f2b-0000-7000-8000-%012d", i), "seq": seq[host],
			"schemaVersion": 1, "product": pick("hooktrail/0.1.0", "hooktrail/0.2.0"), "host": host, "user": pick("alice", "bob", "ci"),
			"kind": "invocation", "sessionId": fmt.Sprintf("s%d", r.IntN(40)), "toolUseId": fmt.Sprintf("toolu_%d", i/2), "hookEvent": "PreToolUse",
			"permissionMode": pick("default", "bypassPermissions"), "tool": pick("Bash", "Read", "mcp__vsphere__stop"), "configSha256": pick("aa", "bb"),
			"layer": "guard", "decision": "allowed", "reason": "guard_read_only", "message": "with \"quotes\", a \\ and a tab\t", "hookName": pick("pre.sh", "secrets.py", "hooktrail"),
			"gate": "allow", "exitCode": 0, "timedOut": false, "durationMs": r.IntN(9000), "deadlineMs": 9000,
		}
		switch x := r.IntN(100); {
		case x < 10:
			late := r.IntN(2) == 0
			e["layer"], e["decision"], e["reason"], e["timedOut"], e["gate"] = "failure", "blocked", "hook_callback_failed", late, "block"
			e["exitCode"] = []int{1, 2, 126, 127, 137}[r.IntN(5)]
			if late {
				e["gate"] = "timeout_block"
			}
		case x < 15:
			e["layer"], e["reason"], e["gate"], e["exitCode"] = "failure", "hook_failed_open", "not_block_mode", 1
			e["timedOut"] = r.IntN(2) == 0
		case x < 20:
			e["kind"], e["layer"], e["decision"], e["reason"] = "permission", "permission", "denied", pick("permission_rule", "permission_user")
		case x < 22:
			e["layer"], e["decision"], e["reason"], e["gate"] = "schema", "blocked", "schema_invalid", "schema"
		case x < 50:
			e["hookEvent"], e["layer"], e["decision"], e["reason"] = "PostToolUse", "none", "none", "observed"
		case x < 51:
			e["hookEvent"], e["layer"], e["decision"], e["reason"] = "SessionEnd", "none", "none", "observed"
		case x < 52:
			e["kind"], e["action"], e["layer"], e["decision"], e["reason"] = "log", "rotated", "none", "none", "observed"
		}
		if e["tool"] == "Bash" {
			e["command"] = pick("ls", "cat .env", "npm test", "terraform plan")
		} else {
			e["target"] = pick("/home/x/main.go", "/home/x/.ssh/id_ed25519", "app01")
		}
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

type ref map[string]any

func (e ref) s(name string) string {
	switch v := e[name].(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return fmt.Sprintf("%d", int64(v))
	default:
		return fmt.Sprint(v)
	}
}

func decodeAll(t *testing.T, log []byte) []ref {
	t.Helper()
	var all []ref
	for _, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
		var e ref
		require.NoError(t, json.Unmarshal(line, &e))
		all = append(all, e)
	}
	return all
}

func run(t *testing.T, log []byte, name, arg string) []Section {
	t.Helper()
	r, err := New(name, arg, nil)
	require.NoError(t, err)
	totals, err := Each(context.Background(), bytes.NewReader(log), []string{"-"}, time.Time{}, r.Add)
	require.NoError(t, err)
	require.Zero(t, totals.Broken)
	return r.Sections()
}

func lines(s Section) []string {
	out := make([]string, 0, len(s.Rows))
	for _, r := range s.Rows {
		out = append(out, strings.Join(r, " | "))
	}
	sort.Strings(out)
	return out
}

// counts is the independent way: count by a key.
func counts(all []ref, keep func(ref) bool, by ...string) []string {
	n := map[string]int{}
	for _, e := range all {
		if keep(e) {
			var k []string
			for _, f := range by {
				if f == "hour" {
					k = append(k, e.s("time")[:13])
				} else {
					k = append(k, e.s(f))
				}
			}
			n[strings.Join(k, " | ")]++
		}
	}
	var out []string
	for k, v := range n {
		out = append(out, fmt.Sprintf("%d | %s", v, k))
	}
	sort.Strings(out)
	return out
}

func stoppedRef(e ref) bool { return e.s("decision") == "blocked" || e.s("decision") == "denied" }

// firstColumns cuts the columns of distinct counts off.
func firstColumns(rows []string, n int) []string {
	var out []string
	for _, r := range rows {
		out = append(out, strings.Join(strings.Split(r, " | ")[:n], " | "))
	}
	sort.Strings(out)
	return out
}

// TestReportsAgainstAnIndependentCount sets each report against a plain count
// over fully decoded events.
//
// HOOKTRAIL_REPORT_EVENTS=1000000 takes a whole month's worth.
func TestReportsAgainstAnIndependentCount(t *testing.T) {
	size := 20_000
	if s := os.Getenv("HOOKTRAIL_REPORT_EVENTS"); s != "" {
		var err error
		size, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	log := month(size)
	all := decodeAll(t, log)
	is := func(field, value string) func(ref) bool { return func(e ref) bool { return e.s(field) == value } }

	require.Equal(t, counts(all, is("reason", "hook_callback_failed"), "hookName"), firstColumns(lines(run(t, log, "hook-failures", "")[0]), 2))
	require.Equal(t, counts(all, stoppedRef, "layer", "reason"), lines(run(t, log, "blocks-by-cause", "")[0]))
	require.Equal(t, counts(all, is("reason", "hook_failed_open"), "hookName", "exitCode", "timedOut"), firstColumns(lines(run(t, log, "fail-open", "")[0]), 4))
	require.Equal(t, counts(all, func(e ref) bool { return e["exitCode"] != nil }, "hookName", "exitCode"), lines(run(t, log, "exit-codes", "")[0]))
	require.Equal(t, counts(all, func(e ref) bool { return e.s("timedOut") == "true" }, "hour", "hookName", "gate"), lines(run(t, log, "timeouts", "")[0]))
	target, command := regexp.MustCompile(`(^|/)(\.env|\.ssh/|\.aws/|id_[a-z0-9]+$)`), regexp.MustCompile(`\.env|\.ssh/|AWS_SECRET`)
	require.Equal(t, counts(all, func(e ref) bool { return target.MatchString(e.s("target")) || command.MatchString(e.s("command")) }, "tool", "decision", "reason"), lines(run(t, log, "sensitive", "")[0]))
	require.Equal(t, counts(all, func(e ref) bool {
		return e.s("permissionMode") == "bypassPermissions" && e.s("hookEvent") == "PreToolUse" && (e.s("decision") == "none" || e.s("decision") == "allowed")
	}, "user", "host", "tool"), lines(run(t, log, "bypass-and-first-seen", "")[0]))

	// p95 of each hook.
	took := map[string][]int{}
	for _, e := range all {
		took[e.s("hookName")] = append(took[e.s("hookName")], int(e["durationMs"].(float64)))
	}
	for _, row := range run(t, log, "timeouts", "")[1].Rows {
		d := took[row[0]]
		sort.Ints(d)
		require.Equal(t, fmt.Sprint(d[len(d)*95/100]), row[2], row[0])
	}

	// Stopped, and yet ran.
	stopped, ran := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		stopped[e.s("toolUseId")] = stopped[e.s("toolUseId")] || stoppedRef(e)
		ran[e.s("toolUseId")] = ran[e.s("toolUseId")] || e.s("kind") == "invocation" && e.s("hookEvent") == "PostToolUse"
	}
	var both []string
	for id := range stopped {
		if stopped[id] && ran[id] {
			both = append(both, id)
		}
	}
	sort.Strings(both)
	require.NotEmpty(t, both)
	require.Equal(t, both, firstColumns(lines(run(t, log, "call", "")[0]), 1))

	// Retries, call by call.
	type command3 struct{ session, tool, command string }
	order, state := map[command3][]string{}, map[string]bool{}
	for _, e := range all {
		if e.s("hookEvent") != "PreToolUse" || e.s("command") == "" {
			continue
		}
		k, id := command3{e.s("sessionId"), e.s("tool"), e.s("command")}, e.s("toolUseId")
		at := fmt.Sprint(k, id)
		if _, known := state[at]; !known {
			order[k] = append(order[k], at)
		}
		state[at] = state[at] || stoppedRef(e)
	}
	var retried []string
	for k, ids := range order {
		n := 0
		for _, id := range ids {
			if state[id] {
				n++
			}
		}
		if n >= 3 && !state[ids[len(ids)-1]] {
			retried = append(retried, fmt.Sprintf("%s | %s | %s | %d", k.session, k.tool, k.command, n))
		}
	}
	sort.Strings(retried)
	require.NotEmpty(t, retried)
	require.Equal(t, retried, lines(run(t, log, "retries", "")[0]))

	// Gaps and doubles.
	numbers := map[string][]int{}
	for _, e := range all {
		numbers[e.s("host")] = append(numbers[e.s("host")], int(e["seq"].(float64)))
	}
	for _, row := range run(t, log, "integrity", "")[0].Rows {
		n := numbers[row[0]]
		total := len(n)
		sort.Ints(n)
		n = slices.Compact(n)
		require.Equal(t, []string{fmt.Sprint(total), fmt.Sprint(n[0]), fmt.Sprint(n[len(n)-1]), fmt.Sprint(n[len(n)-1] - n[0] + 1 - len(n)), fmt.Sprint(total - len(n))}, row[1:])
	}

	// Sessions whose last invocation is not their end.
	open := map[string]bool{}
	for _, e := range all {
		if e.s("kind") == "invocation" {
			open[e.s("sessionId")] = e.s("hookEvent") != "SessionEnd"
		}
	}
	n := 0
	for _, o := range open {
		if o {
			n++
		}
	}
	require.Len(t, run(t, log, "health", "")[1].Rows, n)

	// First and last.
	for _, row := range run(t, log, "silent-hosts", "")[0].Rows {
		var first, last string
		for _, e := range all {
			if e.s("host") == row[0] {
				first, last = cmp.Or(first, e.s("time")), e.s("time")
			}
		}
		require.Equal(t, []string{first, last}, row[1:3])
	}
	// A list is bounded, and says what it leaves out.
	session, want := run(t, log, "session", "s1")[0], len(counts(all, is("sessionId", "s1"), "eventId"))
	require.Len(t, session.Rows, min(want, maxListed))
	if want > maxListed {
		require.Contains(t, session.Title, fmt.Sprintf("(%d more are left out)", want-maxListed))
	}
	require.NotEmpty(t, run(t, log, "drift", "")[1].Rows)
	require.NotEmpty(t, run(t, log, "block-rate", "")[0].Rows)
	require.NotEmpty(t, run(t, log, "", "")[0].Rows)
}

func TestSinceLeavesOutWhatIsOlder(t *testing.T) {
	log := month(1000)
	var n int
	totals, err := Each(context.Background(), bytes.NewReader(log), []string{"-"}, time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), func(*Row) { n++ })
	require.NoError(t, err)
	require.Equal(t, 500, n)
	require.EqualValues(t, 500, totals.Events)
}

func TestWhatIsNoEventIsCounted(t *testing.T) {
	in := "not json\n{\"half\n\n[1]\n" + string(month(3)) + "{\"kind\":\"invocation\""
	var n int
	totals, err := Each(context.Background(), strings.NewReader(in), []string{"-"}, time.Time{}, func(*Row) { n++ })
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.GreaterOrEqual(t, totals.Broken, int64(3))
}

// TestTotalsOfLinesInAnyOrder: a stream has the lines of many hosts.
func TestTotalsOfLinesInAnyOrder(t *testing.T) {
	lines := bytes.SplitAfter(month(3), []byte("\n"))
	in := slices.Concat(lines[1], lines[2], lines[0])
	totals, err := Each(context.Background(), bytes.NewReader(in), []string{"-"}, time.Time{}, func(*Row) {})
	require.NoError(t, err)
	sorted, err := Each(context.Background(), bytes.NewReader(month(3)), []string{"-"}, time.Time{}, func(*Row) {})
	require.NoError(t, err)
	require.Less(t, sorted.First, sorted.Last)
	require.Equal(t, sorted, totals)
}

func TestNewSaysWhatThereIs(t *testing.T) {
	_, err := New("nonsense", "", nil)
	require.ErrorContains(t, err, "blocks-by-cause")
	_, err = New("session", "", nil)
	require.ErrorContains(t, err, "SESSION_ID")
	_, err = New("hook-failures", "x", nil)
	require.ErrorContains(t, err, "no argument")
	_, err = New("hook-failures", "", []string{"colour"})
	require.ErrorContains(t, err, "colour")
	_, err = New("integrity", "", []string{"host"})
	require.ErrorContains(t, err, "grouped")
	_, err = New("hook-failures", "", []string{"host", "day"})
	require.NoError(t, err)
}

func TestStory(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample-audit.jsonl")
	require.NoError(t, err)
	s := NewStory("toolu_0265")
	_, err = Each(context.Background(), bytes.NewReader(sample), []string{"-"}, time.Time{}, s.Add)
	require.NoError(t, err)
	require.Len(t, s.Steps, 2)
	require.True(t, s.Ran())
	require.True(t, s.Findings()[0].Severe)
	require.Contains(t, s.Conclusion(), "hook_callback_failed")

	guardThenRule := NewStory("a")
	guardThenRule.Add(&Row{ToolUseID: "a", Kind: "invocation", HookEvent: "PreToolUse", Layer: "guard", Decision: "allowed", Reason: "guard_read_only"})
	guardThenRule.Add(&Row{ToolUseID: "a", Kind: "permission", Layer: "permission", Decision: "denied", Reason: "permission_rule"})
	guardThenRule.Add(&Row{ToolUseID: "b", Kind: "permission", Layer: "permission", Decision: "denied", Reason: "permission_rule"})
	require.Len(t, guardThenRule.Steps, 2)
	require.Equal(t, "It did not run: stopped by the host's permissions (permission_rule).", guardThenRule.Conclusion())
	require.Equal(t, []Finding{{false, "let through by the guard (guard_read_only), then denied by the host's permissions (permission_rule)"}}, guardThenRule.Findings())
}

// TestFindings: what contradicts itself in a story, and what does not.
func TestFindings(t *testing.T) {
	lost := Row{Kind: "callback", HookEvent: "PreToolUse", HookName: "theirs.sh", Layer: "failure", Decision: "allowed", Reason: "hook_failed_open", Message: "A PreToolUse hook failed, and the host went on. The host took its deny for plain text, because its output is not one JSON object."}
	open := Row{Kind: "callback", HookEvent: "PreToolUse", HookName: "theirs.sh", Layer: "failure", Decision: "allowed", Reason: "hook_failed_open", Message: "A PreToolUse hook failed, and the host went on."}
	let := Row{Kind: "callback", HookEvent: "PreToolUse", HookName: "yes.sh", Layer: "hook", Decision: "allowed", Reason: "hook_allowed"}
	no := Row{Kind: "callback", HookEvent: "PreToolUse", HookName: "no.sh", Layer: "hook", Decision: "blocked", Reason: "hook_denied"}
	guard := Row{Kind: "invocation", HookEvent: "PreToolUse", HookName: "hooktrail", Layer: "guard", Decision: "allowed", Reason: "guard_read_only"}
	rule := Row{Kind: "permission", Layer: "permission", Decision: "denied", Reason: "permission_rule"}
	late := Row{Kind: "callback", HookEvent: "PostToolUse", HookName: "lint.sh", Layer: "failure", Decision: "blocked", Reason: "hook_callback_failed", Gate: "block"}
	ran := Row{Kind: "invocation", HookEvent: "PostToolUse", Layer: "none", Decision: "none", Reason: "observed"}
	for _, tt := range []struct {
		name string
		rows []Row
		want []Finding
	}{
		{"a deny was lost", []Row{lost, ran}, []Finding{{true, "a deny was lost: the host did not take the answer of the hook theirs.sh"}}},
		{"failed open", []Row{open, ran}, []Finding{{false, "the hook theirs.sh failed and the host went on: its word was missing"}}},
		{"two hooks, one overridden", []Row{let, no}, []Finding{{false, "let through by the hook yes.sh (hook_allowed), overridden by the hook no.sh (hook_denied)"}}},
		{"the guard and a hook", []Row{guard, no}, []Finding{{false, "let through by the guard (guard_read_only), overridden by the hook no.sh (hook_denied)"}}},
		{"the guard and a rule", []Row{guard, let, rule}, []Finding{{false, "let through by the guard (guard_read_only); the hook yes.sh (hook_allowed), then denied by the host's permissions (permission_rule)"}}},
		{"blocked, and yet it ran", []Row{no, ran}, []Finding{{true, "the call was stopped by the hook no.sh (hook_denied) and executed all the same"}}},
		{"a block after the tool has run", []Row{guard, ran, late}, nil},
		{"let through", []Row{guard, let, ran}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := NewStory("a")
			for _, r := range tt.rows {
				r.ToolUseID = "a"
				s.Add(&r)
			}
			require.Equal(t, tt.want, s.Findings())
		})
	}
}

// TestReportsDoNotKeepTheLog: what a report holds in the end is a fraction of
// what it has read.
func TestReportsDoNotKeepTheLog(t *testing.T) {
	log := month(40000)
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, info := range append([]Info{{}}, Reports()...) {
		arg := ""
		if info.Arg != "" && info.Arg[0] != '?' {
			arg = "s1"
		}
		r, err := New(info.Name, arg, nil)
		require.NoError(t, err)
		before := held()
		_, err = Each(context.Background(), bytes.NewReader(log), []string{"-"}, time.Time{}, r.Add)
		require.NoError(t, err)
		require.Less(t, held()-before, int64(len(log)/10), cmp.Or(info.Name, "overview"))
		runtime.KeepAlive(r)
	}
}

// BenchmarkReports reads a month of 1,000,000 events; see docs/queries.md.
func BenchmarkReports(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	require.NoError(b, os.WriteFile(path, month(1_000_000), 0o600))
	st, err := os.Stat(path)
	require.NoError(b, err)
	size := st.Size()
	for _, info := range append([]Info{{}}, Reports()...) {
		arg := ""
		if info.Arg != "" && info.Arg[0] != '?' {
			arg = "s1"
		}
		b.Run(cmp.Or(info.Name, "overview"), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for range b.N {
				r, err := New(info.Name, arg, nil)
				require.NoError(b, err)
				_, err = Each(context.Background(), nil, []string{path}, time.Time{}, r.Add)
				require.NoError(b, err)
				r.Sections()
			}
		})
	}
}
